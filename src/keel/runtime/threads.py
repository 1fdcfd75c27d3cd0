"""Sync flows: plain functions in threads of their own, each step of which waits for the loop and can be cancelled."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import math
import threading
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Scope:
    """What cancels the steps of one thread."""

    cancelled: bool = False
    task: asyncio.Task[Any] | None = None
    """The step that the thread waits for."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def cancel(self) -> None:
        """Cancel the step under way, and refuse every further one; to be called in the loop."""
        with self.lock:
            self.cancelled = True
            task = self.task
        if task is not None:
            task.cancel()


ABANDONED_S = 5.0
"""How long a cancelled function may go on with plain Python, in seconds; it can make no step any more."""

_SCOPE: ContextVar[Scope | None] = ContextVar("keel_scope", default=None)


async def in_scope(function: Callable[[], Any], *, patience_s: float = ABANDONED_S) -> Any:
    """Run a function that makes steps in a thread of its own, and wait for it.

    When this is cancelled the function's next step raises `asyncio.CancelledError`, and so does the one under way;
    this returns only once the function has ended, or `patience_s` later: Python cannot stop a thread, and one that
    never asks keel for anything would keep everybody waiting.
    """
    loop = asyncio.get_running_loop()
    scope = Scope()
    ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        value: Any = None
        error: BaseException | None = None
        try:
            context.run(_SCOPE.set, scope)
            value = context.run(function)
        except BaseException as raised:  # noqa: BLE001 - handed to whoever waits
            error = raised
        with contextlib.suppress(RuntimeError):  # abandoned, and the loop is closed
            loop.call_soon_threadsafe(ended.set_result, (value, error))

    threading.Thread(target=work, name="keel-flow", daemon=True).start()
    cancelled: asyncio.CancelledError | None = None
    until = math.inf
    while not ended.done() and loop.time() < until:
        try:
            await asyncio.wait({ended}, timeout=None if cancelled is None else until - loop.time())
        except asyncio.CancelledError as raised:
            until = min(until, loop.time() + patience_s)
            cancelled = raised
            scope.cancel()
    if cancelled is not None:
        raise cancelled
    value, error = ended.result()
    if error is not None:
        raise error
    return value


def wait_for(coroutine: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> Any:
    """Run a coroutine in another thread's loop and wait for its end; its context is a copy of this thread's.

    Raises:
        CancelledError: of `asyncio`, if the thread's scope is cancelled; the coroutine has ended by then.
    """
    scope = _SCOPE.get() or Scope()
    done: concurrent.futures.Future[Any] = concurrent.futures.Future()
    context = contextvars.copy_context()

    def start() -> None:
        with scope.lock:
            if scope.cancelled:
                coroutine.close()
                done.set_exception(asyncio.CancelledError())
                return
            task = loop.create_task(coroutine, context=context)
            scope.task = task
        task.add_done_callback(lambda ended: _settle(ended, scope, done))

    loop.call_soon_threadsafe(start)
    try:
        return done.result()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(scope.cancel)
        concurrent.futures.wait([done])
        raise


def _settle(task: asyncio.Task[Any], scope: Scope, done: concurrent.futures.Future[Any]) -> None:
    scope.task = None
    if task.cancelled():
        done.set_exception(asyncio.CancelledError())
        return
    error = task.exception()
    if error is not None:
        done.set_exception(error)
    else:
        done.set_result(task.result())


async def across(coroutine: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> Any:
    """Await a coroutine in its own loop: here if that is the running one, else in the thread that runs it."""
    if asyncio.get_running_loop() is loop:
        return await coroutine
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))


class LoopThread:
    """A loop in a thread of its own, for sync code that has none."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="keel-loop", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Cancel what still runs, and end the thread."""
        asyncio.run_coroutine_threadsafe(_cancel_others(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
