"""What a format is given besides the findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keel.core.excuse import block
from keel.core.finding import Finding, Report


@dataclass(frozen=True, slots=True)
class Anchors:
    """Where findings stand that name no file of their own, for formats in which every finding needs one."""

    lock: str = "keel.lock"
    """Path of the lock's index, as paths of findings are given."""
    manifest: str = ""
    config: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Tool key or server to its 1-based line in the lock."""


_HEEDS_SUPPRESSIONS = frozenset({"bundle", "check", "drift"})


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
    prefix: str = ""
    """Where the paths of findings lie in the repository, such as `services/billing`; empty at its top."""
    anchors: Anchors = field(default_factory=Anchors)

    def excuse(self, item: Finding) -> str:
        """Return the entry that would make this command accept a finding; empty where nothing would."""
        return block(item) if self.command in _HEEDS_SUPPRESSIONS else ""
