"""Pairwise different values for several goals, or the proof that there are too few."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

from keel.compat.interface import Json
from keel.compat.nodes import Lit
from keel.compat.outcome import Asking, Status
from keel.compat.values import key

MAX_POSITIONS = 200

_Domain: TypeAlias = dict[Hashable, Json]
"""The values of one goal by their keys."""


def choose(solver: Asking, goals: Sequence[frozenset[Lit]]) -> tuple[Status, list[Json]]:
    """Different values for all goals, by bipartite matching; a goal with as many values as goals exist never blocks."""
    if len(goals) > MAX_POSITIONS:
        return Status.UNKNOWN, []
    domains: dict[frozenset[Lit], _Domain] = {}
    sure = True
    for goal in dict.fromkeys(goals):
        values, exact = enumerate_values(solver, goal, len(goals))
        domains[goal] = {key(value): value for value in values}
        sure = sure and exact
    owners = _match([domains[goal] for goal in goals])
    if owners is None:
        return (Status.EMPTY if sure else Status.UNKNOWN), []
    marks = {index: mark for mark, index in owners.items()}
    chosen = [domains[goal][marks[index]] for index, goal in enumerate(goals)]
    return (Status.FOUND if sure else Status.UNKNOWN), chosen


def _match(domains: Sequence[_Domain]) -> dict[Hashable, int] | None:
    """Give each position a value of its own by augmenting paths, free values first; None when that is impossible."""
    owners: dict[Hashable, int] = {}

    def place(index: int, tried: set[Hashable]) -> bool:
        for mark in domains[index]:
            if mark not in owners:
                owners[mark] = index
                return True
        for mark in domains[index]:
            if mark not in tried:
                tried.add(mark)
                if place(owners[mark], tried):
                    owners[mark] = index
                    return True
        return False

    return owners if all(place(index, set()) for index in range(len(domains))) else None


def enumerate_values(solver: Asking, goal: frozenset[Lit], limit: int) -> tuple[list[Json], bool]:
    """Up to `limit` different values of a goal, and whether all of them and their end are certain."""
    values: list[Json] = []
    while len(values) < limit:
        rest = goal | {-solver.arena.values(values)} if values else goal
        outcome = solver.sat(rest)
        if outcome.empty:
            break
        if not outcome.values:
            return values, False
        values.extend(outcome.values)
        if not outcome.found:
            return values, False
    return values, True
