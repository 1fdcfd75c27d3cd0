"""Branches that run side by side: the first success, or the first k; the rest is cancelled and waited for."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from keel.authoring.port import Group, GroupStep
from keel.core.text import excerpt, words_of
from keel.errors import ToolCallError

Start = Callable[[], Awaitable[Any]]
"""Starts one branch."""


async def run_group(step: GroupStep, starts: Sequence[Start]) -> Any:
    """Run a group to its result.

    Whatever happens, every branch that was started has ended when this returns or raises.

    Args:
        step: which group, with its options.
        starts: one for each branch, in order; each is called at most once, from the running loop.

    Returns:
        The first success; for a quorum the first k, in the order of the branches.

    Raises:
        ToolCallError: if too few branches succeed; it names every branch's failure.
    """
    wanted = step.k or 1
    tasks: list[asyncio.Task[Any]] = []
    try:
        if step.kind is Group.HEDGE:
            won = await _hedged(starts, tasks, (step.after_ms or 0) / 1000)
        else:
            tasks.extend(_task(start) for start in starts)
            won = await _won(tasks, wanted)
    finally:
        await _ended(tasks)
    if len(won) < wanted:
        raise _failed(step, tasks)
    values = [task.result() for task in tasks if task in won]
    return values if step.kind is Group.QUORUM else values[0]


def _task(start: Start) -> asyncio.Task[Any]:
    async def branch() -> Any:
        return await start()

    return asyncio.create_task(branch())


def _succeeded(task: asyncio.Task[Any]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


async def _won(tasks: Sequence[asyncio.Task[Any]], wanted: int) -> list[asyncio.Task[Any]]:
    """Wait for the wanted number of successes; of those that end in one moment, the earlier branches count."""
    won: list[asyncio.Task[Any]] = []
    pending = set(tasks)
    while pending and len(won) < wanted:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        won += [task for task in tasks if task in done and _succeeded(task)]
        _raise_of_no_branch(done)
    return won[:wanted]


async def _hedged(starts: Sequence[Start], tasks: list[asyncio.Task[Any]], delay_s: float) -> list[asyncio.Task[Any]]:
    """Start a further branch when the earlier ones have not answered in time, or have all failed."""
    for start in starts:
        tasks.append(_task(start))
        last = len(tasks) == len(starts)
        pending = {task for task in tasks if not task.done()}
        deadline = asyncio.get_running_loop().time() + delay_s
        while pending:
            left = None if last else deadline - asyncio.get_running_loop().time()
            done, pending = await asyncio.wait(pending, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            _raise_of_no_branch(done)
            winner = next((task for task in tasks if _succeeded(task)), None)
            if winner is not None:
                return [winner]
            if not done and not last:
                break
    return []


def _raise_of_no_branch(done: set[asyncio.Task[Any]]) -> None:
    """Let through what is no failure of a branch: an exit, an interrupt."""
    for task in done:
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, Exception):
            raise error


async def _ended(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel what still runs and wait for its end, also when this wait is itself cancelled."""
    for task in tasks:
        task.cancel()
    interrupted: asyncio.CancelledError | None = None
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as error:
            interrupted = error
    for task in tasks:
        if not task.cancelled():
            task.exception()  # looked at, so that nobody warns of it
    if interrupted is not None:
        raise interrupted


def _failed(step: GroupStep, tasks: Sequence[asyncio.Task[Any]]) -> ToolCallError:
    errors = [None if task.cancelled() else task.exception() for task in tasks]
    told = "; ".join(f"branch {number}: {_told(error)}" for number, error in enumerate(errors, start=1))
    calls = [error for error in errors if isinstance(error, ToolCallError)]
    codes = {error.code if isinstance(error, ToolCallError) else "tool_failed" for error in errors}
    failure = ToolCallError(
        f"`{step.kind.value}` had too few successes ({told})",
        code=min(codes) if len(codes) == 1 else "tool_failed",
        retryable=len(calls) == len(errors) and all(error.retryable for error in calls),
    )
    for error in errors:
        if error is not None and failure.__cause__ is None:
            failure.__cause__ = error
    return failure


def _told(error: BaseException | None) -> str:
    if error is None:
        return "cancelled"
    message = error.message if isinstance(error, ToolCallError) else words_of(error)
    code = error.code if isinstance(error, ToolCallError) else type(error).__name__
    return excerpt(f"{code}: {message}", 200)


def close(branches: Sequence[Any]) -> None:
    """Close coroutines of branches that were never started."""
    for branch in branches:
        if inspect.iscoroutine(branch) and inspect.getcoroutinestate(branch) == inspect.CORO_CREATED:
            branch.close()
