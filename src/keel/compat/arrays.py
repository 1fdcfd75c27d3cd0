"""Is there an array: rules per position, items that must exist, counts, size and uniqueness.

A rule for a range of positions binds every item there; its complement is a duty, an item that must stand in the range.
Positions after the last one that any rule names are alike, so lengths beyond those plus one per duty bring nothing new.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from keel.compat.distinct import choose
from keel.compat.interface import Json
from keel.compat.nodes import FALSE, TRUE, CountLeast, CountMost, Lit, Slot, Tail, Unique, Values
from keel.compat.outcome import EMPTY, UNKNOWN, Asking, Atoms, Outcome, Status, found
from keel.compat.sizes import Sizes

_Goal: TypeAlias = frozenset[Lit]
_Side: TypeAlias = tuple[bool, ...]
MAX_LENGTH = 300
MAX_PADDING = 20_000
MAX_DUTIES = 40


@dataclass(frozen=True, slots=True)
class _Range:
    start: int
    stop: int | None
    item: Lit
    group: int = -1
    """Duties of one group need different positions."""


@dataclass
class _Rules:
    sizes: Sizes = field(default_factory=Sizes)
    every: list[_Range] = field(default_factory=list)
    duties: list[_Range] = field(default_factory=list)
    limits: list[tuple[Lit, int]] = field(default_factory=list)
    unique: bool = False
    repeated: bool = False
    unsure: bool = False

    def bind(self, start: int, stop: int | None, item: Lit, *, positive: bool) -> None:
        """A rule for every item of a range, or the duty that some item there breaks it."""
        if positive:
            self.every.append(_Range(start, stop, item))
        else:
            self.duties.append(_Range(start, stop, -item, -1 - len(self.duties)))

    def count_least(self, item: Lit, count: int) -> None:
        if item == TRUE or count > MAX_DUTIES:
            self.sizes.at_least(count)
            self.unsure = self.unsure or item != TRUE
        else:
            group = len(self.duties)
            self.duties.extend(_Range(0, None, item, group) for _ in range(count))

    def count_most(self, item: Lit, count: int) -> None:
        if item == TRUE or count < 0:
            self.sizes.at_most(count)
        elif count == 0:
            self.every.append(_Range(0, None, -item))
        elif item != FALSE:
            self.limits.append((item, count))

    def distinct(self, *, positive: bool) -> None:
        """All items differ, or two are equal."""
        if positive:
            self.unique = True
        else:
            self.repeated = True
            self.sizes.at_least(2)


def _gather(atoms: Atoms) -> _Rules:
    rules = _Rules()
    for node, positive in atoms:
        if rules.sizes.take(node, positive=positive):
            continue
        match node:
            case Slot(index, item):
                rules.bind(index, index + 1, item, positive=positive)
            case Tail(start, item):
                rules.bind(start, None, item, positive=positive)
            case CountLeast(item, count):
                rules.count_least(item, count) if positive else rules.count_most(item, count - 1)
            case CountMost(item, count):
                rules.count_most(item, count) if positive else rules.count_least(item, count + 1)
            case Unique():
                rules.distinct(positive=positive)
            case Values():
                pass  # the solver has a clause for each excluded array
            case _:
                rules.unsure = True
    return rules


def solve(solver: Asking, atoms: Atoms) -> Outcome:
    """Whether an array satisfies all assertions."""
    rules = _gather(atoms)
    if rules.sizes.empty or (rules.unique and rules.repeated):
        return EMPTY
    return _Arrays(solver, rules).solve()


class _Arrays:
    def __init__(self, solver: Asking, rules: _Rules) -> None:
        self.solver = solver
        self.rules = rules
        ranges = rules.every + rules.duties
        self.named = max((r.stop if r.stop is not None else r.start for r in ranges), default=0)
        self.open = rules.unsure
        """Whether something met on the way was not decided, so that failure is no proof."""

    def goal(self, position: int) -> _Goal:
        return frozenset(
            r.item for r in self.rules.every if r.start <= position and (r.stop is None or position < r.stop)
        )

    def solve(self) -> Outcome:
        rules = self.rules
        if self.named > MAX_LENGTH:
            return UNKNOWN
        high = rules.sizes.high
        for position in range(self.named + 1):
            if high is not None and position >= high:
                break
            if self.solver.sat(self.goal(position)).empty:
                high = position
                break
        if high is not None and rules.sizes.low > high:
            return EMPTY
        most = max(rules.sizes.low, self.named + len(rules.duties) + (2 if rules.repeated else 0))
        most = most if high is None else min(most, high)
        if not rules.limits and not rules.unique:
            return self._result(self._padded(most))
        if rules.sizes.low > MAX_LENGTH:
            return UNKNOWN
        for length in range(rules.sizes.low, most + 1):
            value = self._attempt(length)
            if value is not None:
                return self._result(value)
        return self._result(None)

    def _result(self, value: list[Json] | None) -> Outcome:
        if value is None:
            return UNKNOWN if self.open else EMPTY
        return found(value, sure=not self.open)

    def _padded(self, most: int) -> list[Json] | None:
        """Try the positions that rules tell apart, and fill a longer array with copies of the last."""
        low = self.rules.sizes.low
        short = min(most, self.named + len(self.rules.duties) + (2 if self.rules.repeated else 1))
        if low <= short:
            return self._attempt(most)
        if low > MAX_PADDING:
            self.open = True
            return None
        self.rules.sizes.low = short
        head, tail = self._attempt(short), self._values([self.goal(self.named)], None)
        return None if head is None or tail is None else head + tail * (low - len(head))

    def _attempt(self, length: int) -> list[Json] | None:
        goals = [self.goal(min(position, self.named)) for position in range(length)]
        for placed, needed in self._place(0, goals, [set() for _ in goals]):
            self.solver.budget.spend()
            for linked, pair in self._repeat(placed):
                value = self._fill(linked, pair, needed)
                if value is not None:
                    return value
        return None

    def _place(self, index: int, goals: list[_Goal], groups: list[set[int]]) -> Iterator[tuple[list[_Goal], int]]:
        """Every way to give the duties positions: the goals then, and the length that the duties need."""
        if index == len(self.rules.duties):
            yield list(goals), max((at + 1 for at, used in enumerate(groups) if used), default=0)
            return
        duty = self.rules.duties[index]
        stop = len(goals) if duty.stop is None else min(duty.stop, len(goals))
        for position in range(duty.start, stop):
            if duty.group in groups[position]:
                continue
            before = goals[position]
            merged = before | {duty.item}
            if not self.solver.sat(merged).empty:
                goals[position] = merged
                groups[position].add(duty.group)
                yield from self._place(index + 1, goals, groups)
                groups[position].discard(duty.group)
                goals[position] = before
            if position >= self.named and not groups[position]:
                break  # all later positions are like this one

    def _repeat(self, goals: list[_Goal]) -> Iterator[tuple[list[_Goal], tuple[int, int] | None]]:
        if not self.rules.repeated:
            yield goals, None
            return
        for first in range(len(goals)):
            for second in range(first + 1, len(goals)):
                merged = goals[first] | goals[second]
                if not self.solver.sat(merged).empty:
                    linked = list(goals)
                    linked[first] = linked[second] = merged
                    yield linked, (first, second)

    def _fill(self, goals: list[_Goal], pair: tuple[int, int] | None, needed: int) -> list[Json] | None:
        for counted in self._count(goals, [], (), pair):
            if self.rules.unique:
                status, values = choose(self.solver, counted)
                self.open = self.open or status is Status.UNKNOWN
                if len(values) == len(counted):
                    return values
                continue
            needed = max(self.rules.sizes.low, needed, 0 if pair is None else pair[1] + 1)
            filled = self._values(counted[: needed if not self.rules.limits else None], pair)
            if filled is not None:
                return filled
        return None

    def _count(
        self, plain: list[_Goal], decided: list[_Goal], sides: tuple[_Side, ...], pair: tuple[int, int] | None
    ) -> Iterator[list[_Goal]]:
        """Every way to say for each item and limit whether it counts, within the limits; fewest counted first."""
        self.solver.budget.spend()
        position = len(decided)
        if not self.rules.limits or position == len(plain):
            yield plain if not self.rules.limits else decided
            return
        for side in product((False, True), repeat=len(self.rules.limits)):
            if pair is not None and position == pair[1] and side != sides[pair[0]]:
                continue  # equal items count alike
            if pair is None and position and plain[position] == plain[position - 1] and side < sides[-1]:
                continue  # the same as with two like positions exchanged
            after = (*sides, side)
            counts = [sum(column) for column in zip(*after, strict=True)]
            if any(count > limit for count, (_, limit) in zip(counts, self.rules.limits, strict=True)):
                continue
            literals = {item if yes else -item for yes, (item, _) in zip(side, self.rules.limits, strict=True)}
            goal = plain[position] | literals
            if not self.solver.sat(goal).empty:
                yield from self._count(plain, [*decided, goal], after, pair)

    def _values(self, goals: list[_Goal], pair: tuple[int, int] | None) -> list[Json] | None:
        values: list[Json] = []
        for goal in goals:
            outcome = self.solver.sat(goal)
            if not outcome.values:
                self.open = True
                return None
            self.open = self.open or not outcome.found
            values.extend(outcome.values)
        if pair is not None:
            values[pair[1]] = values[pair[0]]
        return values
