"""Branches that compete or vote: `race`, `hedge` and `quorum`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from keel.authoring.options import InvalidOption, check_seconds
from keel.authoring.port import Group, GroupStep, required
from keel.core.text import excerpt
from keel.errors import KeelError

Branch = Awaitable[Any] | Callable[[], Any]
"""An un-awaited call, or in a sync flow a callable without parameters: `lambda: a(x)`."""


def race(*branches: Branch) -> Any:
    """Run branches side by side and take the first success; the others are cancelled.

    Args:
        branches: at least two un-awaited calls, or in a sync flow `lambda: a(x)`.

    Raises:
        NoRuntime: outside a runtime.
        InvalidOption: if a branch is neither.
        ToolCallError: if every branch fails.
    """
    return _run(GroupStep(Group.RACE, branches))


def hedge(*branches: Branch, after_ms: float) -> Any:
    """Start each further branch only if no earlier one has answered in time, and take the first success.

    Args:
        branches: at least two un-awaited calls, or in a sync flow `lambda: a(x)`.
        after_ms: milliseconds between the starts.

    Raises:
        NoRuntime: outside a runtime.
        InvalidOption: if a branch is neither, or `after_ms` is not positive.
        ToolCallError: if every branch fails.
    """
    return _run(GroupStep(Group.HEDGE, branches, after_ms=after_ms))


def quorum(*branches: Branch, k: int) -> Any:
    """Run branches side by side and take the first `k` successes, in the order of the branches.

    Args:
        branches: at least two un-awaited calls, or in a sync flow `lambda: a(x)`.
        k: how many successes are needed, from 1 to the number of branches.

    Raises:
        NoRuntime: outside a runtime.
        InvalidOption: if a branch is neither, or `k` is out of range.
        ToolCallError: if fewer than `k` branches succeed.
    """
    return _run(GroupStep(Group.QUORUM, branches, k=k))


def _run(step: GroupStep) -> Any:
    try:
        _check(step)
        port = required(f"`{step.kind.value}`")
    except KeelError:
        _close(step.branches)
        raise
    return port.group(step)


def _check(step: GroupStep) -> None:
    kind = step.kind.value
    if len(step.branches) < 2:
        raise InvalidOption(f"`{kind}` needs at least two branches, not {len(step.branches)}")
    for index, branch in enumerate(step.branches, start=1):
        if not inspect.isawaitable(branch) and not callable(branch):
            raise InvalidOption(
                f"branch {index} of `{kind}` is a `{type(branch).__name__}`: the call has already been made",
                hint="in an async flow leave the call un-awaited; in a sync flow write `lambda: a(x)`",
            )
    if step.kind is Group.HEDGE:
        check_seconds("after_ms", step.after_ms)
    count = step.k
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count not in _votes(step)):
        shown = excerpt(repr(count))
        raise InvalidOption(f"`k` of `quorum` must be from 1 to the {len(step.branches)} branches, not `{shown}`")


def _votes(step: GroupStep) -> range:
    return range(1, len(step.branches) + 1)


def _close(branches: tuple[Any, ...]) -> None:
    """Close coroutines that will never be awaited, so that Python does not warn of each beside the real error."""
    for branch in branches:
        if inspect.iscoroutine(branch):
            branch.close()
