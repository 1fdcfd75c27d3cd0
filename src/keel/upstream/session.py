"""One live session with one server: opened, negotiated as it was frozen, shared by many calls, and closed for good."""

from __future__ import annotations

import itertools
import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.client.session import ClientSession
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import mcp_param_headers, x_mcp_header_map
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolRequest,
    CallToolRequestParams,
    RequestId,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel, ConfigDict, ValidationError

from keel.capture.gaps import CaptureGap, translate
from keel.capture.interface import Captured
from keel.capture.phases import Clock
from keel.capture.session import CLIENT, Reading
from keel.core.launch import Launch
from keel.core.model import Json, Transport
from keel.core.text import escape
from keel.runtime.ports import Reply
from keel.upstream.reply import missing, refusal_of, reply_of
from keel.upstream.ticket import CURRENT, Ticket
from keel.upstream.wire import LiveTap

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

IDEMPOTENCY_META = "keel/idempotency-key"
"""Member of a call's `_meta` that holds its idempotency key; the same operation sent again carries the same one."""
_FIRST_ID = 1_000_000
"""Ids of calls start here, above those that the SDK gives to its own requests."""
_PAUSES_S = (1.0, 5.0, 15.0, 60.0)
"""Before a subscription that ended is opened again, the first time, the second, and so on."""
_REFUSALS = (METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION)


class Wire(Protocol):
    """A transport with a tap on it."""

    def streams(self) -> AbstractAsyncContextManager[TransportStreams]:
        """Open the wire; leaving the context closes it and all that belongs to it."""

    def explain(self) -> CaptureGap | None:
        """Return why the wire failed, where the transport knows better than the SDK."""


Connect = Callable[[Launch, LiveTap, Clock, Callable[[], None]], Wire]
"""Makes the wire of a session, which writes to the tap and tells when the server has forgotten the session."""


class _Raw(BaseModel):
    """A result as it came."""

    model_config = ConfigDict(extra="allow")


