"""The servers of a bundle: one live session each, opened when it is needed, shared by all calls, kept for the run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from keel.capture.gaps import CaptureGap
from keel.capture.phases import CLOSE_S, Clock
from keel.capture.replay import replayed
from keel.capture.stdio import StdioConnection
from keel.core.finding import NotChecked
from keel.core.launch import Failure, Launch
from keel.core.model import Json, Surface, Transport
from keel.core.redact import Redactor
from keel.core.text import escape
from keel.runtime.ports import AnswerLost, Drifted, NotSent, Reply, Upstream
from keel.upstream.http import LiveHttp
from keel.upstream.session import Connect, Session, Wire
from keel.upstream.wire import LiveTap

RESULT_LIMIT = 16 * 1024 * 1024
"""Longest answer of a server, in bytes; a longer one is not kept and counts as lost."""
_PAUSES_S = (0.5, 1.0)
"""Before each further attempt to open a session, where the fault may pass (DESIGN section 8)."""

_MARGIN_S = 0.05

Resolve = Callable[[], Launch | Failure]
"""Gives a server's launch with every reference resolved as it is now; runs in a thread, for it may read files."""


@dataclass
class _Server:
    """One server and its session, if there is one."""

    name: str
    resolve: Resolve
    url: str
    session: Session | None = None
    compared: bool = False
    """Whether its surface was ever read: from then on no call goes to a session whose surface was not."""
    opening: anyio.Lock = field(default_factory=anyio.Lock)


