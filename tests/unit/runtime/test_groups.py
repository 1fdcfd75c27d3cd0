"""Groups give the first successes, cancel the rest and wait for it; nothing is left behind."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from keel.authoring.port import Group, GroupStep
from keel.errors import ToolCallError
from keel.runtime.groups import close, run_group
from keel.runtime.threads import LoopThread, in_scope, wait_for


class Branch:
    """A branch that answers or fails after a time, and notes how it ended."""

    def __init__(self, after: float, value: Any = None, error: Exception | None = None) -> None:
        self.after, self.value, self.error = after, value, error
        self.ended = ""

    async def __call__(self) -> Any:
        try:
            await asyncio.sleep(self.after)
        except asyncio.CancelledError:
            await asyncio.sleep(0.02)  # a branch may need a moment to end
            self.ended = "cancelled"
            raise
        self.ended = "failed" if self.error else "done"
        if self.error:
            raise self.error
        return self.value


def run(kind: Group, branches: list[Branch], **options: Any) -> Any:
    async def main() -> Any:
        before = asyncio.all_tasks()
        try:
            return await run_group(GroupStep(kind, tuple(branches), **options), branches)
        finally:
            assert asyncio.all_tasks() == before

    return asyncio.run(main())


def lost(code: str = "timeout", *, retryable: bool = True) -> ToolCallError:
    return ToolCallError(f"{code} happened", code=code, retryable=retryable)


def test_race_gives_the_first_success_and_awaits_the_cancelled() -> None:
    branches = [Branch(5, "slow"), Branch(0.02, "quick"), Branch(0.01, error=lost())]
    assert run(Group.RACE, branches) == "quick"
    assert [branch.ended for branch in branches] == ["cancelled", "done", "failed"]


def test_of_two_that_end_together_the_earlier_branch_wins() -> None:
    assert run(Group.RACE, [Branch(0, "a"), Branch(0, "b")]) == "a"


def test_when_all_fail_every_failure_is_told() -> None:
    with pytest.raises(ToolCallError) as found:
        run(Group.RACE, [Branch(0, error=lost()), Branch(0.01, error=lost())])
    assert found.value.code == "timeout"
    assert found.value.retryable
    assert "branch 1: timeout" in found.value.message
    assert "branch 2: timeout" in found.value.message


def test_failures_of_different_kinds_have_the_general_code() -> None:
    with pytest.raises(ToolCallError) as found:
        run(Group.RACE, [Branch(0, error=lost()), Branch(0, error=ValueError("odd"))])
    assert found.value.code == "tool_failed"
    assert not found.value.retryable
    assert "ValueError: odd" in found.value.message


def test_hedge_starts_a_branch_only_when_it_is_needed() -> None:
    branches = [Branch(0.01, "first"), Branch(0, "never")]
    assert run(Group.HEDGE, branches, after_ms=200) == "first"
    assert branches[1].ended == ""
    branches = [Branch(5, "slow"), Branch(0.01, "second")]
    begun = time.monotonic()
    assert run(Group.HEDGE, branches, after_ms=50) == "second"
    assert time.monotonic() - begun >= 0.05
    assert [branch.ended for branch in branches] == ["cancelled", "done"]


def test_hedge_does_not_wait_after_a_failure() -> None:
    begun = time.monotonic()
    assert run(Group.HEDGE, [Branch(0, error=lost()), Branch(0, "b")], after_ms=5000) == "b"
    assert time.monotonic() - begun < 2


def test_quorum_gives_values_in_the_order_of_the_branches() -> None:
    branches = [Branch(0.05, "a"), Branch(5, "b"), Branch(0.01, "c")]
    assert run(Group.QUORUM, branches, k=2) == ["a", "c"]
    assert branches[1].ended == "cancelled"


def test_quorum_fails_when_too_few_succeed() -> None:
    with pytest.raises(ToolCallError, match="too few"):
        run(Group.QUORUM, [Branch(0, "a"), Branch(0, error=lost())], k=2)


def test_an_outer_cancellation_waits_for_every_branch() -> None:
    branches = [Branch(5), Branch(5)]

    async def main() -> None:
        task = asyncio.create_task(run_group(GroupStep(Group.RACE, tuple(branches)), branches))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [branch.ended for branch in branches] == ["cancelled", "cancelled"]

    asyncio.run(main())


def test_an_interrupt_of_a_branch_is_no_failure() -> None:
    class Stop(BaseException):
        pass

    async def stops() -> None:
        raise Stop

    other = Branch(5)

    async def main() -> None:
        await run_group(GroupStep(Group.RACE, (stops, other)), [stops, other])

    with pytest.raises(Stop):
        asyncio.run(main())
    assert other.ended == "cancelled"


def threads() -> set[str]:
    return {item.name for item in threading.enumerate() if item.name.startswith("keel-flow")}


def test_branches_in_threads_are_cancelled_at_their_step_and_joined() -> None:
    owner = LoopThread()
    steps = {"slow": Branch(5, "slow"), "quick": Branch(0.02, "quick")}
    ended: list[str] = []

    def flow(name: str) -> Callable[[], Any]:
        def work() -> Any:
            try:
                return wait_for(steps[name](), owner.loop)
            finally:
                ended.append(name)

        return work

    starts: list[Callable[[], Awaitable[Any]]] = [
        lambda name=name: in_scope(flow(name))
        for name in steps  # type: ignore[misc]
    ]
    found = wait_for(run_group(GroupStep(Group.RACE, tuple(starts)), starts), owner.loop)
    assert found == "quick"
    assert sorted(ended) == ["quick", "slow"]
    assert steps["slow"].ended == "cancelled"
    owner.close()
    assert not threads()


def test_a_cancelled_thread_makes_no_further_step() -> None:
    owner = LoopThread()
    made: list[str] = []

    async def step(name: str) -> None:
        made.append(name)
        await asyncio.sleep(0)

    begun = threading.Event()

    def work() -> None:
        begun.set()
        time.sleep(0.1)  # plain Python cannot be interrupted; the step after it is refused
        wait_for(step("late"), owner.loop)

    async def main() -> None:
        task = asyncio.create_task(in_scope(work))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        wait_for(main(), owner.loop)
    assert made == []
    owner.close()


def test_coroutines_that_were_never_started_are_closed() -> None:
    coroutine = Branch(0)()
    close([coroutine, object()])
    with pytest.raises(RuntimeError):
        coroutine.send(None)
