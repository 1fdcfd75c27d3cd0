"""One conversation with one server: connect, learn who it is, read its lists, close."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from mcp import Client
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, SERVER_INFO_META_KEY, UNSUPPORTED_PROTOCOL_VERSION, Implementation
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from keel.capture.assemble import FirstReply, assemble, rebase
from keel.capture.gaps import CaptureGap, leaves, translate
from keel.capture.interface import Captured
from keel.capture.listing import Lister, Listing
from keel.capture.phases import Clock, Phase
from keel.capture.remarks import remarks
from keel.capture.tap import Tap
from keel.core.jsontext import escape_token
from keel.core.launch import Launch
from keel.core.redact import Redactor
from keel.core.text import escape

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

CLIENT = Implementation(name="keel", version="1")
"""The one identity under which keel lists and calls, so that a server that looks at it gives the same answers."""

_LISTS = {
    "tools": (("tools", "tools/list"),),
    "prompts": (("prompts", "prompts/list"),),
    "resources": (("resources", "resources/list"), ("resourceTemplates", "resources/templates/list")),
}
"""For each primitive of the manifest the lists it consists of."""


class Connection(Protocol):
    """A transport with a tap on it."""

    def streams(self) -> AbstractAsyncContextManager[TransportStreams]:
        """Open the wire; leaving the context closes it and all that belongs to it."""

    def explain(self) -> CaptureGap | None:
        """Return why the wire failed, where the transport knows better than the SDK."""

    def last_words(self) -> str:
        """Return what the server said beside the protocol, escaped."""


@dataclass
class Conversation:
    """What one capture needs to know.

    Args:
        launch: the server.
        redactor: masks its secrets.
        clock: the deadlines.
        connect: makes a new connection that writes to a tap.
        allow_empty: whether a server without tools is a server all the same.
    """

    launch: Launch
    redactor: Redactor
    clock: Clock
    connect: Callable[[Launch, Tap, Clock], Connection]
    allow_empty: bool = False

    async def run(self) -> Captured:
        """Capture the server over a connection of its own.

        The frozen protocol revision is asked for first: the SDK's automatic probe costs ten seconds with a server
        that ignores what it does not know.

        Raises:
            CaptureGap: whatever went wrong, translated.
        """
        if self.launch.protocol in HANDSHAKE_PROTOCOL_VERSIONS:
            with contextlib.suppress(_OtherEra):
                return await self._attempt("legacy")
        return await self._attempt("auto")

    async def _attempt(self, mode: str) -> Captured:
        tap = Tap(self.launch.name, self.redactor)
        connection = self.connect(self.launch, tap, self.clock)
        captured: Captured | None = None
        try:
            with self.clock.restart():
                async with Client(connection.streams(), mode=mode, cache=None, client_info=CLIENT) as client:
                    self.clock.enter(Phase.LIST)
                    captured = await Reading(self.launch, tap, self.allow_empty).read(client.session)
                    self.clock.enter(Phase.CLOSE)
        except Exception as error:
            # What a server does while it is being closed changes nothing about what it said.
            if captured is None:
                raise self._translated(error, connection, mode) from error
        if captured is None:
            raise self.clock.timed_out()
        words = self.redactor.clean(connection.last_words())
        return replace(captured, stderr_tail=words, seconds=self.clock.seconds)

    def _translated(self, error: Exception, connection: Connection, mode: str) -> Exception:
        if self.clock.scope.cancel_called:
            return self.clock.timed_out()
        if mode == "legacy" and any(_refuses_handshake(item) for item in leaves(error)):
            return _OtherEra()
        return connection.explain() or translate(self.launch.name, error)


@dataclass(frozen=True, slots=True)
class Reading:
    """The surface of one server, read over an open session."""

    launch: Launch
    tap: Tap
    """What the session's wire passes through."""
    allow_empty: bool = False
    """Whether a server without tools is a server all the same."""

    async def read(self, session: ClientSession) -> Captured:
        """Read every list that the launch asks for.

        Raises:
            CaptureGap: a list does not end, keeps changing, or is empty.
            MCPError: the server answers with an error.
        """
        version = session.protocol_version or ""
        first = first_reply(self.tap, session.initialize_result is not None, version)
        capabilities = first.value.get("capabilities")
        known = capabilities if isinstance(capabilities, dict) else {}
        lister = Lister(self.launch.name, session, self.tap, known)
        listings: dict[str, Listing] = {}
        for primitive in self.launch.primitives:
            for field, method in _LISTS[primitive]:
                asked = primitive == "tools" or lister.declares(primitive)
                listings[field] = await lister.read(method) if asked else Listing()
        return self._captured(first, listings)

    def _captured(self, first: FirstReply, listings: Mapping[str, Listing]) -> Captured:
        name = self.launch.name
        tools = listings.get("tools")
        if tools is not None and not tools.count and not self.allow_empty:
            why = f"`{escape(name)}` lists no tools"
            raise CaptureGap("empty-listing", why, "if that is right, allow it with `--allow-empty`")
        stray = [fault for listing in listings.values() for fault in listing.stray]
        lists = {field: listing.pages for field, listing in listings.items()}
        surface, findings = assemble(name, first, lists, stray=stray)
        noted = (*findings, *remarks(name, self.tap, surface, listings))
        return Captured(name, surface, noted, pages=len(tools.pages) if tools is not None else 0)


class _OtherEra(Exception):
    """The server does not know the handshake."""


def _refuses_handshake(error: BaseException) -> bool:
    return isinstance(error, MCPError) and error.error.code in (METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION)


def first_reply(tap: Tap, handshake: bool, version: str) -> FirstReply:  # noqa: FBT001 - which of two eras
    """Return how the server introduced itself, in the shape of an `initialize` result for both protocol eras.

    Source: MCP 2025-11-25, `InitializeResult`; MCP 2026-07-28, `DiscoverResult`, whose server identity stands in
    `_meta` and whose version the client chooses.
    """
    reply = tap.replies["initialize" if handshake else "server/discover"]
    faults = rebase(reply.faults, "/result")
    if handshake:
        return FirstReply(reply.result, faults)
    identity = f"/_meta/{escape_token(SERVER_INFO_META_KEY)}"
    meta = reply.result.get("_meta")
    value = {
        **reply.result,
        "protocolVersion": version,
        "serverInfo": meta.get(SERVER_INFO_META_KEY) if isinstance(meta, dict) else None,
    }
    moved = [replace(fault, pointer=f"/serverInfo{fault.pointer}") for fault in rebase(faults, identity)]
    return FirstReply(value, (*faults, *moved))
