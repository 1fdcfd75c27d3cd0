"""What preflight found: differences from the lock, and servers that could not be asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from keel.core.codes import Severity
from keel.core.finding import Finding, NotChecked
from keel.core.model import Surface
from keel.core.text import excerpt, plural


@dataclass(frozen=True, slots=True)
class ServerCheck:
    """What preflight found about one server."""

    server: str
    findings: tuple[Finding, ...] = ()
    """Everything that `keel drift` would report, whatever its severity."""
    gap: NotChecked | None = None
    """Why the server could not be compared."""
    surface: Surface | None = field(default=None, repr=False)
    """What it offers now, masks applied; None where it was not asked."""
    uncompared: int = 0
    """Frozen tools that its policy leaves uncompared."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What `keel drift` calls an error."""
        return tuple(item for item in self.findings if item.severity is Severity.ERROR)

    @property
    def ok(self) -> bool:
        """Whether calls to the server may be sent."""
        return self.gap is None and not self.errors

    @property
    def why(self) -> str:
        """One clause that says why they may not."""
        if self.gap is not None:
            return f"`{excerpt(self.server)}` could not be compared with the bundle: {self.gap.why}"
        first = f"{self.errors[0].message}" if self.errors else ""
        more = f", and {plural(len(self.errors) - 1, 'more difference')}" if len(self.errors) > 1 else ""
        return f"{first}{more}"


@dataclass(frozen=True, slots=True)
class PreflightReport:
    """What preflight found about all servers that were asked for."""

    checks: tuple[ServerCheck, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether calls to all of them may be sent."""
        return all(check.ok for check in self.checks)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, by server."""
        return tuple(item for check in self.checks for item in check.findings)

    @property
    def not_checked(self) -> tuple[NotChecked, ...]:
        """The servers that could not be compared."""
        return tuple(check.gap for check in self.checks if check.gap is not None)
