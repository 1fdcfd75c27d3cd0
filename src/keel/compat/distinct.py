"""Pairwise different values for several goals, or the proof that there are too few."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from keel.compat.interface import Json
from keel.compat.nodes import Lit
from keel.compat.outcome import Asking, Status
from keel.compat.values import key

MAX_POSITIONS = 40


def choose(solver: Asking, goals: Sequence[frozenset[Lit]]) -> tuple[Status, list[Json]]:
    """Different values for all goals, by bipartite matching; a goal with as many values as goals exist never blocks."""
    if len(goals) > MAX_POSITIONS:
        return Status.UNKNOWN, []
    domains: dict[frozenset[Lit], tuple[list[Json], bool]] = {}
    for goal in goals:
        if goal not in domains:
            domains[goal] = enumerate_values(solver, goal, len(goals))
    sure = all(exact for _, exact in domains.values())
    owner: dict[Hashable, int] = {}
    chosen: dict[int, Json] = {}

    def place(index: int, tried: set[Hashable]) -> bool:
        for value in domains[goals[index]][0]:
            mark = key(value)
            if mark in tried:
                continue
            tried.add(mark)
            if mark not in owner or place(owner[mark], tried):
                owner[mark] = index
                chosen[index] = value
                return True
        return False

    for index in range(len(goals)):
        if not place(index, set()):
            return (Status.EMPTY if sure else Status.UNKNOWN), []
    return (Status.FOUND if sure else Status.UNKNOWN), [chosen[index] for index in range(len(goals))]


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
