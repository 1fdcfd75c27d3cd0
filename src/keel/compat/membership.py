"""Whether a concrete value satisfies a literal: the meaning of every node, for one instance."""

from __future__ import annotations

from keel.compat.automaton import TooManyStates, automaton
from keel.compat.interface import Json
from keel.compat.nodes import (
    All,
    Arena,
    AtLeast,
    AtMost,
    CountLeast,
    CountMost,
    Fields,
    Has,
    Least,
    Lit,
    Most,
    Node,
    Opaque,
    Pattern,
    Ref,
    Slot,
    Step,
    Tail,
    Types,
    Unique,
    Values,
    kind_of,
    kind_of_atom,
)  # fmt: skip
from keel.compat.values import exact, key

MAX_REMEMBERED = 20_000


class OutOfSteps(Exception):
    """The step budget of one comparison is used up; what is open stays undecided."""


class Budget:
    """A count of steps, so that results depend on the input and never on a clock, and a memory of what they bought."""

    def __init__(self, steps: int) -> None:
        """Allow this many steps."""
        self.left = steps
        self._known: dict[tuple[Lit, int], bool | None] = {}
        self._alive: dict[int, Json] = {}

    def spend(self, steps: int = 1) -> None:
        """Use steps.

        Raises:
            OutOfSteps: none are left.
        """
        self.left -= steps
        if self.left < 0:
            raise OutOfSteps

    def recall(self, literal: Lit, value: Json) -> tuple[bool, bool | None]:
        """Whether this very value was judged before, and how; values are never changed in place."""
        mark = (literal, id(value))
        return mark in self._known, self._known.get(mark)

    def remember(self, literal: Lit, value: Json, *, verdict: bool | None) -> None:
        """Keep a judgement; the value is kept alive with it, so that its identity stays its own."""
        if len(self._known) > MAX_REMEMBERED:
            self._known.clear()
            self._alive.clear()
        self._alive[id(value)] = value
        self._known[literal, id(value)] = verdict


def holds(arena: Arena, literal: Lit, value: Json, budget: Budget) -> bool | None:
    """Whether the value satisfies the literal; None where an opaque constraint decides.

    Raises:
        OutOfSteps: the budget is used up.
    """
    budget.spend()
    node = arena[literal]
    if isinstance(node, All | Fields | Tail | Slot):
        number = abs(literal)
        known, plain = budget.recall(number, value)
        if not known:
            plain = _node(arena, node, value, budget)
            budget.remember(number, value, verdict=plain)
    else:
        plain = _node(arena, node, value, budget)
    return plain if literal > 0 or plain is None else not plain


def _node(arena: Arena, node: Node, value: Json, budget: Budget) -> bool | None:
    match node:
        case All(parts):
            return _every(arena, [(part, value) for part in parts], budget)
        case Ref():
            return holds(arena, arena.knots[node], value, budget)
        case Types(kinds):
            return kind_of(value) in kinds
        case Values(keys):
            return key(value) in keys
        case Opaque():
            return None
    return True if kind_of_atom(node) is not kind_of(value) else _atom(arena, node, value, budget)


def _atom(arena: Arena, node: Node, value: Json, budget: Budget) -> bool | None:
    match node:
        case AtLeast(_, count):
            return len(value) >= count
        case AtMost(_, count):
            return len(value) <= count
        case Pattern(syntax):
            try:
                return automaton(syntax).matches(value)
            except TooManyStates:
                return None
    if isinstance(value, dict):
        return _object(arena, node, value, budget)
    return _array(arena, node, value, budget) if isinstance(value, list) else _number(node, value)


def _number(node: Node, value: Json) -> bool | None:
    number = exact(value)
    if number is None:
        return None
    match node:
        case Least(bound, strict):
            return number > bound if strict else number >= bound
        case Most(bound, strict):
            return number < bound if strict else number <= bound
        case Step(step):
            return (number / step).denominator == 1
    return None


def _object(arena: Arena, node: Node, value: dict[str, Json], budget: Budget) -> bool | None:
    if isinstance(node, Has):
        return node.name in value
    if not isinstance(node, Fields):
        return None
    verdict: bool | None = True
    for name, item in value.items():
        named = holds(arena, node.names, name, budget)
        if named is False:
            continue
        fits = holds(arena, node.value, item, budget)
        if fits is False and named:
            return False
        if fits is not True:
            verdict = None
    return verdict


def _array(arena: Arena, node: Node, value: list[Json], budget: Budget) -> bool | None:
    match node:
        case Slot(index, item):
            return holds(arena, item, value[index], budget) if index < len(value) else True
        case Tail(start, item):
            return _every(arena, [(item, inner) for inner in value[start:]], budget)
        case CountLeast(item, count):
            low, high = _count(arena, item, value, budget)
            return True if low >= count else (None if high >= count else False)
        case CountMost(item, count):
            low, high = _count(arena, item, value, budget)
            return True if high <= count else (None if low <= count else False)
        case Unique():
            return len({key(inner) for inner in value}) == len(value)
    return None


def _count(arena: Arena, item: Lit, value: list[Json], budget: Budget) -> tuple[int, int]:
    found = [holds(arena, item, inner, budget) for inner in value]
    return found.count(True), len(found) - found.count(False)


def _every(arena: Arena, pairs: list[tuple[Lit, Json]], budget: Budget) -> bool | None:
    verdict: bool | None = True
    for literal, value in pairs:
        fits = holds(arena, literal, value, budget)
        if fits is False:
            return False
        if fits is None:
            verdict = None
    return verdict
