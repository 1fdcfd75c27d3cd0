"""The event loop of a capture: a bounded number of servers at a time, interrupts that clean up, silent libraries."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import anyio

from keel.capture.gaps import failure, translate
from keel.capture.http import HttpConnection
from keel.capture.instability import other_environment, unstable
from keel.capture.interface import Captured, Failure, Launch
from keel.capture.phases import Clock
from keel.capture.session import Conversation
from keel.capture.stdio import StdioConnection
from keel.core.finding import Location, finding
from keel.core.model import Transport
from keel.core.redact import Redactor
from keel.core.text import escape

_PAUSE_S = 0.5
"""Before the first retry, in seconds; doubled before each further one."""
_CONNECT = {Transport.STDIO: StdioConnection, Transport.HTTP: HttpConnection}


def run_pool(launches: Sequence[Launch], capturer: Capturer, *, jobs: int) -> dict[str, Captured | Failure]:
    """Run one event loop that captures every launch; see `capture_all`."""
    results: dict[str, Captured | Failure] = {}

    async def main() -> bool:
        limiter = anyio.CapacityLimiter(max(jobs, 1))

        async def one(launch: Launch) -> None:
            async with limiter:
                results[launch.name] = await capturer.capture(launch)

        with termination() as scope:
            async with anyio.create_task_group() as tasks:
                for launch in launches:
                    tasks.start_soon(one, launch)
        return scope.cancelled_caught

    with silent_libraries():
        terminated = anyio.run(main)
    if terminated:
        signal.raise_signal(signal.SIGTERM)
    return {launch.name: results[launch.name] for launch in launches}


T = TypeVar("T")


def terminable(main: Callable[[], Awaitable[T]]) -> T:
    """Run an event loop that SIGTERM ends as an interrupt does: what is open is closed first.

    Args:
        main: what is run.
    """

    async def watched() -> list[T]:
        results: list[T] = []
        with termination():
            results.append(await main())
        return results

    done = anyio.run(watched)
    if not done:
        signal.raise_signal(signal.SIGTERM)
        raise KeyboardInterrupt
    return done[0]


@contextlib.contextmanager
def termination() -> Iterator[anyio.CancelScope]:
    """Give a scope that SIGTERM cancels, so that children are gone before the process is; interrupts do so already."""
    loop = asyncio.get_running_loop()
    default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    watched = default and threading.current_thread() is threading.main_thread() and sys.platform != "win32"
    with anyio.CancelScope() as scope:
        if watched:
            loop.add_signal_handler(signal.SIGTERM, scope.cancel)
        try:
            yield scope
        finally:
            if watched:
                loop.remove_signal_handler(signal.SIGTERM)


@dataclass(frozen=True)
class Capturer:
    """Captures single servers; every fault of one becomes a `Failure`."""

    allow_empty: bool = False
    progress: Callable[[str, str], None] | None = None
    twice: frozenset[str] = frozenset()
    """Names of the servers that are started a second time."""
    probe_paths: bool = False
    """Whether the second start also has another working directory and home."""
    retries: int = 0
    """How often a failure that may pass is tried again."""

    async def capture(self, launch: Launch) -> Captured | Failure:
        """Capture one server, a second time where that was asked for."""
        if launch.transport is Transport.STDIO and launch.name in self.twice:
            outcome = await self._twice(launch)
        else:
            outcome = await self._once(launch, self.progress)
        if self.progress is not None:
            self.progress(launch.name, "done" if isinstance(outcome, Captured) else "failed")
        return outcome

    async def _once(self, launch: Launch, progress: Callable[[str, str], None] | None) -> Captured | Failure:
        redactor = Redactor(launch.secrets)
        for attempt in range(self.retries + 1):
            try:
                clock = Clock(launch.name, launch.timeout_s, progress)
                connect = _CONNECT[launch.transport]
                return await Conversation(launch, redactor, clock, connect, self.allow_empty).run()
            except Exception as error:  # noqa: BLE001 - the edge of foreign code: no server may end the others
                gap = translate(launch.name, error)
            if not gap.passing:
                break
            if attempt < self.retries:
                await anyio.sleep(_PAUSE_S * 2**attempt)
        return failure(launch.name, gap, redactor)

    async def _twice(self, launch: Launch) -> Captured | Failure:
        """Start a server twice side by side; whichever fails is tried again when the other one is gone."""
        with contextlib.ExitStack() as stack:
            other = replace(launch, env=other_environment(dict(launch.env)))
            if self.probe_paths:
                home, cwd = (stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2))
                other = replace(other, env={**other.env, "HOME": home}, cwd=Path(cwd))
            return await self._both(launch, other)

    async def _both(self, launch: Launch, other: Launch) -> Captured | Failure:
        outcomes: list[Captured | Failure | None] = [None, None]

        async def start(index: int, given: Launch, progress: Callable[[str, str], None] | None) -> None:
            outcomes[index] = await self._once(given, progress)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(start, 0, launch, self.progress)
            tasks.start_soon(start, 1, other, None)
        first, second = outcomes
        if not isinstance(first, Captured) and isinstance(second, Captured):
            first = await self._once(launch, self.progress)
        if isinstance(first, Captured) and not isinstance(second, Captured):
            second = await self._once(other, None)
        assert first is not None
        return first if isinstance(first, Failure) else _compared(launch, first, second)


def _compared(launch: Launch, first: Captured, second: Captured | Failure | None) -> Captured:
    name = launch.name
    if isinstance(second, Captured):
        found = tuple(unstable(name, first.surface, second.surface, launch.volatile))
    else:
        why = second.gap.why if second is not None else "it did not run"
        message = f"`{escape(name)}` was not compared with a second start: {why}"
        found = (finding("stability-unverified", message, location=Location(key=name)),)
    return replace(first, findings=(*first.findings, *found))


_LOGGERS = ("anyio", "asyncio", "client", "httpcore2", "httpx2", "mcp", "sse_starlette", "uvicorn")


@contextlib.contextmanager
def silent_libraries() -> Iterator[None]:
    """Keep the libraries' loggers off the terminal: what matters of their news is in the result, secrets masked."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
