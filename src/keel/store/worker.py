"""One thread that writes for an event loop: what waits is carried out together, so that one fsync serves many."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from keel.runtime.ports import StoreUnavailable

W = TypeVar("W")

MOST = 256
"""How many pieces of work share one turn."""


@dataclass(slots=True, eq=False)
class _Job(Generic[W]):
    work: W
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class Worker(Generic[W]):
    """Hands work from event loops to one thread; a caller that gives up waiting does not undo the work.

    Args:
        name: of the thread.
        carry_out: called in the thread with all work that waits, oldest first; returns for each its value, or the
            exception to raise, and raises nothing itself.
    """

    def __init__(self, name: str, carry_out: Callable[[Sequence[W]], Sequence[object]]) -> None:
        self._carry_out = carry_out
        self._queue: SimpleQueue[_Job[W] | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def do(self, work: W) -> Any:
        """Have the work carried out and return its value.

        Raises:
            StoreUnavailable: if the worker is closed.
        """
        if self._closed:
            raise StoreUnavailable("the store has been closed", hint="open it again")
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        self._queue.put(job)
        return await job.future

    def close(self) -> None:
        """Carry out what waits, and end the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            jobs, ended = [first], False
            with suppress(Empty):
                while len(jobs) < MOST and not ended:
                    following = self._queue.get_nowait()
                    ended = following is None
                    if following is not None:
                        jobs.append(following)
            _deliver(jobs, self._carry_out([job.work for job in jobs]))
            if ended:
                return


def _deliver(jobs: Sequence[_Job[W]], outcomes: Sequence[object]) -> None:
    """Wake each loop once, with all that concerns it."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], object]]] = {}
    for job, outcome in zip(jobs, outcomes, strict=True):
        by_loop.setdefault(job.loop, []).append((job.future, outcome))
    for loop, answers in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_answer, answers)


def _answer(answers: list[tuple[asyncio.Future[Any], object]]) -> None:
    for future, outcome in answers:
        if future.done():  # whoever waited was cancelled
            continue
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
