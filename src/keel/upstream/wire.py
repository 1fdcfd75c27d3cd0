"""The tap of a live session: one broken message costs the call that it answers, not the calls beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import httpx2
from mcp_types import INTERNAL_ERROR

from keel.capture.tap import LISTINGS, Tap
from keel.core.jsontext import Fault, JsonFault
from keel.core.text import escape
from keel.upstream.ticket import Ticket

CALL = "tools/call"
KEPT = frozenset({*LISTINGS, "initialize", "server/discover"})
"""The methods whose answers are kept as sent."""
_FIRST = re.compile(rb'\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,15})\s*,')
_LAST = re.compile(rb'[,{]\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')


class Oversize(httpx2.SSEError, httpx2.StreamError):
    """A body or an event beyond the limit, in the form that the SDK's transport turns into the answer to one call."""


def _unheard() -> None:
    """Hear nothing."""


@dataclass
class LiveTap(Tap):
    """Keeps listings as they were sent, and a ticket for each call under way."""

    changed: Callable[[], None] = _unheard
    """Told whenever the server says that its tools changed."""
    tickets: dict[int, Ticket] = field(default_factory=dict)

    def sent(self, request_id: object, method: str) -> bool:
        """Record that a request is about to leave; returns whether it may."""
        if method != CALL:
            return super().sent(request_id, method)
        ticket = self._ticket(request_id)
        return ticket is not None and ticket.leave()

    def received(self, data: bytes, *, method: str = "") -> dict[str, Any] | None:
        """Read one message; see `Tap.received`."""
        changes = self.changes["tools"]
        message = super().received(data, method=method if method in KEPT else "")
        if self.changes["tools"] != changes:
            self.changed()
        return message

    def keep(self, message: dict[str, Any], faults: tuple[JsonFault, ...], method: str) -> dict[str, Any] | None:
        """Keep a message; an answer to a call that JSON cannot carry faithfully becomes an error."""
        ticket = None if "method" in message else self._ticket(message.get("id"))
        if ticket is None:
            return super().keep(message, faults, method)
        wrong = next((item for item in faults if item.fault is not Fault.LONE_SURROGATE), None)
        if wrong is not None:
            return _error(ticket, f"answered with JSON that cannot be used: {escape(wrong.detail)}")
        ticket.answered = True
        return super().keep(message, faults, "")

    def broken(self, data: bytes, what: str) -> dict[str, Any] | None:
        """Let a message that cannot be read be the answer to its call; only if it names none the wire is given up."""
        found = _FIRST.match(data) or _LAST.search(data)
        ticket = self._ticket(int(found.group(1))) if found else self._only()
        return super().broken(data, what) if ticket is None else _error(ticket, what)

    def growing(self) -> None:
        """Let a line grow; its end says which call it answers, and its middle is not kept."""

    def too_long(self) -> NoReturn:
        """End the reading of one HTTP answer.

        Raises:
            Oversize: always.
        """
        raise Oversize(self.beyond)

    def _ticket(self, request_id: object) -> Ticket | None:
        return self.tickets.get(request_id) if isinstance(request_id, int) else None

    def _only(self) -> Ticket | None:
        """Return the one call under way, if there is exactly one."""
        left = [ticket for ticket in self.tickets.values() if ticket.left]
        return left[0] if len(left) == 1 else None


def _error(ticket: Ticket, what: str) -> dict[str, Any]:
    ticket.trouble = what
    return {"jsonrpc": "2.0", "id": ticket.id, "error": {"code": INTERNAL_ERROR, "message": what}}
