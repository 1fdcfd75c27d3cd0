"""The gateway over streamable HTTP, on loopback only: who does not know its name and its token gets nothing."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from keel.errors import UsageError

PATH = "/mcp"
LOOPBACK = {"127.0.0.1": socket.AF_INET, "localhost": socket.AF_INET, "::1": socket.AF_INET6}
"""The hosts that the gateway may listen on."""
SHORTEST_TOKEN = 16
"""Shortest bearer token that is accepted, in characters."""
_CLOSE_S = 2

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]


class Guard:
    """Refuses requests before anything reads them: by Host, by Origin, by token.

    A page in a browser that resolves its own name to this machine sends its own name as `Host` and as `Origin`; only
    this machine's names pass (DNS rebinding; MCP 2025-11-25, streamable HTTP, security warning).

    Args:
        app: what is guarded.
        port: the port that is listened on.
        token: the bearer token.
    """

    def __init__(self, app: App, port: int, token: str) -> None:
        self._app = app
        self._hosts = hosts(port)
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on one request (ASGI)."""
        refused = self._refused(scope) if scope["type"] == "http" else None
        if scope["type"] not in ("http", "lifespan"):
            return
        if refused is None:
            await self._app(scope, receive, send)
            return
        status, words = refused
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        if status == HTTPStatus.UNAUTHORIZED:
            headers.append((b"www-authenticate", b'Bearer realm="keel"'))
        await send({"type": "http.response.start", "status": status.value, "headers": headers})
        await send({"type": "http.response.body", "body": f"{words}\n".encode()})

    def _refused(self, scope: Scope) -> tuple[HTTPStatus, str] | None:
        sent: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            sent.setdefault(name.lower(), []).append(value)
        host, origin = sent.get(b"host", []), sent.get(b"origin", [])
        if len(host) != 1 or host[0].decode("latin-1").lower() not in self._hosts:
            return HTTPStatus.MISDIRECTED_REQUEST, "this host is not served here"
        if any(item.decode("latin-1").lower() not in self._origins for item in origin):
            return HTTPStatus.FORBIDDEN, "this origin may not call"
        given = sent.get(b"authorization", [])
        if len(given) != 1 or not hmac.compare_digest(given[0], self._expected):
            return HTTPStatus.UNAUTHORIZED, "a bearer token is needed"
        return None


def hosts(port: int) -> frozenset[str]:
    """Return the `Host` values under which the gateway may be called."""
    return frozenset({f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"})


def listen(place: str) -> socket.socket:
    """Bind a socket for `[HOST:]PORT`; port 0 takes a free one.

    Raises:
        UsageError: if that is no place on loopback, or it is taken.
    """
    host, _, port = place.rpartition(":")
    name = host.strip("[]") or "127.0.0.1"
    family = LOOPBACK.get(name)
    if family is None:
        raise UsageError(
            f"`{name}` is not this machine's loopback, and the gateway listens nowhere else",
            hint="write `--http PORT`; to be reached from elsewhere it needs a proxy with TLS and access control",
        )
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"`{port}` is not a port", hint="write `--http 8765`, or `--http 0` for any free one")
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("127.0.0.1" if family is socket.AF_INET else "::1", int(port)))
    except OSError as error:
        found.close()
        raise UsageError(
            f"port {port} of `{name}` cannot be listened on: {error.strerror}", hint="take another port, or 0 for any"
        ) from error
    return found


async def serve_http(
    server: Server[Any], where: socket.socket, *, token: str, limit: int, ready: Callable[[], None]
) -> None:
    """Serve any number of clients until the task is cancelled.

    Args:
        server: the server.
        where: the bound socket; it is closed at the end.
        token: the bearer token.
        limit: longest request, in bytes.
        ready: told once clients may connect.
    """
    port = where.getsockname()[1]
    known = sorted(hosts(port))
    # The guard has checked the same already; the SDK's own check stays on in case it ever is not in front.
    security = TransportSecuritySettings(allowed_hosts=known, allowed_origins=[f"http://{host}" for host in known])
    app = server.streamable_http_app(
        streamable_http_path=PATH, max_request_body_size=limit, transport_security=security
    )
    config = uvicorn.Config(
        Guard(app, port, token),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_CLOSE_S,
    )
    running = _Server(config)
    running.ready = ready
    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            # Its own end is bounded, and takes the clients' sessions with it.
            with anyio.CancelScope(shield=True):
                await running.serve(sockets=[where])
            tasks.cancel_scope.cancel()

        tasks.start_soon(run)
        try:
            await anyio.sleep_forever()
        finally:
            running.should_exit = True


class _Server(uvicorn.Server):
    """A server that says when it is ready, and leaves signals to whoever started it."""

    ready: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets)
        if self.started:
            self.ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signal."""
        yield
