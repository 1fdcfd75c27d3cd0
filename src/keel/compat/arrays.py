"""Is there an array: rules per position, items that must exist, counts, size and uniqueness.

A rule for a range of positions binds every item there; its complement is a duty, an item that must stand in the range.
Positions after the last one that any rule names are alike, so lengths beyond those plus one per duty bring nothing new.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from keel.compat.distinct import choose
from keel.compat.interface import Json
from keel.compat.nodes import FALSE, TRUE, AtLeast, AtMost, CountLeast, CountMost, Lit, Slot, Tail, Unique, Values
from keel.compat.outcome import EMPTY, UNKNOWN, Asking, Atoms, Outcome, Status, found

_Goal: TypeAlias = frozenset[Lit]
MAX_LENGTH = 300
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
    low: int = 0
    high: int | None = None
    every: list[_Range] = field(default_factory=list)
    duties: list[_Range] = field(default_factory=list)
    limits: list[tuple[Lit, int]] = field(default_factory=list)
    unique: bool = False
    repeated: bool = False
    unsure: bool = False

    def at_most(self, count: int) -> None:
        self.high = count if self.high is None else min(self.high, count)

    def count_least(self, item: Lit, count: int) -> None:
        if item == TRUE:
            self.low = max(self.low, count)
        elif count > MAX_DUTIES:
            self.low, self.unsure = max(self.low, count), True
        else:
            group = len(self.duties)
            self.duties.extend(_Range(0, None, item, group) for _ in range(count))

    def count_most(self, item: Lit, count: int) -> None:
        if item == TRUE or count < 0:
            self.at_most(count)
        elif count == 0:
            self.every.append(_Range(0, None, -item))
        elif item != FALSE:
            self.limits.append((item, count))


def _gather(atoms: Atoms) -> _Rules:
    rules = _Rules()
    for node, positive in atoms:
        match node:
            case AtLeast(_, count) if positive:
                rules.low = max(rules.low, count)
            case AtLeast(_, count):
                rules.at_most(count - 1)
            case AtMost(_, count) if positive:
                rules.at_most(count)
            case AtMost(_, count):
                rules.low = max(rules.low, count + 1)
            case Slot(index, item) if positive:
                rules.every.append(_Range(index, index + 1, item))
            case Slot(index, item):
                rules.duties.append(_Range(index, index + 1, -item, -1 - len(rules.duties)))
            case Tail(start, item) if positive:
                rules.every.append(_Range(start, None, item))
            case Tail(start, item):
                rules.duties.append(_Range(start, None, -item, -1 - len(rules.duties)))
            case CountLeast(item, count):
                rules.count_least(item, count) if positive else rules.count_most(item, count - 1)
            case CountMost(item, count):
                rules.count_most(item, count) if positive else rules.count_least(item, count + 1)
            case Unique() if positive:
                rules.unique = True
            case Unique():
                rules.repeated = True
                rules.low = max(rules.low, 2)
            case Values():
                pass  # the solver has a clause for each excluded array
            case _:
                rules.unsure = True
    return rules


def solve(solver: Asking, atoms: Atoms) -> Outcome:
    """Whether an array satisfies all assertions."""
    rules = _gather(atoms)
    if (rules.unique and rules.repeated) or (rules.high is not None and rules.low > rules.high):
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
        high = rules.high
        for position in range(self.named + 1):
            if high is not None and position >= high:
                break
            if self.solver.sat(self.goal(position)).empty:
                high = position
                break
        if high is not None and rules.low > high:
            return EMPTY
        most = max(rules.low, self.named + len(rules.duties) + (2 if rules.repeated else 0))
        most = most if high is None else min(most, high)
        if rules.low > MAX_LENGTH:
            return UNKNOWN
        if not rules.limits and not rules.unique:
            return self._result(self._attempt(most))
        for length in range(rules.low, most + 1):
            value = self._attempt(length)
            if value is not None:
                return self._result(value)
        return self._result(None)

    def _result(self, value: list[Json] | None) -> Outcome:
        if value is None:
            return UNKNOWN if self.open else EMPTY
        return found(value, sure=not self.open)

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
        for item, limit in self.rules.limits:
            counted = 0
            for position, goal in enumerate(goals):
                without = goal | {-item}
                if self.solver.sat(without).empty:
                    counted += 1
                else:
                    goals[position] = without
            if counted > limit:
                # With several limits or a linked pair the choice of who is counted is not searched.
                self.open = self.open or len(self.rules.limits) > 1 or pair is not None
                return None
        if self.rules.unique:
            status, values = choose(self.solver, goals)
            self.open = self.open or status is Status.UNKNOWN
            return values if len(values) == len(goals) else None
        needed = max(self.rules.low, needed, 0 if pair is None else pair[1] + 1)
        return self._values(goals[: needed if not self.rules.limits else None], pair)

    def _values(self, goals: list[_Goal], pair: tuple[int, int] | None) -> list[Json] | None:
        values = []
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
