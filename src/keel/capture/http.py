"""The streamable HTTP transport: the SDK's own, on a client whose every response is tapped (MCP, transports, HTTP)."""

from __future__ import annotations

import json
import warnings
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

import httpx2
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client

from keel.capture.gaps import CaptureGap
from keel.capture.http_body import EVENTS, JSON, TappedStream, media_type
from keel.capture.http_status import judge, trust
from keel.capture.login import WAIT_S, browser_login
from keel.capture.phases import Clock, Phase
from keel.capture.tap import Tap
from keel.capture.tokens import TokenMemory
from keel.core.launch import Launch
from keel.core.model import ClientCredentials

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


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
                verify=trust(),
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
            yield grant(launch.url, launch.client_credentials, tokens)
        else:
            yield None

    async def _on_response(self, response: httpx2.Response) -> None:
        message = await message_of(response.request)
        is_request = message is not None and "id" in message and "method" in message
        kind = media_type(response)
        if message is None and kind != EVENTS:
            return  # the client's own errands: tokens, the end of a session
        if is_request and not self._is_challenge(response):
            self._gap = await judge(self.launch.name, response)
            if self._gap is not None and _is_final(response):
                raise self._gap
        if kind in (JSON, EVENTS):
            method = str(message["method"]) if message is not None and is_request else ""
            response.stream = TappedStream(response, self.tap, method, self._heard)
            response.headers.pop("content-encoding", None)

    def _heard(self, status: int) -> None:
        """Prefer what the protocol says to what a status of the kind "bad request" means."""
        if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            self._gap = None

    def _is_challenge(self, response: httpx2.Response) -> bool:
        """Tell whether an authentication that is at hand will answer this refusal."""
        granted = self.launch.client_credentials is not None or self.launch.login is not None
        fresh = "authorization" not in response.request.headers
        return response.status_code == HTTPStatus.UNAUTHORIZED and granted and fresh


def _is_final(response: httpx2.Response) -> bool:
    """Tell whether asking on would only annoy the server."""
    return response.status_code in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.UNAUTHORIZED)


async def message_of(request: httpx2.Request) -> dict[str, object] | None:
    """Return the JSON-RPC message that a request carries."""
    if request.method != "POST":
        return None
    try:
        value = json.loads(await request.aread())
    except ValueError:
        return None
    return value if isinstance(value, dict) and "jsonrpc" in value else None


def grant(url: str, credentials: ClientCredentials, tokens: TokenMemory) -> httpx2.Auth:
    """Return the OAuth client-credentials flow (RFC 6749 section 4.4); the token stays in memory."""
    with warnings.catch_warnings():
        # Without an issuer the server's own metadata names it; the SDK warns of that.
        warnings.simplefilter("ignore")
        return ClientCredentialsOAuthProvider(
            server_url=url,
            storage=tokens,
            client_id=credentials.client_id,
            client_secret=credentials.client_secret,
            scope=credentials.scope,
            issuer=credentials.issuer,
        )
