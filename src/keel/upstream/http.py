"""Streamable HTTP for live sessions: headers as they are now, and a fault of one request stays with that request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INTERNAL_ERROR

from keel.capture.gaps import CaptureGap, translate
from keel.capture.http import grant, message_of
from keel.capture.http_body import EVENTS, JSON, TappedStream, media_type
from keel.capture.http_status import judge, trust
from keel.capture.phases import Clock, Phase
from keel.capture.tokens import TokenMemory
from keel.core.launch import Launch
from keel.upstream.ticket import Ticket
from keel.upstream.wire import CALL, LiveTap

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_LEAVING = ("http11.send_request_headers.started", "http2.send_request_headers.started")
LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
"""Connections of one client: as many calls may wait at the same time."""
_TURNED_AWAY = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)
"""Statuses with which a request is turned away before anything runs (RFC 9110 section 15.5, RFC 6585 section 4)."""


class Abandoned(Exception):
    """A request that nobody waits for any more was about to leave."""


@dataclass
class LiveHttp:
    """One endpoint and its wire."""

    launch: Launch
    tap: LiveTap
    clock: Clock
    headers: Callable[[], Awaitable[Mapping[str, str]]]
    """Gives the headers as they are now: a rotated secret is used at once."""
    lost: Callable[[], None]
    """Told when the server has forgotten the session."""
    _gap: CaptureGap | None = None

    def explain(self) -> CaptureGap | None:
        """Return what the last refusal says, when it is not the protocol's."""
        return self.tap.gap or self._gap

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[TransportStreams]:
        """Connect and yield the pair of streams that the SDK's session reads and writes."""
        self.clock.enter(Phase.FIRST_REPLY)
        credentials = self.launch.client_credentials
        auth = grant(self.launch.url, credentials, TokenMemory(self.tap.redactor)) if credentials else None
        async with (
            _Client(self, auth) as client,
            streamable_http_client(self.launch.url, http_client=client, max_sse_event_size=None) as streams,
        ):
            yield streams

    async def judge(self, ticket: Ticket | None, response: httpx2.Response) -> None:
        """Keep what a status means that is no answer of the protocol."""
        gap = await judge(self.launch.name, response)
        if ticket is None:
            self._gap = gap
        elif gap is not None and response.status_code in _TURNED_AWAY:
            ticket.refused = gap.why
        elif gap is not None:
            ticket.trouble = gap.why
        if response.status_code == HTTPStatus.NOT_FOUND and "mcp-session-id" in response.request.headers:
            self.lost()

    def heard(self) -> None:
        """Forget an earlier refusal, because the endpoint answers."""
        self._gap = None

    def failed(self, ticket: Ticket | None, error: Exception) -> str:
        """Keep why a request failed below HTTP; returns it."""
        gap = translate(self.launch.name, error)
        if ticket is None:
            self._gap = gap
        else:
            ticket.trouble = gap.why
        return gap.why


class _Client(httpx2.AsyncClient):
    """The client of one session; the SDK's transport ends the whole session over an exception, so it sees none."""

    def __init__(self, wire: LiveHttp, auth: httpx2.Auth | None) -> None:
        # Compression is declined, so that what is counted is what was sent.
        plain = {"user-agent": "keel", "accept-encoding": "identity"}
        super().__init__(headers=plain, verify=trust(), timeout=None, auth=auth, limits=LIMITS)
        self._wire = wire

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        message = await message_of(request)
        ticket = None if message is None else self._wire.tap.tickets.get(_number(message.get("id")))
        if message is not None and message.get("method") == CALL and ticket is None:
            return _answer(request, message.get("id"), "nobody waits for it any more")
        if ticket is not None:
            request.extensions = {**request.extensions, "trace": watch(ticket)}
        try:
            request.headers.update(await self._wire.headers())
            response = await super().send(request, **options)
        except (httpx2.TransportError, CaptureGap, Abandoned) as error:
            why = self._wire.failed(ticket, error)
            if message is None or "id" not in message:
                raise
            return _answer(request, message["id"], why)
        if message is not None and "method" in message and "id" in message:
            await self._tapped(response, str(message["method"]), ticket)
        return response

    async def _tapped(self, response: httpx2.Response, method: str, ticket: Ticket | None) -> None:
        if response.is_success:
            self._wire.heard()
        else:
            await self._wire.judge(ticket, response)
        if media_type(response) in (JSON, EVENTS):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Guarded(response.stream)
            response.stream = TappedStream(response, self._wire.tap, method, lambda _status: None)


class _Guarded(httpx2.AsyncByteStream):
    """A body whose breaking off is said in the form that the SDK's transport survives."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                yield chunk
        except httpx2.TransportError as error:
            raise httpx2.StreamError(f"the connection broke: {error}") from error

    async def aclose(self) -> None:
        await self._stream.aclose()


def watch(ticket: Ticket) -> Callable[[str, Mapping[str, Any]], Awaitable[None]]:
    """Return what the HTTP library tells of a request's progress: its first byte is recorded, or kept from leaving."""

    async def trace(event: str, _info: Mapping[str, Any]) -> None:
        if event in _LEAVING and not ticket.leave():
            raise Abandoned

    return trace


def _answer(request: httpx2.Request, request_id: object, why: str) -> httpx2.Response:
    error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": INTERNAL_ERROR, "message": why}}
    return httpx2.Response(HTTPStatus.OK, json=error, request=request)


def _number(value: object) -> int:
    return value if isinstance(value, int) else -1
