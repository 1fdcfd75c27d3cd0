"""The names an object can use: those spelled out in the rules, and cells of others that no rule can tell apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keel.compat.nodes import (
    FALSE,
    TRUE,
    All,
    Arena,
    AtLeast,
    AtMost,
    Kind,
    Lit,
    Opaque,
    Pattern,
    Ref,
    Types,
    Values,
    kind_of_atom,
)  # fmt: skip
from keel.compat.outcome import Asking

MAX_SPLITS = 8
MAX_NAMES = 2000


@dataclass(frozen=True, slots=True)
class Cell:
    """Names not spelled out anywhere that satisfy the same rules."""

    goal: frozenset[Lit]
    """What a name has to satisfy to be in the cell."""
    signs: frozenset[Lit]
    """The residual rules that hold of these names (positive) or do not (negative)."""


def spelled(arena: Arena, literal: Lit, seen: set[Lit] | None = None) -> list[str]:
    """Every name that a rule for names spells out."""
    seen = set() if seen is None else seen
    if abs(literal) in seen:
        return []
    seen.add(abs(literal))
    node = arena[literal]
    if isinstance(node, Values):
        return [value for value in node.values if isinstance(value, str)]
    if isinstance(node, Ref):
        return spelled(arena, arena.knots[node], seen)
    if isinstance(node, All):
        return [name for part in node.parts for name in spelled(arena, part, seen)]
    return []


def residual(arena: Arena, literal: Lit, depth: int = 0) -> Lit:
    """What is left of a rule for names when the name is a string that no rule spells out."""
    node = arena[literal]
    sign = 1 if literal > 0 else -1
    if isinstance(node, All):
        return sign * arena.all(residual(arena, part, depth + 1) for part in node.parts)
    if isinstance(node, Values):
        return sign * FALSE
    if isinstance(node, Types):
        return sign * (TRUE if Kind.STRING in node.kinds else FALSE)
    if isinstance(node, Ref) and depth < 50:
        return sign * residual(arena, arena.knots[node], depth + 1)
    if isinstance(node, Pattern | Opaque | Ref) or (isinstance(node, AtLeast | AtMost) and node.kind is Kind.STRING):
        return literal
    return sign * TRUE if kind_of_atom(node) is not None else literal


def cells(solver: Asking, rules: Iterable[Lit], names: list[str]) -> list[Cell] | None:
    """Split the names that are not spelled out by the residual rules; None when there are too many rules."""
    splits = sorted({abs(rule) for rule in rules} - {TRUE})
    if len(splits) > MAX_SPLITS:
        return None
    base = {solver.arena.atom(Types(frozenset({Kind.STRING})))}
    if names:
        base.add(-solver.arena.values(names))
    found = [frozenset(base)]
    for split in splits:
        found = [
            cell | {signed} for cell in found for signed in (split, -split) if not solver.sat(cell | {signed}).empty
        ]
    return [Cell(goal, goal - base) for goal in found]
