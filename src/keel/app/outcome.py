"""What a use case returns, and the exit code that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from keel.core.codes import Severity
from keel.core.finding import Report, Threshold
from keel.errors import ExitCode

if TYPE_CHECKING:
    from keel.store.project import Project

_DOES_NOT_COUNT = frozenset({"attended"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one use case."""

    report: Report = field(default_factory=Report)
    looked_at: str = ""
    """What was looked at, for the last line."""
    lines: tuple[str, ...] = ()
    """What the command itself says on standard output."""
    hints: tuple[str, ...] = ()
    """Commands worth running next."""
    project: Project | None = None
    """The project that paths are relative to; None when they are relative to the working directory."""


def exit_code(report: Report, threshold: Threshold) -> ExitCode:
    """Return the exit code of a report: findings outrank what could not be checked (DESIGN section 3)."""
    worst = {Threshold.ERROR: 0, Threshold.WARNING: 1, Threshold.NEVER: -1}[threshold]
    if any(item.severity.rank <= worst for item in report.findings if item.severity is not Severity.INFO):
        return ExitCode.FINDINGS
    if any(gap.code not in _DOES_NOT_COUNT for gap in report.not_checked):
        return ExitCode.INCOMPLETE
    return ExitCode.OK
