"""The one value that every check yields, and what a whole run reports."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from keel.core.codes import CODES, Gate, Severity
from keel.core.digest import digest
from keel.errors import KeelError

__all__ = ["Finding", "Gate", "InputErrors", "Location", "NotChecked", "PathStep", "Report", "Severity", "finding"]


class Threshold(StrEnum):
    """From which severity on findings make a command fail."""

    ERROR = "error"
    WARNING = "warning"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Location:
    """Where a finding stands; every part that does not apply is empty or zero."""

    file: str = ""
    """Path relative to the project, with forward slashes."""
    line: int = 0
    """1-based; 0 when the finding stands for no line."""
    column: int = 0
    """1-based, counted in characters."""
    key: str = ""
    """Tool key (`server/tool` or a native name), or a server name."""
    pointer: str = ""
    """RFC 6901 pointer into the definition or the document."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """One line of the way through a flow that leads to a finding."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of any check."""

    code: str
    severity: Severity
    gate: Gate
    message: str
    """One sentence; literals in backticks; never holds a secret or raw server text."""
    why: str = ""
    next: str = ""
    location: Location = field(default_factory=Location)
    site: str = ""
    """`flow@file:line:column` when the finding is about one tool call of a flow."""
    path: tuple[PathStep, ...] = ()
    digest: str = ""
    """What a suppression binds to, where one is allowed."""
    edit: str = ""
    """Equal for one edit seen in several tools, which a report for people may then say once."""

    @property
    def sort_key(self) -> tuple[object, ...]:
        """A total order that does not depend on how the findings were produced."""
        at = self.location
        place = (at.file, at.line, at.column, at.key, at.pointer)
        # The digest tells two tools of one name apart, whose findings are otherwise alike.
        return (*place, self.severity.rank, self.code, self.message, self.site, self.digest, self.why, str(self.path))

    def with_severity(self, severity: Severity) -> Finding:
        """Return the same finding at another severity."""
        return replace(self, severity=severity)


def finding(  # noqa: PLR0913 - one keyword for each field of a finding
    code: str,
    message: str,
    *,
    location: Location | None = None,
    next: str = "",  # noqa: A002 - the report's own field name
    why: str = "",
    site: str = "",
    path: tuple[PathStep, ...] = (),
    severity: Severity | None = None,
    digest: str = "",
    edit: str = "",
) -> Finding:
    """Build a finding whose gate, severity, reason and next step default to those documented for its code.

    Raises:
        KeyError: if the code is not in the registry, which is a defect of keel.
    """
    info = CODES[code]
    return Finding(
        code=code,
        severity=severity or info.severity,
        gate=info.gate,
        message=message,
        why=why or info.why,
        next=next or info.next,
        location=location or Location(),
        site=site,
        path=path,
        digest=digest,
        edit=edit,
    )


@dataclass(frozen=True, slots=True)
class NotChecked:
    """Something that could not be looked at: neither changed nor clean."""

    what: str
    """What was not checked: a server, a rule, a file."""
    code: str
    why: str
    next: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one run found, in an order that depends on nothing but the findings."""

    findings: tuple[Finding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()

    @classmethod
    def of(cls, findings: Iterable[Finding], not_checked: Iterable[NotChecked] = ()) -> Report:
        """Sort and de-duplicate findings and gaps into a report."""
        unique = sorted(set(findings), key=lambda item: item.sort_key)
        gaps = sorted(set(not_checked), key=lambda gap: (gap.what, gap.code, gap.why))
        return cls(tuple(unique), tuple(gaps))

    @property
    def digest(self) -> str:
        """Return `k1:<hex>` over what was found, wherever it matters and however bad it is; empty for nothing.

        Lines, flows, severities and what could not be checked do not enter, so the same drift gives the same digest.
        """
        # A definition's differences are bound by their digests; what has none is told by its message.
        found = {
            (item.code, item.location.key, item.location.pointer, item.digest or item.message) for item in self.findings
        }
        return digest(json.dumps(sorted(found))) if found else ""

    def count(self, severity: Severity) -> int:
        """Return how many findings have exactly this severity."""
        return sum(1 for item in self.findings if item.severity is severity)


class InputErrors(KeelError):
    """One or more errors in an input file, all reported at once.

    Args:
        findings: at least one finding; each carries file, line and column or key and pointer.
    """

    code = "input-errors"

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(sorted(findings, key=lambda item: item.sort_key))
        super().__init__("; ".join(item.message for item in self.findings))


def as_bytes(findings: Iterable[Finding]) -> bytes:
    """Return findings as JSON text that `findings_of` reads back unchanged."""
    return json.dumps([asdict(item) for item in findings], ensure_ascii=True).encode()


def findings_of(data: bytes) -> tuple[Finding, ...]:
    """Read findings back from what `as_bytes` gave.

    Raises:
        ValueError, KeyError, TypeError: if it is something else.
    """
    return tuple(_finding_of(held) for held in json.loads(data))


def _finding_of(held: dict[str, Any]) -> Finding:
    return Finding(
        **{
            **held,
            "severity": Severity(held["severity"]),
            "gate": Gate(held["gate"]),
            "location": Location(**held["location"]),
            "path": tuple(PathStep(**step) for step in held["path"]),
        }
    )
