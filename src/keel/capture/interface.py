"""What a capture takes and gives: `Launch` in, `Captured` or `Failure` out."""

from __future__ import annotations

from dataclasses import dataclass

from keel.core.finding import Finding
from keel.core.launch import Failure, Launch
from keel.core.model import Surface

__all__ = ["Captured", "Failure", "Launch"]


@dataclass(frozen=True, slots=True)
class Captured:
    """What one server said of itself."""

    name: str
    surface: Surface
    """As sent: masks are not applied."""
    findings: tuple[Finding, ...] = ()
    pages: int = 0
    """How many pages the tools came on."""
    stderr_tail: str = ""
    """The last lines the process wrote to stderr, secrets masked."""
    seconds: float = 0.0
