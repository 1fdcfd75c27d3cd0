"""The event loop of a capture: a bounded number of servers at a time, interrupts that clean up, silent libraries."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence

import anyio

from keel.capture.gaps import CaptureGap, failure, translate
from keel.capture.http import HttpConnection
from keel.capture.interface import Captured, Failure, Launch
from keel.capture.phases import Clock
from keel.capture.replay import read_surface
from keel.capture.session import Conversation
from keel.capture.stdio import StdioConnection
from keel.core.finding import InputErrors
from keel.core.model import Transport
from keel.core.redact import Redactor
from keel.core.text import escape

_CONNECT = {Transport.STDIO: StdioConnection, Transport.HTTP: HttpConnection}


def run_pool(
    launches: Sequence[Launch], *, jobs: int, allow_empty: bool, progress: Callable[[str, str], None] | None
) -> dict[str, Captured | Failure]:
    """Run one event loop that captures every launch; see `capture_all`."""
    results: dict[str, Captured | Failure] = {}

    async def main() -> None:
        limiter = anyio.CapacityLimiter(max(jobs, 1))

        async def one(launch: Launch) -> None:
            async with limiter:
                results[launch.name] = await capture_one(launch, allow_empty=allow_empty, progress=progress)

        async with anyio.create_task_group() as tasks:
            for launch in launches:
                tasks.start_soon(one, launch)

    with _silent_libraries():
        anyio.run(main)
    return {launch.name: results[launch.name] for launch in launches}


async def capture_one(
    launch: Launch, *, allow_empty: bool, progress: Callable[[str, str], None] | None
) -> Captured | Failure:
    """Capture one server; every fault of it becomes a `Failure`."""
    redactor = Redactor(launch.secrets)
    tell = progress or _say_nothing
    try:
        if launch.transport is Transport.SURFACE:
            outcome: Captured | Failure = _replayed(launch)
        else:
            clock = Clock(launch.name, launch.timeout_s, progress)
            connect = _CONNECT[launch.transport]
            outcome = await Conversation(launch, redactor, clock, connect, allow_empty).run()
        tell(launch.name, "done")
    except Exception as error:  # noqa: BLE001 - the edge of foreign code: nothing a server does may end the others
        outcome = failure(launch.name, translate(launch.name, error), redactor)
        tell(launch.name, "failed")
    return outcome


def _say_nothing(name: str, phase: str) -> None:
    """Take the place of a progress display."""


def _replayed(launch: Launch) -> Captured:
    assert launch.surface is not None
    try:
        surface, findings = read_surface(launch.surface.read_bytes(), launch.name, launch.surface.name)
    except OSError as error:
        why = f"surface file `{escape(launch.surface.name)}` cannot be read: {escape(error.strerror or str(error))}"
        raise CaptureGap("unreachable", why, "correct `surface`, or create the file with `keel capture`") from error
    except InputErrors as error:
        raise CaptureGap("server-failed", error.message, "recreate the surface file with `keel capture`") from error
    return Captured(launch.name, surface, findings, pages=1)


_LOGGERS = ("anyio", "asyncio", "client", "httpcore2", "httpx2", "mcp")


@contextlib.contextmanager
def _silent_libraries() -> Iterator[None]:
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
