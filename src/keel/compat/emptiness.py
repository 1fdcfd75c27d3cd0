"""Is a conjunction of literals satisfiable: by type, by lazily split disjunctions, with recursion as a least fixpoint.

An inclusion "old inside new" is the emptiness of "old and not new", so one procedure gives both proofs and witnesses
(Attouche et al., "Witness Generation for JSON Schema", VLDB 2022; the coinductive reading of inclusion under recursion
in Habib et al., "Finding Data Compatibility Bugs with JSON Subschema", ISSTA 2021, is the complement of this fixpoint).
A goal met again inside itself counts as empty: a smallest instance never contains itself. What was proved empty under
such an assumption is kept as long as the goal it leans on is worked on, and for good once that goal is proved empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from keel.compat import arrays, numbers, objects, strings
from keel.compat.branches import Branch, extend
from keel.compat.interface import Json
from keel.compat.membership import Budget, holds
from keel.compat.nodes import FALSE, TRUE, Arena, Kind, Lit, Values, kind_of
from keel.compat.outcome import EMPTY, UNKNOWN, Outcome, Status, found

MAX_DEPTH = 60
MAX_CANDIDATES = 24


class Solver:
    """Decides goals over one arena, remembering what it decided."""

    def __init__(self, arena: Arena, budget: Budget) -> None:
        """Prepare; the budget is shared by everything this solver is asked."""
        self.arena = arena
        self.budget = budget
        self.candidates: list[Json] = []
        """Instances of the outermost goal for which something was not decided; a validator may accept one."""
        self._known: dict[frozenset[Lit], Outcome] = {}
        self._active: dict[frozenset[Lit], int] = {}
        self._leans: set[int] = set()
        """The depths of the active goals that the current work assumed to be empty."""
        self._assumed: dict[frozenset[Lit], set[int]] = {}
        """Goals that are empty if the active goals at these depths are."""
        self._resting: list[list[frozenset[Lit]]] = []
        """For each active goal the assumed ones for which it is the innermost assumption."""

    def holds(self, literal: Lit, value: Json) -> bool | None:
        """Whether this value satisfies the literal."""
        return holds(self.arena, literal, value, self.budget)

    def sat(self, goal: Iterable[Lit]) -> Outcome:
        """Whether some value satisfies all literals.

        Raises:
            OutOfSteps: the budget is used up.
        """
        wanted = frozenset(goal) - {TRUE}
        if FALSE in wanted or any(-literal in wanted for literal in wanted):
            return EMPTY
        known = self._known.get(wanted)
        if known is not None:
            return known
        if wanted in self._active:
            self._leans.add(self._active[wanted])
            return EMPTY
        if wanted in self._assumed:
            self._leans |= self._assumed[wanted]
            return EMPTY
        if len(self._active) >= MAX_DEPTH:
            return UNKNOWN
        self.budget.spend(2)
        return self._visit(wanted)

    def _visit(self, goal: frozenset[Lit]) -> Outcome:
        depth = len(self._active)
        self._active[goal] = depth
        self._resting.append([])
        outside, self._leans = self._leans, set()
        try:
            outcome = self._solve(goal)
        finally:
            del self._active[goal]
            resting = self._resting.pop()
        leans = self._leans - {depth}
        self._leans = outside
        if outcome.empty:
            self._conclude([*resting, goal], leans)
        else:
            for other in resting:  # they assumed that this goal was empty, and nothing says so
                self._assumed.pop(other, None)
            if outcome.found or not leans:
                self._known[goal] = outcome
        if not outcome.found:
            self._leans |= leans
        return outcome

    def _conclude(self, empty: list[frozenset[Lit]], leans: set[int]) -> None:
        """Goals proved empty: for good, or as long as the goals they lean on are being worked on."""
        for goal in empty:
            if leans:
                self._assumed[goal] = leans
            else:
                self._assumed.pop(goal, None)
                self._known[goal] = EMPTY
        if leans:
            self._resting[max(leans)].extend(empty)

    def _solve(self, goal: frozenset[Lit]) -> Outcome:
        best = EMPTY
        for kind in Kind:
            branch = extend(self.arena, Branch(kind), goal)
            if branch is None:
                continue
            outcome = self._search(branch)
            if outcome.found:
                return outcome
            best = _worse(best, outcome)
        return best

    def _search(self, branch: Branch) -> Outcome:
        """Solve the assertions; where the solution breaks a clause, branch on that clause and no other."""
        self.budget.spend(3 + (len(branch.atoms) + len(branch.clauses)) // 4)
        outcome = self._leaf(branch)
        if outcome.empty:
            return EMPTY
        clause = branch.clauses[0] if branch.clauses else None
        if outcome.values:
            value = outcome.values[0]
            broken = (c for c in branch.clauses if not any(self.holds(literal, value) for literal in c))
            clause = next(broken, None)
            if clause is None and (outcome.found or all(self.holds(literal, value) for literal in branch.atoms)):
                return found(value)
        if clause is None:
            self._remember(outcome)
            return outcome
        rest = Branch(branch.kind, branch.atoms, tuple(c for c in branch.clauses if c != clause))
        best = EMPTY
        for literal in clause:
            narrower = extend(self.arena, rest, (literal,))
            if narrower is not None:
                inner = self._search(narrower)
                if inner.found:
                    return inner
                best = _worse(best, inner)
        return best

    def _remember(self, outcome: Outcome) -> None:
        if outcome.values and len(self._active) == 1 and len(self.candidates) < MAX_CANDIDATES:
            self.candidates.extend(outcome.values)

    def _leaf(self, branch: Branch) -> Outcome:
        """Whether a value of the type satisfies the assertions alone."""
        ordered = sorted(branch.atoms, key=abs)
        listed = next((literal for literal in ordered if literal > 0 and isinstance(self.arena[literal], Values)), None)
        if listed is not None:
            return self._listed(branch, listed)
        if branch.kind is Kind.NULL or branch.kind is Kind.BOOLEAN:
            options = [None] if branch.kind is Kind.NULL else [False, True]
            return self._first(branch, options)
        atoms = [(self.arena[literal], literal > 0) for literal in ordered]
        if branch.kind is Kind.STRING:
            return strings.solve(atoms)
        if branch.kind is Kind.NUMBER:
            return numbers.solve(atoms)
        if branch.kind is Kind.OBJECT:
            return objects.solve(self, atoms)
        return arrays.solve(self, atoms)

    def _listed(self, branch: Branch, literal: Lit) -> Outcome:
        node = self.arena[literal]
        assert isinstance(node, Values)
        return self._first(branch, [value for value in node.values if kind_of(value) is branch.kind])

    def _first(self, branch: Branch, options: list[Json]) -> Outcome:
        """The first of finitely many values that satisfies everything, clauses included, for no other can follow."""
        best = EMPTY
        for value in options:
            verdict: bool | None = True
            for clause in chain(((literal,) for literal in branch.atoms), branch.clauses):
                each = [self.holds(literal, value) for literal in clause]
                if True not in each:
                    verdict = None if None in each else False
                    if verdict is False:
                        break
            if verdict:
                return found(value)
            if verdict is None:
                best = _worse(best, Outcome(Status.UNKNOWN, (value,)))
        return best


def _worse(one: Outcome, other: Outcome) -> Outcome:
    """The less certain of two outcomes without an instance, preferring one with a candidate."""
    if one.empty:
        return other
    return one if other.empty or one.values or not other.values else other
