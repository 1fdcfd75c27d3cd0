"""Logging in with a browser: authorization code with PKCE, a redirect to the loopback, the token in memory only."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.to_thread
import httpx2
from anyio.abc import SocketAttribute, SocketStream
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl

from keel.capture.tokens import TokenMemory

WAIT_S = 300.0
"""How long a person may take, in seconds."""
_HEAD_LIMIT = 16 * 1024
_PAGE = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\n"
    b"keel has what it needs. You can close this window.\n"
)
_NOT_HERE = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@asynccontextmanager
async def browser_login(url: str, open_url: Callable[[str], None], tokens: TokenMemory) -> AsyncGenerator[httpx2.Auth]:
    """Yield an authentication that sends a person to the server's login page when the server asks for it.

    Source: RFC 6749 section 4.1, RFC 7636 (PKCE), RFC 8252 section 7.3 (loopback redirect).

    Args:
        url: the server's endpoint.
        open_url: shows a page to the person, usually in a browser.
        tokens: keeps what the login gives.
    """
    outcome: list[AuthorizationCodeResult] = []
    arrived = anyio.Event()

    async def receive(stream: SocketStream) -> None:
        async with stream:
            result = await _redirect(stream)
            await stream.send(_NOT_HERE if result is None else _PAGE)
        if result is not None and not arrived.is_set():
            outcome.append(result)
            arrived.set()

    async def show(page: str) -> None:
        await anyio.to_thread.run_sync(open_url, page)

    async def wait() -> AuthorizationCodeResult:
        with anyio.fail_after(WAIT_S):
            await arrived.wait()
        return outcome[0]

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, receive)
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - not Django's `extra`
        metadata = OAuthClientMetadata(
            redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}/callback")],
            client_name="keel",
            grant_types=["authorization_code", "refresh_token"],
            token_endpoint_auth_method="none",  # noqa: S106 - a public client has no secret
        )
        yield OAuthClientProvider(url, metadata, tokens, show, wait)
        tasks.cancel_scope.cancel()


async def _redirect(stream: SocketStream) -> AuthorizationCodeResult | None:
    """Read one request and return what it brings, when it is the redirect."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _HEAD_LIMIT:
        try:
            head += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            break
    words = head.split(b"\r\n", 1)[0].decode("ascii", "replace").split()
    target = urlsplit(words[1]) if len(words) == 3 and words[0] == "GET" else None
    if target is None or target.path != "/callback":
        return None
    query = {name: values[0] for name, values in parse_qs(target.query).items()}
    return AuthorizationCodeResult(code=query.get("code", ""), state=query.get("state"), iss=query.get("iss"))
