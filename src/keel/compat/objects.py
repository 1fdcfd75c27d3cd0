"""Is there an object: rules for the values of names, properties that must exist, and size.

A `Fields` rule binds every property with such a name; its complement is a duty, a property that must exist. Names fall
into those that some rule spells out and cells of others that no rule distinguishes, so finitely many cases decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from keel.compat.distinct import enumerate_values
from keel.compat.interface import Json
from keel.compat.naming import MAX_NAMES, Cell, cells, residual, spelled
from keel.compat.nodes import FALSE, TRUE, AtLeast, Fields, Has, Kind, Lit, Values
from keel.compat.outcome import EMPTY, UNKNOWN, Asking, Atoms, Outcome, found
from keel.compat.sizes import Sizes

MAX_SIZE = 300


@dataclass
class _Rules:
    sizes: Sizes = field(default_factory=Sizes)
    every: list[tuple[Lit, Lit]] = field(default_factory=list)
    duties: list[tuple[Lit, Lit]] = field(default_factory=list)
    unsure: bool = False


def _gather(solver: Asking, atoms: Atoms) -> _Rules:
    rules = _Rules()
    for node, positive in atoms:
        if rules.sizes.take(node, positive=positive):
            continue
        match node:
            case Has(name):
                only = solver.arena.values((name,))
                rules.duties.append((only, TRUE)) if positive else rules.every.append((only, FALSE))
            case Fields(names, value):
                rules.every.append((names, value)) if positive else rules.duties.append((names, -value))
            case Values():
                pass  # the solver has a clause for each excluded object
            case _:
                rules.unsure = True
    return rules


def solve(solver: Asking, atoms: Atoms) -> Outcome:
    """Whether an object satisfies all assertions."""
    rules = _gather(solver, atoms)
    if rules.sizes.empty:
        return EMPTY
    return _Objects(solver, rules).solve()


class _Objects:
    def __init__(self, solver: Asking, rules: _Rules) -> None:
        self.solver = solver
        self.rules = rules
        self.open = rules.unsure
        """Whether something met on the way was not decided, so that failure is no proof."""
        arena = solver.arena
        mentioned = [names for names, _ in rules.duties] + [names for names, _ in rules.every]
        self.names = list(dict.fromkeys(name for names in dict.fromkeys(mentioned) for name in spelled(arena, names)))
        self.left = {names: residual(arena, names) for names in dict.fromkeys(mentioned)}
        self.goals: dict[str, frozenset[Lit]] = {}
        self.cells: list[Cell] | None = None

    def goal(self, name: str) -> frozenset[Lit]:
        """What the value of this name has to satisfy."""
        if name not in self.goals:
            parts = set()
            for names, value in self.rules.every:
                applies = self.solver.holds(names, name)
                if applies is None:
                    self.open = True
                elif applies:
                    parts.add(value)
            self.goals[name] = frozenset(parts)
        return self.goals[name]

    def solve(self) -> Outcome:
        if len(self.names) > MAX_NAMES or self.rules.sizes.low > MAX_SIZE:
            return UNKNOWN
        chosen: dict[str, frozenset[Lit]] = {}
        loose = []
        for names, value in self.rules.duties:
            single = spelled(self.solver.arena, names) if self.left[names] == FALSE else []
            if len(single) == 1 and self.solver.holds(names, single[0]):
                chosen[single[0]] = chosen.get(single[0], self.goal(single[0])) | {value}
            else:
                loose.append((names, value))
        if any(self.solver.sat(goal).empty for goal in chosen.values()):
            return EMPTY
        for complete in self._place(0, loose, chosen):
            values = self._fill(complete)
            if values is not None:
                return found(values, sure=not self.open)
        return UNKNOWN if self.open else EMPTY

    def _too_many(self, count: int) -> bool:
        return self.rules.sizes.high is not None and count > self.rules.sizes.high

    def _place(
        self, index: int, loose: list[tuple[Lit, Lit]], chosen: dict[str, frozenset[Lit]]
    ) -> Iterator[dict[str, frozenset[Lit]]]:
        self.solver.budget.spend()
        if self._too_many(len(chosen)):
            return
        if index == len(loose):
            yield chosen
            return
        names, value = loose[index]
        for name in self._options(names, chosen):
            merged = chosen.get(name, self.goal(name)) | {value}
            if not self.solver.sat(merged).empty:
                yield from self._place(index + 1, loose, {**chosen, name: merged})

    def _options(self, names: Lit, chosen: dict[str, frozenset[Lit]]) -> Iterator[str]:
        """Every property that can do a duty: one chosen already, one spelled out, or one new name of each cell."""
        for name in [*chosen, *(name for name in self.names if name not in chosen)]:
            applies = self.solver.holds(names, name)
            self.open = self.open or applies is None
            if applies:
                yield name
        for cell in self._cells() if self.left[names] != FALSE else ():
            if self._in(cell, names):
                yield from self._fresh(cell, 1, chosen)

    def _in(self, cell: Cell, names: Lit) -> bool:
        left = self.left[names]
        return left == TRUE or left in cell.signs

    def _cells(self) -> list[Cell]:
        if self.cells is None:
            split = cells(self.solver, self.left.values(), self.names)
            self.open = self.open or split is None
            self.cells = split or []
        return self.cells

    def _fresh(self, cell: Cell, count: int, chosen: dict[str, frozenset[Lit]]) -> list[Json]:
        """Up to `count` names of the cell that are not chosen yet."""
        taken = sorted(name for name in chosen if name not in self.names)
        goal = cell.goal | {-self.solver.arena.values(taken)} if taken else cell.goal
        visible = self.solver.arena.atom(AtLeast(Kind.STRING, 1))  # an empty name is legal but reads badly
        names, _ = enumerate_values(self.solver, goal | {visible}, count)
        if len(names) < count:
            names, exact = enumerate_values(self.solver, goal, count)
            self.open = self.open or not exact
        return names

    def _fill(self, chosen: dict[str, frozenset[Lit]]) -> dict[str, Json] | None:
        chosen = dict(chosen)
        for name in self.names if len(chosen) < self.rules.sizes.low else ():
            if len(chosen) < self.rules.sizes.low and name not in chosen and not self.solver.sat(self.goal(name)).empty:
                chosen[name] = self.goal(name)
        for cell in self._cells() if len(chosen) < self.rules.sizes.low else ():
            for name in self._fresh(cell, self.rules.sizes.low - len(chosen), chosen):
                if self.solver.sat(self.goal(name)).empty:
                    break  # all names of a cell are alike
                chosen[name] = self.goal(name)
        if len(chosen) < self.rules.sizes.low:
            return None
        return self._values(chosen)

    def _values(self, chosen: dict[str, frozenset[Lit]]) -> dict[str, Json] | None:
        values: dict[str, Json] = {}
        for name, goal in chosen.items():
            outcome = self.solver.sat(goal)
            self.open = self.open or not outcome.found
            if not outcome.values:
                return None
            values[name] = outcome.values[0]
        return values
