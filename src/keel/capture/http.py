"""The streamable HTTP transport: the SDK's own, on a client whose every response is tapped (MCP, transports, HTTP)."""

from __future__ import annotations

import json
import ssl
import warnings
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client

from keel.capture.gaps import CaptureGap
from keel.capture.login import WAIT_S, browser_login
from keel.capture.phases import Clock, Phase
from keel.capture.sse import EventReader, EventTooLong
from keel.capture.tap import MESSAGE_LIMIT, Tap
from keel.capture.tokens import TokenMemory
from keel.core.launch import Launch
from keel.core.model import ClientCredentials
from keel.core.text import escape, excerpt

_DISCOVERY_S = 2.0
"""How long a server may take to say whether it offers OAuth, in seconds."""


@dataclass
class HttpConnection:
    """One endpoint and its wire."""

    launch: Launch
    tap: Tap
    clock: Clock
    _gap: CaptureGap | None = None
    """Why the last answer to a message was none."""

    def explain(self) -> CaptureGap | None:
        """Return what the last HTTP answer says, when it is not the protocol's."""
        return self.tap.gap or self._gap

    def last_words(self) -> str:
        """Return nothing: HTTP has no second voice."""
        return ""

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[TransportStreams]:
        """Connect and yield the pair of streams that the SDK's session reads and writes."""
        self.clock.enter(Phase.FIRST_REPLY, WAIT_S if self.launch.login is not None else 0.0)
        # Compression is declined, so that what is counted is what was sent.
        headers = httpx2.Headers({"user-agent": "keel", "accept-encoding": "identity"})
        headers.update(dict(self.launch.headers))
        async with (
            self._auth() as auth,
            httpx2.AsyncClient(
                headers=headers,
                verify=_trust(),
                timeout=None,  # each phase has its deadline
                auth=auth,
                event_hooks={"response": [self._on_response]},
            ) as client,
            streamable_http_client(self.launch.url, http_client=client, max_sse_event_size=None) as streams,
        ):
            yield streams

    @asynccontextmanager
    async def _auth(self) -> AsyncGenerator[httpx2.Auth | None]:
        launch, tokens = self.launch, TokenMemory(self.tap.redactor)
        if launch.login is not None:
            async with browser_login(launch.url, launch.login, tokens) as auth:
                yield auth
        elif launch.client_credentials is not None:
            yield _grant(launch.url, launch.client_credentials, tokens)
        else:
            yield None

    async def _on_response(self, response: httpx2.Response) -> None:
        request = response.request
        message = await _message(request)
        is_request = message is not None and "id" in message and "method" in message
        if message is None and request.method != "GET":
            return  # the client's own errands: tokens, the end of a session
        if is_request:
            self._gap = await self._judge(response)
            if self._gap is not None and self._is_final(response):
                raise self._gap
        kind = _media_type(response)
        if kind in ("application/json", "text/event-stream"):
            method = str(message["method"]) if message is not None and is_request else ""
            response.stream = TappedStream(response, self.tap, method, self._heard)
            response.headers.pop("content-encoding", None)

    def _heard(self, status: int) -> None:
        """Prefer what the protocol says to what a status of the kind "bad request" means."""
        if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            self._gap = None

    def _is_final(self, response: httpx2.Response) -> bool:
        if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            return True
        granted = self.launch.client_credentials is not None or self.launch.login is not None
        return response.status_code == HTTPStatus.UNAUTHORIZED and not granted

    async def _judge(self, response: httpx2.Response) -> CaptureGap | None:
        """Return what an HTTP answer means when it cannot hold an answer of the protocol."""
        who, status = f"`{escape(self.launch.name)}`", response.status_code
        answered = f"{who} answered {_phrase(status)}"
        if status == HTTPStatus.UNAUTHORIZED:
            return await self._unauthorized(who, response)
        if status == HTTPStatus.FORBIDDEN:
            why = f"{answered}: what was sent does not give access"
            return CaptureGap("needs-authentication", why, "correct the credentials in `headers` or `auth`")
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            after = response.headers.get("retry-after")
            wait = f"wait {excerpt(after, 40)} s, then try again" if after else "try again later"
            return CaptureGap("server-failed", f"{answered}: it asks for fewer requests", wait, passing=True)
        if response.has_redirect_location:
            return _redirected(answered, response)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            operator = "try again later, or report it to the server's operator"
            return CaptureGap("server-failed", answered, operator, passing=True)
        if status >= HTTPStatus.BAD_REQUEST:
            return self._refused(answered, response)
        kind = _media_type(response)
        if status == HTTPStatus.OK and kind not in ("application/json", "text/event-stream"):
            why = f"{who} answered with `{excerpt(kind or 'no content type', 60)}` instead of the protocol"
            return CaptureGap("server-failed", why, "correct `url`: it is not that of an MCP endpoint")
        return None

    def _refused(self, answered: str, response: httpx2.Response) -> CaptureGap:
        old = response.request.url.path.rstrip("/").endswith("/sse")
        if old and response.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
            why = f"{answered}: its URL looks like the HTTP+SSE transport, which MCP has given up"
            return CaptureGap("transport-unsupported", why, "use the server's streamable HTTP endpoint, often `/mcp`")
        return CaptureGap("server-failed", answered, "correct `url`: it is not that of an MCP endpoint")

    async def _unauthorized(self, who: str, response: httpx2.Response) -> CaptureGap:
        challenge = response.headers.get("www-authenticate", "")
        oauth = "resource_metadata" in challenge or await _offers_oauth(response.request.url)
        note = " and offers OAuth" if oauth else ""
        given = "authorization" in response.request.headers
        sent = "the credentials sent were not accepted" if given else "none were sent"
        why = f"{who} answered 401 Unauthorized: it asks for credentials{note}; {sent}"
        if oauth:
            how = "give `auth: {client_credentials: …}`, or a token in `headers`"
            return CaptureGap("needs-authentication", why, how)
        return CaptureGap("needs-authentication", why, "give a token in `headers`, as a `secret://` reference")