class McpUpstream(Upstream):
    """Live sessions; an async context manager that leaves no process behind.

    Args:
        servers: by name, what resolves the launch; see `keel.store.env.resolve_launch`.
        endpoints: URL by name, for servers over HTTP, as the network allow-list judges them.
        redactor: learns every secret of every launch, and cleans every message.
        limit: longest answer, in bytes.
    """

    def __init__(
        self,
        servers: Mapping[str, Resolve],
        *,
        endpoints: Mapping[str, str] | None = None,
        redactor: Redactor | None = None,
        limit: int = RESULT_LIMIT,
    ) -> None:
        urls = endpoints or {}
        self._servers = {name: _Server(name, resolve, urls.get(name, "")) for name, resolve in servers.items()}
        self._redactor = redactor if redactor is not None else Redactor()
        self._known: set[str] = set()
        self._limit = limit
        self._listeners: list[Callable[[str], None]] = []
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._tasks is not None
        sessions = [server.session for server in self._servers.values() if server.session is not None]
        for session in sessions:
            session.end()
        with anyio.move_on_after(CLOSE_S, shield=True):
            for session in sessions:
                await session.gone.wait()
        # What is still being opened is not waited for; processes are stopped all the same.
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)
        self._tasks = None

    def endpoint(self, server: str) -> str:
        """Return the URL that a call to the server goes to; empty for a local process."""
        found = self._servers.get(server)
        return found.url if found is not None else ""

    def on_change(self, heard: Callable[[str], None]) -> None:
        """Have a function told the name of a server as soon as what was read of it no longer holds."""
        self._listeners.append(heard)

    async def surface(self, server: str) -> Surface | NotChecked:
        """Return what a server says of itself now, masks not applied, or why it could not be asked."""
        try:
            found = self._server(server)
            launch = await self._launch(found)
            if launch.transport is Transport.SURFACE:
                return replayed(launch).surface
            session = await self._session(found, launch)
            captured = await session.surface()
        except CaptureGap as gap:
            why, hint = self._redactor.clean(gap.why), self._redactor.clean(gap.next)
            return NotChecked(server, gap.code, why, hint)
        found.compared = True
        return captured.surface

    async def call(
        self, server: str, tool: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float
    ) -> Reply:
        """Call a tool and wait for its answer.

        Raises:
            NotSent: if the call did not leave.
            AnswerLost: if it left and no usable answer came.
            Drifted: if the session's surface was not read since it opened, or since its list changed.
        """
        # A little earlier than the caller gives up, so that it learns whether the call left.
        timeout_s = max(timeout_s - _MARGIN_S, timeout_s * 0.9)
        deadline = anyio.current_time() + timeout_s
        try:
            session = await self._opened(server, timeout_s)
            self._demand_current(server, session)
            left = max(deadline - anyio.current_time(), 0.0)
            return self._cleaned(await session.call(tool, arguments, idempotency_key, left))
        except CaptureGap as gap:
            raise NotSent(self._redactor.clean(gap.why), hint=self._redactor.clean(gap.next)) from gap
        except (NotSent, AnswerLost) as error:
            raise type(error)(self._redactor.clean(error.message), hint=error.hint) from error

    def _server(self, name: str) -> _Server:
        found = self._servers.get(name)
        if found is None:
            raise CaptureGap("unreachable", f"the bundle holds no server `{escape(name)}`")
        return found

    async def _opened(self, name: str, timeout_s: float) -> Session:
        """Return the server's session, opened if there is none.

        Raises:
            CaptureGap: if there can be none.
        """
        found = self._server(name)
        if found.session is not None and not found.session.over:
            return found.session
        launch = await self._launch(found)
        if launch.transport not in (Transport.STDIO, Transport.HTTP):
            why = f"`{escape(name)}` is given as `{launch.transport}`, behind which nothing can be called"
            raise CaptureGap("transport-unsupported", why, "give its `command` or its `url`")
        with anyio.move_on_after(timeout_s):
            return await self._session(found, launch)
        raise CaptureGap("timed-out", f"`{escape(name)}` could not be reached within {timeout_s:g} s")

    async def _session(self, server: _Server, launch: Launch) -> Session:
        async with server.opening:
            if server.session is None or server.session.over:
                server.session = await self._open(server, launch)
            return server.session

    async def _open(self, server: _Server, launch: Launch) -> Session:
        if self._tasks is None:
            raise CaptureGap("unreachable", f"`{escape(server.name)}` is not open: its pool has not been entered")
        for pause in (*_PAUSES_S, None):
            session = Session(launch, self._wire(server), limit=self._limit, changed=lambda: self._tell(server))
            try:
                await self._tasks.start(session.run)
            except CaptureGap as gap:
                if pause is None or not gap.passing:
                    raise
                await anyio.sleep(pause)
            else:
                return session
        raise AssertionError("the last attempt returns or raises")

    def _wire(self, server: _Server) -> Connect:
        def connect(launch: Launch, tap: LiveTap, clock: Clock, lost: Callable[[], None]) -> Wire:
            if launch.transport is Transport.STDIO:
                return StdioConnection(launch, tap, clock)
            return LiveHttp(launch, tap, clock, self._headers(server), lost)

        return connect

    def _headers(self, server: _Server) -> Callable[[], Awaitable[Mapping[str, str]]]:
        async def headers() -> Mapping[str, str]:
            return (await self._launch(server)).headers

        return headers

    async def _launch(self, server: _Server) -> Launch:
        """Resolve a launch as its references are now, and learn its secrets.

        Raises:
            CaptureGap: if something is missing, or the server cannot be called.
        """
        launch = await to_thread.run_sync(server.resolve)
        if isinstance(launch, Failure):
            raise CaptureGap(launch.gap.code, launch.gap.why, launch.gap.next)
        new = set(launch.secrets) - self._known
        if new:
            self._known |= new
            self._redactor.learn(*new)
        return launch

    def _tell(self, server: _Server) -> None:
        if server.compared:
            for heard in self._listeners:
                heard(server.name)

    def _demand_current(self, name: str, session: Session) -> None:
        if self._servers[name].compared and not session.current:
            why = "announced that its tools changed" if session.changes else "was started again"
            raise Drifted(f"`{escape(name)}` {why}, and was not compared with the lock since")

    def _cleaned(self, reply: Reply) -> Reply:
        message = self._redactor.clean(reply.message)
        return Reply(data=reply.data, failed=reply.failed, code=self._redactor.clean(reply.code), message=message)
