"""Applying suppressions: a person's reason and date for a warning, never a way to switch a gate off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from keel.core.codes import Severity
from keel.core.excuse import accepts
from keel.core.finding import Finding, Location, finding
from keel.manifest.config import Suppression


@dataclass(frozen=True, slots=True)
class Applied:
    """What suppressions left, and what they took away."""

    findings: tuple[Finding, ...]
    suppressed: tuple[tuple[Finding, Suppression], ...] = ()


def apply(
    findings: Iterable[Finding],
    suppressions: Iterable[Suppression],
    *,
    today: date,
    file: str,
    may_be_unused: frozenset[str] = frozenset(),
) -> Applied:
    """Apply suppressions to findings.

    Args:
        findings: what was found.
        suppressions: the entries of the configuration.
        today: the day they are judged by, in UTC.
        file: the configuration, for findings about the entries themselves.
        may_be_unused: codes that this command does not look for, whose entries are no leftovers here.

    Returns:
        The findings that remain, with findings about refused, expired and unused entries added.
    """
    kept = list(findings)
    taken: list[tuple[Finding, Suppression]] = []
    about: list[Finding] = []
    for entry in suppressions:
        at = Location(file=file, line=entry.line, column=entry.column, key=entry.key)
        if not accepts(entry.code):
            message = f"`{entry.code}` accepts no suppression"
            about.append(finding("suppression-refused", message, location=at))
            continue
        matching = [item for item in kept if _matches(entry, item)]
        if entry.until < today:
            message = f"the suppression of `{entry.code}` for `{entry.key}` expired on {entry.until}"
            about.append(finding("suppression-expired", message, location=at))
        elif not matching and entry.code not in may_be_unused:
            changed = any(item.code == entry.code and item.location.key == entry.key for item in kept)
            what = "what it excuses has changed" if changed else "nothing like it is found"
            message = f"the suppression of `{entry.code}` for `{entry.key}` matches nothing: {what}"
            about.append(finding("suppression-unused", message, location=at))
        else:
            kept = [item for item in kept if item not in matching]
            taken.extend((item, entry) for item in matching)
    return Applied((*kept, *about), tuple(taken))


def _matches(entry: Suppression, item: Finding) -> bool:
    if item.code != entry.code or entry.key not in (item.location.key, item.location.file):
        return False
    if item.severity is Severity.ERROR and not entry.digest:
        # An error is excused only for exactly what was looked at.
        return False
    return entry.digest is None or entry.digest == item.digest