class TappedStream(httpx2.AsyncByteStream):
    """The body of a response: each message is read by the tap, and goes on in the form that the tap returns.

    Args:
        response: the response whose body it is.
        tap: keeps what was sent.
        method: the method that the response answers; empty for a stream of notifications.
        heard: told the response's status whenever a message of the protocol was read.
    """

    def __init__(self, response: httpx2.Response, tap: Tap, method: str, heard: Callable[[int], None]) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        self._stream = response.stream
        self._events = _media_type(response) == "text/event-stream"
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        self._inflate = zlib.decompressobj(wbits=47) if encoding in ("gzip", "x-gzip", "deflate") else None
        self._tap = tap
        self._method = method
        self._status = response.status_code
        self._heard = heard

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the body as the SDK reads it."""
        if self._events:
            reader = EventReader(MESSAGE_LIMIT)
            async for chunk in self._chunks():
                try:
                    for event in reader.feed(chunk):
                        yield event.encoded(self._carried(event.data))
                except EventTooLong:
                    self._tap.too_long()
            return
        body = bytearray()
        async for chunk in self._chunks():
            body += chunk
            if len(body) > MESSAGE_LIMIT:
                self._tap.too_long()
        yield self._carried(bytes(body))

    async def aclose(self) -> None:
        """Close the response."""
        await self._stream.aclose()

    async def _chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            if self._inflate is None:
                yield chunk
                continue
            rest = chunk
            while rest:
                part = self._inflate.decompress(rest, 1024 * 1024)
                rest = self._inflate.unconsumed_tail
                yield part

    def _carried(self, data: bytes) -> bytes:
        value = self._tap.received(data, method=self._method)
        if value is None:
            return data.replace(b"\n", b"")
        self._heard(self._status)
        return json.dumps(value).encode("ascii")


@cache
def _trust() -> ssl.SSLContext:
    """Return the certificate authorities, read once for all servers: reading takes longer than most answers."""
    return httpx2.create_ssl_context()


async def _message(request: httpx2.Request) -> dict[str, object] | None:
    """Return the JSON-RPC message that a request carries."""
    if request.method != "POST":
        return None
    try:
        value = json.loads(await request.aread())
    except ValueError:
        return None
    return value if isinstance(value, dict) and "jsonrpc" in value else None


def _media_type(response: httpx2.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _redirected(answered: str, response: httpx2.Response) -> CaptureGap:
    """Describe a redirect; one that the SDK follows, within the origin, is forgotten at the next answer."""
    target = response.request.url.join(response.headers["location"]).copy_with(userinfo=b"", query=None, fragment=None)
    why = f"{answered}, to `{excerpt(str(target), 200)}`: it was not followed, so that no credentials leave the origin"
    return CaptureGap("server-failed", why, "if that is the server, make it the `url`")


async def _offers_oauth(url: httpx2.URL) -> bool:
    """Ask for the metadata of a protected resource (RFC 9728 section 3.1), without credentials."""
    place = url.copy_with(userinfo=b"", raw_path=b"/.well-known/oauth-protected-resource", fragment=None)
    try:
        async with httpx2.AsyncClient(timeout=_DISCOVERY_S, verify=_trust()) as client:
            answer = await client.get(place)
    except httpx2.HTTPError:
        return False
    return answer.status_code == HTTPStatus.OK and _media_type(answer) == "application/json"


def _grant(url: str, credentials: ClientCredentials, tokens: TokenMemory) -> httpx2.Auth:
    """Return the OAuth client-credentials flow (RFC 6749 section 4.4); the token stays in memory."""
    with warnings.catch_warnings():
        # The manifest names no issuer, so the server's own metadata does; the SDK warns of that.
        warnings.simplefilter("ignore")
        return ClientCredentialsOAuthProvider(
            server_url=url,
            storage=tokens,
            client_id=credentials.client_id,
            client_secret=credentials.client_secret,
            scope=credentials.scope,
        )
