"""Counters of a run hold however many threads count."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from keel.core.model import Budget
from keel.runtime.budget import BudgetError, RunState
from tests.unit.runtime.world import World, manifest, world


@pytest.fixture
def made() -> World:
    return world(manifest(budget=Budget(tokens=1000)))


def test_threads_never_exceed_max_calls(made: World) -> None:
    run = RunState(made.bundle, made.clock)

    def begin(number: int) -> bool:
        try:
            return run.begin("t", str(number), 100)
        except BudgetError:
            return False

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(begin, range(500))) == 100
    assert run.calls == {"t": 100}


def test_a_retry_counts_nothing_and_what_was_not_done_is_taken_back(made: World) -> None:
    run = RunState(made.bundle, made.clock)
    assert [run.begin("t", "a", 1), run.begin("t", "a", 1)] == [True, False]
    with pytest.raises(BudgetError) as caught:
        run.begin("t", "b", 1)
    assert (caught.value.limit, caught.value.allowed) == ("max_calls", 1)
    run.forget("a")
    run.forget("a")
    assert run.begin("t", "b", 1)
    assert run.calls == {"t": 1}


def test_no_limit_is_any_number(made: World) -> None:
    run = RunState(made.bundle, made.clock)
    assert all(run.begin("t", str(number), None) for number in range(100))
    assert run.remaining_s() is None


def test_charges_of_threads_add_up(made: World) -> None:
    run = RunState(made.bundle, made.clock)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: run.charge(tokens=1, cost_usd=0.5), range(999)))
    assert (run.tokens, run.cost_usd) == (999, 499.5)
    run.check()
    run.charge(tokens=1)
    with pytest.raises(BudgetError, match="`tokens`"):
        run.check()


def test_max_calls_of_zero_admits_none(made: World) -> None:
    with pytest.raises(BudgetError):
        RunState(made.bundle, made.clock).begin("t", "a", 0)
