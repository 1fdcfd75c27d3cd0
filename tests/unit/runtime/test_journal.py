"""A durable unit is the same whenever a run comes to the same step again."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.runtime.journal import RunJournal

STEPS = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 2), st.booleans()), max_size=12)


def walk(journal: RunJournal, steps: list[tuple[str, int, bool]]) -> list[str]:
    found = []
    for site, what, fails in steps:
        with contextlib.suppress(KeyError), journal.unit(site, what) as unit:
            found.append(unit.id)
            _ = {False: "done"}[fails]
    return found


@given(STEPS)
def test_the_same_steps_are_the_same_units(steps: list[tuple[str, int, bool]]) -> None:
    assert walk(RunJournal("r"), steps) == walk(RunJournal("r"), steps)


@given(STEPS)
def test_no_two_completed_steps_share_a_unit(steps: list[tuple[str, int, bool]]) -> None:
    units = walk(RunJournal("r"), steps)
    done = [unit for unit, (_, _, fails) in zip(units, steps, strict=True) if not fails]
    assert len(done) == len(set(done))


def test_a_failed_step_is_repeated_as_the_same_unit() -> None:
    first, second, third = walk(RunJournal("r"), [("a", 1, True), ("a", 1, False), ("a", 1, False)])
    assert first == second != third


def test_steps_side_by_side_are_different_units() -> None:
    journal = RunJournal("r")
    with journal.unit("a", 1) as one, journal.unit("a", 1) as other:
        assert (one.occurrence, other.occurrence) == (0, 1)


def test_another_run_has_other_units() -> None:
    assert walk(RunJournal("r"), [("a", 1, False)]) != walk(RunJournal("s"), [("a", 1, False)])


def test_an_interrupt_gives_the_unit_back() -> None:
    journal = RunJournal("r")
    with pytest.raises(KeyboardInterrupt), journal.unit("a", 1) as first:
        raise KeyboardInterrupt
    with journal.unit("a", 1) as second:
        assert first == second
