"""Is there a number: exact rational intervals, steps, forbidden steps and excluded values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, islice

from keel.compat.nodes import Least, Most, Step, Values
from keel.compat.outcome import EMPTY, UNKNOWN, Atoms, Outcome, found
from keel.compat.values import exact, number

MAX_SCAN = 4000
PLAIN_TRIES = 100
"""Further candidates to look at for a number that every validator judges alike."""


@dataclass
class _Range:
    low: Fraction | None = None
    low_strict: bool = False
    high: Fraction | None = None
    high_strict: bool = False
    steps: list[Fraction] = field(default_factory=list)
    off_steps: list[Fraction] = field(default_factory=list)
    excluded: set[Fraction] = field(default_factory=set)

    def at_least(self, bound: Fraction, *, strict: bool) -> None:
        if self.low is None or bound > self.low:
            self.low, self.low_strict = bound, strict
        elif bound == self.low:
            self.low_strict = self.low_strict or strict

    def at_most(self, bound: Fraction, *, strict: bool) -> None:
        if self.high is None or bound < self.high:
            self.high, self.high_strict = bound, strict
        elif bound == self.high:
            self.high_strict = self.high_strict or strict

    def plain(self, x: Fraction) -> bool:
        """Whether binary floating point agrees about the steps: some validators find 0.3 to be no multiple of 0.1."""
        try:
            return all(
                (float(x) / float(step)).is_integer() is ((x / step).denominator == 1)
                for step in (*self.steps, *self.off_steps)
            )
        except (OverflowError, ZeroDivisionError):
            return False

    @property
    def crossed(self) -> bool:
        """Whether the bounds leave nothing between them."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_strict or self.high_strict))

    def multiples(self, step: Fraction) -> tuple[int | None, int | None]:
        """The least and greatest k with k * step between the bounds."""
        low = None if self.low is None else math.ceil(self.low / step)
        high = None if self.high is None else math.floor(self.high / step)
        if low is not None and self.low_strict and low * step == self.low:
            low += 1
        if high is not None and self.high_strict and high * step == self.high:
            high -= 1
        return low, high

    def contains(self, x: Fraction) -> bool:
        if self.low is not None and (x < self.low or (self.low_strict and x == self.low)):
            return False
        if self.high is not None and (x > self.high or (self.high_strict and x == self.high)):
            return False
        return x not in self.excluded and all((x / step).denominator != 1 for step in self.off_steps)


def solve(atoms: Atoms) -> Outcome:
    """Whether a number satisfies all assertions."""
    rule = _Range()
    unsure = False
    for node, positive in atoms:
        match node:
            case Least(bound, strict):
                rule.at_least(bound, strict=strict) if positive else rule.at_most(bound, strict=not strict)
            case Most(bound, strict):
                rule.at_most(bound, strict=strict) if positive else rule.at_least(bound, strict=not strict)
            case Step(step):
                (rule.steps if positive else rule.off_steps).append(step)
            case Values(_, values):
                rule.excluded.update(x for value in values if (x := exact(value)) is not None)
            case _:
                unsure = True
    if rule.crossed:
        return EMPTY
    outcome = _stepped(rule, _lcm(rule.steps)) if rule.steps else _dense(rule)
    return found(outcome.values[0], sure=outcome.found and not unsure) if outcome.values else outcome


def _lcm(steps: list[Fraction]) -> Fraction:
    result = steps[0]
    for step in steps[1:]:
        result = Fraction(math.lcm(result.numerator, step.numerator), math.gcd(result.denominator, step.denominator))
    return result


def _give(x: Fraction) -> Outcome:
    value = number(x)
    return UNKNOWN if value is None else found(value)


def _stepped(rule: _Range, step: Fraction) -> Outcome:
    # x = k * step; k is a multiple of v exactly when x is a multiple of the forbidden step.
    periods = [(step / off).denominator for off in rule.off_steps]
    if 1 in periods:
        return EMPTY
    low, high = rule.multiples(step)
    if low is not None and high is not None and low > high:
        return EMPTY
    fitting = (k * step for k in _near_zero(low, high) if rule.contains(k * step))
    first = next(fitting, None)
    if first is not None:
        return _give(next((x for x in chain((first,), islice(fitting, PLAIN_TRIES)) if rule.plain(x)), first))
    # Multiples near each other cannot all be forbidden, so only very long exclusion lists get here with values left.
    return EMPTY if low is not None and high is not None and high - low < MAX_SCAN else UNKNOWN


def _near_zero(low: int | None, high: int | None) -> Iterator[int]:
    start = max(low, 0) if low is not None else 0
    start = min(start, high) if high is not None else start
    yield start
    for distance in range(1, MAX_SCAN + 1):
        if high is None or start + distance <= high:
            yield start + distance
        if low is None or start - distance >= low:
            yield start - distance


def _dense(rule: _Range) -> Outcome:
    if rule.low is not None and rule.low == rule.high:
        return _give(rule.low) if rule.contains(rule.low) else EMPTY
    for x in _candidates(rule.low, rule.high, len(rule.excluded)):
        if rule.contains(x) and number(x) is not None:
            return _give(x)
    return UNKNOWN


def _candidates(low: Fraction | None, high: Fraction | None, excluded: int) -> Iterator[Fraction]:
    half = Fraction(1, 2)
    anchors = [x for x in (low, high) if x is not None] or [Fraction(0)]
    yield from (Fraction(x) for x in (0, 1, -1))
    for anchor in anchors:
        for base in (anchor, Fraction(math.floor(anchor)), Fraction(math.ceil(anchor))):
            yield from (base + shift for shift in (0, 1, -1, half, -half))
    if low is not None and high is not None:
        for depth in range(1, 11):
            parts = 1 << depth
            yield from (low + (high - low) * index / parts for index in range(1, parts, 2))
    else:
        floor = math.floor(anchors[0])
        for shift in range(excluded + 60):
            for quarter in (Fraction(0), Fraction(1, 4), half, Fraction(1, 10), Fraction(1, 1000)):
                yield from (floor + shift + quarter, floor - shift - quarter)