class Session:
    """A conversation that stays open.

    Args:
        launch: the server, every reference resolved.
        connect: makes its connection.
        limit: longest answer, in bytes.
        changed: told when the server says that its tools changed, and when the session has ended.
    """

    def __init__(self, launch: Launch, connect: Connect, *, limit: int, changed: Callable[[], None]) -> None:
        self.launch = launch
        self.changes = 0
        """How often the server said that its tools changed."""
        self.read_at: int | None = None
        """What `changes` was when the surface was last read; None if it was not."""
        self.gone = anyio.Event()
        """Set once everything that belonged to the session is gone."""
        self._tap = LiveTap(launch.name, limit=limit, changed=self._heard)
        self._clock = Clock(launch.name, launch.timeout_s)
        self._wire = connect(launch, self._tap, self._clock, self.end)
        self._changed = changed
        self._ids = itertools.count(_FIRST_ID)
        self._end = anyio.Event()
        self._client: ClientSession | None = None
        self._calls: TaskGroup | None = None
        self._reading = anyio.Lock()
        self._mirrored: dict[str, dict[tuple[str, ...], str]] = {}

    @property
    def over(self) -> bool:
        """Whether the session has ended or is about to."""
        return self._end.is_set()

    @property
    def current(self) -> bool:
        """Whether nothing changed since the surface was read in this session."""
        return self.read_at == self.changes

    def end(self) -> None:
        """End the session; whatever belongs to it is gone once `run` returns."""
        if not self.over:
            self._end.set()
            if self._client is not None:
                self._changed()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Open the session, say so, and keep it until it ends.

        Raises:
            CaptureGap: if it cannot be opened.
        """
        try:
            with self._clock.restart() as scope:
                await self._run(task_status)
        except Exception as error:
            if self._client is None:
                raise self._wire.explain() or translate(self.launch.name, error) from error
        else:
            if scope.cancelled_caught and self._client is None:
                raise self._clock.timed_out()
        finally:
            self.end()
            self.gone.set()

    async def _run(self, task_status: TaskStatus[None]) -> None:
        async with self._wire.streams() as streams:
            wire = _Dispatcher(*streams)
            wire.ended = self.end
            async with ClientSession(dispatcher=wire, client_info=CLIENT) as client, anyio.create_task_group() as calls:
                await self._negotiate(client)
                self._clock.scope.deadline = math.inf
                self._client, self._calls = client, calls
                calls.start_soon(self._listen, client)
                task_status.started()
                await self._end.wait()
                calls.cancel_scope.cancel()

    async def _negotiate(self, client: ClientSession) -> None:
        """Speak the era in which the server was frozen; the other one only if it knows no other."""
        eras: list[Callable[[], Awaitable[object]]] = [client.initialize, client.discover]
        if self.launch.protocol is not None and self.launch.protocol not in HANDSHAKE_PROTOCOL_VERSIONS:
            eras.reverse()
        first, second = eras
        try:
            await first()
        except MCPError as error:
            if error.error.code not in _REFUSALS:
                raise
            await second()

    async def _listen(self, client: ClientSession) -> None:
        """Keep the subscription open by which a server of the 2026 era tells that its tools changed."""
        capabilities = client.server_capabilities
        tools = capabilities.tools if capabilities is not None else None
        if client.discover_result is None or tools is None or not tools.list_changed:
            return
        for pause in itertools.chain(_PAUSES_S, itertools.repeat(_PAUSES_S[-1])):
            try:
                async with listen(client, tools_list_changed=True) as events:
                    async for _ in events:
                        pass  # the tap has heard it already
            except SubscriptionLost:
                pass
            except MCPError:
                return
            self._heard()  # what is said until it is open again will not be known
            await anyio.sleep(pause)

    def _heard(self) -> None:
        self.changes += 1
        self._changed()

    async def surface(self) -> Captured:
        """Read what the server says of itself now.

        Raises:
            CaptureGap: if it cannot be read.
        """
        assert self._client is not None
        async with self._reading:
            before = self.changes
            try:
                with anyio.fail_after(self.launch.timeout_s):
                    captured = await Reading(self.launch, self._tap, allow_empty=True).read(self._client)
            except Exception as error:
                raise self._wire.explain() or translate(self.launch.name, error) from error
            if self._client.discover_result is not None and self.launch.transport is Transport.HTTP:
                tools = captured.surface.tools
                self._mirrored = {str(tool["name"]): x_mcp_header_map(tool.get("inputSchema")) for tool in tools}
            self.read_at = before
            return captured

    async def call(self, tool: str, arguments: Mapping[str, Json], key: str, timeout_s: float) -> Reply:
        """Call a tool; see `Upstream.call`."""
        assert self._calls is not None
        given = dict(arguments)
        ticket = Ticket(next(self._ids), mcp_param_headers(self._mirrored.get(tool, {}), given))
        self._tap.tickets[ticket.id] = ticket
        done = anyio.Event()
        outcome: list[Reply | str] = []

        async def perform() -> None:
            CURRENT.set(ticket)
            try:
                with ticket.scope:
                    outcome.append(await self._ask(ticket, tool, given, key))
            finally:
                done.set()

        try:
            self._calls.start_soon(perform)
            with anyio.move_on_after(timeout_s):
                await done.wait()
        finally:
            self._tap.tickets.pop(ticket.id, None)
            ticket.abandon()
        result = outcome[0] if outcome else self._silence(timeout_s)
        if isinstance(result, str):
            raise missing(ticket, result)
        return result

    def _silence(self, timeout_s: float) -> str:
        if not self.over:
            return f"nothing came within {timeout_s:.3g} s"
        gap = self._wire.explain()
        return gap.why if gap is not None else "the session ended"

    async def _ask(self, ticket: Ticket, tool: str, arguments: dict[str, Json], key: str) -> Reply | str:
        """Send one call; returns its answer, or why there is none."""
        assert self._client is not None
        meta: Any = {IDEMPOTENCY_META: key} if key else None
        params = CallToolRequestParams(name=tool, arguments=arguments, _meta=meta)
        try:
            result = await self._client.send_request(CallToolRequest(params=params), _Raw)
            return reply_of(result.model_extra or {})
        except MCPError as error:
            if ticket.answered:
                return refusal_of(error.error.code, error.error.message)
            if error.error.code == CONNECTION_CLOSED and self.launch.transport is Transport.STDIO:
                self.end()  # before the caller hears of it, so that its next call opens another one
            gap = self._wire.explain()
            return gap.why if gap is not None else escape(error.error.message)
        except ValidationError:
            return "what came is not a result of the protocol"
        except Exception as error:  # noqa: BLE001 - foreign code; no call may end the others
            return translate(self.launch.name, error).why


class _Dispatcher(JSONRPCDispatcher[TransportContext]):
    """The SDK's dispatcher; calls carry the ids of their tickets, and the end of the wire is told."""

    ended: Callable[[], None]

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: RequestId | None = None,
    ) -> dict[str, Any]:
        ticket = CURRENT.get()
        if ticket is not None:
            given = opts or {}
            headers = {**given.get("headers", {}), **ticket.headers}
            opts = {**given, "request_id": ticket.id, "headers": headers}
        return await super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)

    async def run(self, *arguments: Any, **more: Any) -> None:
        try:
            await super().run(*arguments, **more)
        finally:
            self.ended()
