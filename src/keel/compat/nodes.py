"""The typed atoms and the shared, interned graph that schemas become.

A literal is a signed integer: `n` is node n, `-n` its complement, so `not` costs nothing and De Morgan's laws hold by
construction. Node 1 is the empty conjunction, true. Every assertion is vacuously true of other types, as in JSON Schema
Validation; its complement therefore implies the type. Interning gives equal subschemas of both sides one number.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import TypeAlias

from keel.compat.interface import Json
from keel.compat.syntax import Syntax
from keel.compat.values import key

Lit: TypeAlias = int
TRUE: Lit = 1
FALSE: Lit = -1


class Kind(IntEnum):
    """The six types of JSON; integers are numbers with step 1."""

    NULL = 0
    BOOLEAN = 1
    STRING = 2
    NUMBER = 3
    OBJECT = 4
    ARRAY = 5


def kind_of(value: Json) -> Kind:
    """The type of a JSON value."""
    if value is None:
        return Kind.NULL
    if isinstance(value, bool):
        return Kind.BOOLEAN
    if isinstance(value, str):
        return Kind.STRING
    if isinstance(value, list):
        return Kind.ARRAY
    return Kind.OBJECT if isinstance(value, dict) else Kind.NUMBER


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds."""

    parts: tuple[Lit, ...]


@dataclass(frozen=True, slots=True)
class Types:
    """The instance has one of these types."""

    kinds: frozenset[Kind]


@dataclass(frozen=True, slots=True)
class Values:
    """The instance is one of finitely many values."""

    keys: frozenset[Hashable]
    values: tuple[Json, ...] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Least:
    """A number is at least, or with `strict` above, the bound."""

    bound: Fraction
    strict: bool


@dataclass(frozen=True, slots=True)
class Most:
    """A number is at most, or with `strict` below, the bound."""

    bound: Fraction
    strict: bool


@dataclass(frozen=True, slots=True)
class Step:
    """A number is an integer multiple of the step."""

    step: Fraction


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A string, array or object has at least this many code points, items or properties."""

    kind: Kind
    count: int


@dataclass(frozen=True, slots=True)
class AtMost:
    """A string, array or object has at most this many code points, items or properties."""

    kind: Kind
    count: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """A string contains a match of the expression."""

    syntax: Syntax


@dataclass(frozen=True, slots=True)
class Slot:
    """The item at this index, if there is one, satisfies the literal."""

    index: int
    item: Lit


@dataclass(frozen=True, slots=True)
class Tail:
    """Every item from this index on satisfies the literal."""

    start: int
    item: Lit


@dataclass(frozen=True, slots=True)
class CountLeast:
    """At least this many items satisfy the literal."""

    item: Lit
    count: int


@dataclass(frozen=True, slots=True)
class CountMost:
    """At most this many items satisfy the literal."""

    item: Lit
    count: int


@dataclass(frozen=True, slots=True)
class Unique:
    """No two items are equal."""


@dataclass(frozen=True, slots=True)
class Has:
    """The object has a property of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Fields:
    """Every property whose name satisfies `names` has a value that satisfies `value`."""

    names: Lit
    value: Lit


@dataclass(frozen=True, slots=True)
class Ref:
    """A subschema that is still being translated: the knot of a recursion."""

    document: int
    pointer: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Opaque:
    """A constraint whose meaning is not modelled; equal only to itself, never assumed true or false."""

    identity: Hashable
    pointer: str = field(compare=False)
    why: str = field(compare=False)


Node: TypeAlias = (
    All | Types | Values | Least | Most | Step | AtLeast | AtMost | Pattern | Slot | Tail | CountLeast | CountMost
    | Unique | Has | Fields | Ref | Opaque
)  # fmt: skip

KIND_OF_ATOM: dict[type[Node], Kind] = {
    Least: Kind.NUMBER, Most: Kind.NUMBER, Step: Kind.NUMBER, Pattern: Kind.STRING, Slot: Kind.ARRAY, Tail: Kind.ARRAY,
    CountLeast: Kind.ARRAY, CountMost: Kind.ARRAY, Unique: Kind.ARRAY, Has: Kind.OBJECT, Fields: Kind.OBJECT,
}  # fmt: skip


def kind_of_atom(node: Node) -> Kind | None:
    """The type an assertion speaks about, None for those that speak about every type."""
    if isinstance(node, AtLeast | AtMost):
        return node.kind
    return KIND_OF_ATOM.get(type(node))


class Arena:
    """The interned nodes of one comparison."""

    def __init__(self) -> None:
        """Start with the node for true."""
        self._nodes: list[Node] = [All(()), All(())]
        self._numbers: dict[Node, Lit] = {All(()): TRUE}
        self.knots: dict[Ref, Lit] = {}
        """What each knot was tied to, filled when its subschema is done."""

    def __getitem__(self, literal: Lit) -> Node:
        """The node under a literal, whatever its sign."""
        return self._nodes[abs(literal)]

    def atom(self, node: Node) -> Lit:
        """The literal of a node, the same for equal nodes."""
        number = self._numbers.get(node)
        if number is None:
            number = len(self._nodes)
            self._nodes.append(node)
            self._numbers[node] = number
        return number

    def all(self, parts: Iterable[Lit]) -> Lit:
        """The conjunction, flattened and simplified."""
        kept: set[Lit] = set()
        for part in parts:
            node = self._nodes[abs(part)]
            if part > 0 and isinstance(node, All):
                kept.update(node.parts)
            else:
                kept.add(part)
        if FALSE in kept or any(-part in kept for part in kept):
            return FALSE
        if len(kept) == 1:
            return kept.pop()
        return self.atom(All(tuple(sorted(kept))))

    def any(self, parts: Iterable[Lit]) -> Lit:
        """The disjunction."""
        return -self.all(-part for part in parts)

    def values(self, values: Iterable[Json]) -> Lit:
        """Membership in a finite set of values, false for the empty one."""
        table = {key(value): value for value in values}
        return self.atom(Values(frozenset(table), tuple(table.values()))) if table else FALSE

    def fields(self, names: Lit, value: Lit) -> Lit:
        """A rule for the values of all properties whose names satisfy `names`."""
        return TRUE if TRUE in (value, -names) else self.atom(Fields(names, value))
