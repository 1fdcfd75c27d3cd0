"""The documentation of a code for report formats, whether a gate or a lint rule gives it."""

from __future__ import annotations

from dataclasses import dataclass

from keel.core.codes import CODES, Severity


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a code, in plain text."""

    summary: str
    why: str
    next: str
    severity: Severity
    tags: tuple[str, ...]


def describe(code: str) -> Description | None:
    """Return the documentation of a code, or None when it is neither in `core.codes` nor a lint rule."""
    info = CODES.get(code)
    if info is not None:
        return Description(info.summary, info.why, info.next, info.severity, (info.gate.value,))
    from keel.rules.registry import BY_ID  # noqa: PLC0415 - the tables of the rules are large

    rule = BY_ID.get(code)
    if rule is None:
        return None
    meta = rule.meta
    return Description(meta.summary, meta.why, meta.next, meta.severity, ("lint", meta.category.value))
