"""Goals taken apart for one type: assertions that all hold, and clauses of which each needs one literal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keel.compat.interface import Json
from keel.compat.nodes import (
    FALSE,
    All,
    Arena,
    AtLeast,
    Has,
    Kind,
    Lit,
    Node,
    Ref,
    Slot,
    Types,
    Values,
    kind_of,
    kind_of_atom,
)


@dataclass(frozen=True, slots=True)
class Branch:
    """A conjunction restricted to instances of one type."""

    kind: Kind
    atoms: frozenset[Lit] = frozenset()
    clauses: tuple[tuple[Lit, ...], ...] = ()


def extend(arena: Arena, branch: Branch, literals: Iterable[Lit]) -> Branch | None:
    """Add literals to a branch; None when they contradict what is there."""
    return _Extension(arena, branch).run(literals)


class _Extension:
    def __init__(self, arena: Arena, branch: Branch) -> None:
        self.arena = arena
        self.kind = branch.kind
        self.atoms = set(branch.atoms)
        self.clauses = list(branch.clauses)
        self.stack: list[Lit] = []

    def run(self, literals: Iterable[Lit]) -> Branch | None:
        self.stack.extend(literals)
        passed: set[Lit] = set()
        while self.stack:
            literal = self.stack.pop()
            if literal in self.atoms or literal in passed:
                continue
            passed.add(literal)
            if literal == FALSE or -literal in self.atoms or not self._add(literal, self.arena[literal]):
                return None
        return Branch(self.kind, frozenset(self.atoms), tuple(dict.fromkeys(self.clauses)))

    def _add(self, literal: Lit, node: Node) -> bool:
        """Take one literal apart; False when it contradicts."""
        if isinstance(node, All):
            if literal < 0:
                return self._add_clause([-part for part in node.parts])
            self.stack.extend(node.parts)
        elif isinstance(node, Ref):
            target = self.arena.knots[node]
            self.stack.append(target if literal > 0 else -target)
        elif isinstance(node, Types):
            return (self.kind in node.kinds) == (literal > 0)
        elif kind_of_atom(node) not in (self.kind, None):
            return literal > 0
        else:
            self.atoms.add(literal)
            if isinstance(node, Values) and literal < 0 and self.kind in (Kind.OBJECT, Kind.ARRAY):
                # The literal decides quickly where values are listed; elsewhere the clauses do the work.
                self.clauses.extend(self._other_than(value) for value in node.values if kind_of(value) is self.kind)
        return True

    def _add_clause(self, literals: list[Lit]) -> bool:
        kept = []
        for literal in literals:
            settled = self._settled(literal, self.arena[literal])
            if settled:
                return True
            if settled is None:
                kept.append(literal)
        if len(kept) > 1:
            self.clauses.append(tuple(kept))
        else:
            self.stack.extend(kept)
        return bool(kept)

    def _settled(self, literal: Lit, node: Node) -> bool | None:
        """Whether a literal holds for all, or no, instances of this branch; None when that depends."""
        about = kind_of_atom(node)
        if isinstance(node, Types):
            return (self.kind in node.kinds) == (literal > 0)
        if about is not None and about is not self.kind:
            return literal > 0
        if literal in self.atoms:
            return True
        return False if -literal in self.atoms else None

    def _other_than(self, value: Json) -> tuple[Lit, ...]:
        """The clause that an array or object differs from this one somewhere."""
        arena = self.arena
        if isinstance(value, dict):
            missing = [-arena.atom(Has(name)) for name in value]
            differ = [-arena.fields(arena.values((name,)), arena.values((inner,))) for name, inner in value.items()]
            return (*missing, *differ, -arena.fields(-arena.values(value), FALSE))
        size = len(value)
        shorter = [-arena.atom(AtLeast(Kind.ARRAY, size))] if size else []
        differ = [-arena.atom(Slot(index, arena.values((inner,)))) for index, inner in enumerate(value)]
        return (*shorter, arena.atom(AtLeast(Kind.ARRAY, size + 1)), *differ)
