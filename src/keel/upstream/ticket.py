"""One call on its way: its id on the wire, whether its bytes left, whether it was answered, and if not, why."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

import anyio


@dataclass(eq=False)
class Ticket:
    """What is known of one call; wire and session write it, the session judges by it."""

    id: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers that repeat arguments (MCP 2026-07-28, `x-mcp-header`)."""
    left: bool = False
    """Whether its first byte may have left."""
    answered: bool = False
    """Whether the server itself answered, with a result or an error."""
    trouble: str = ""
    """What is wrong with an answer that cannot be used."""
    refused: str = ""
    """Why the server's front door turned it away before anything ran."""
    abandoned: bool = False
    """Whether nobody waits for it any more; it must not leave then."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def leave(self) -> bool:
        """Record that the first byte is about to leave; returns whether it may."""
        if not self.abandoned:
            self.left = True
        return not self.abandoned

    def abandon(self) -> None:
        """Stop waiting; what has not left stays."""
        self.abandoned = True
        self.scope.cancel()


CURRENT: ContextVar[Ticket | None] = ContextVar("keel_ticket", default=None)
"""The call that a task sends, by which the dispatcher below the SDK's session gives it its id."""
