"""What a format is given besides the findings."""

from __future__ import annotations

from dataclasses import dataclass, field

from keel.core.finding import Report


@dataclass(frozen=True, slots=True)
class Presentation:
    """One run as a format shows it."""

    report: Report
    command: str
    """The command that made the report, such as `check`."""
    looked_at: str = ""
    """What was looked at, such as `3 flows, 14 tools`; part of the last line."""
    lines: tuple[str, ...] = ()
    """What the command itself has to say before the findings, such as `+ git/git_add`."""
    hints: tuple[str, ...] = field(default=())
    """Commands worth running next."""
    verbose: bool = False
    """Whether infos are shown."""
