"""The rate of calls: a burst, then a steady flow, and never more."""

from __future__ import annotations

from keel.gateway.rate import Rate
from tests.fakes.ports import FixedClock


def test_a_burst_then_a_steady_flow() -> None:
    clock = FixedClock()
    rate = Rate(2, clock)
    assert [rate.take() for _ in range(21)] == [True] * 20 + [False]
    clock.advance(0.5)
    assert [rate.take(), rate.take()] == [True, False]
    clock.advance(3600)
    assert [rate.take() for _ in range(21)] == [True] * 20 + [False]


def test_zero_is_any_number() -> None:
    assert all(Rate(0, FixedClock()).take() for _ in range(10_000))
