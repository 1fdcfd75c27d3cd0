"""Assertions about any type, numbers and strings: type, enum, const, bounds, multipleOf, lengths, pattern.

Source: JSON Schema Validation 2020-12, sections 6.1 to 6.3; draft-04 for the boolean exclusive bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from keel.compat.automaton import automaton
from keel.compat.document import Pointer
from keel.compat.interface import Json
from keel.compat.nodes import TRUE, AtLeast, AtMost, Kind, Least, Lit, Most, Node, Pattern, Step, Types
from keel.compat.syntax import Cat, Edge, Look, Syntax, UnsupportedPattern, parse
from keel.compat.values import exact

if TYPE_CHECKING:
    from keel.compat.translate import Translator

_KINDS = {
    "null": Kind.NULL, "boolean": Kind.BOOLEAN, "string": Kind.STRING, "number": Kind.NUMBER, "integer": Kind.NUMBER,
    "object": Kind.OBJECT, "array": Kind.ARRAY,
}  # fmt: skip
ALL_KINDS = frozenset(Kind)


def literals(to: Translator, schema: dict[str, Json], at: Pointer) -> Iterator[Lit]:
    """The literals of a schema's general, numeric and string assertions."""
    if "type" in schema:
        yield _type(to, schema["type"], (*at, "type"))
    if "enum" in schema:
        values = schema["enum"]
        yield (
            to.arena.values(values) if isinstance(values, list) else to.opaque((*at, "enum"), "`enum` must be an array")
        )
    if "const" in schema and to.dialect.year >= 6:
        yield to.arena.values((schema["const"],))
    yield from _bounds(to, schema, at)
    if "multipleOf" in schema:
        step = exact(schema["multipleOf"])
        good = step is not None and step > 0
        yield (
            to.arena.atom(Step(step))
            if good and step is not None
            else to.opaque((*at, "multipleOf"), "`multipleOf` must be a number above 0 of reasonable size")
        )
    yield from sizes(to, schema, at, Kind.STRING, "minLength", "maxLength")
    if "pattern" in schema:
        yield pattern(to, schema["pattern"], (*at, "pattern"))


def _type(to: Translator, declared: Json, at: Pointer) -> Lit:
    names = declared if isinstance(declared, list) else [declared]
    if not names or not all(isinstance(name, str) and name in _KINDS for name in names):
        return to.opaque(at, "`type` is not a type of JSON Schema")
    kinds = frozenset(_KINDS[name] for name in names)
    literal = to.arena.atom(Types(kinds)) if kinds != ALL_KINDS else TRUE
    if "integer" in names and "number" not in names:
        literal = to.arena.all((literal, to.arena.atom(Step(Fraction(1)))))
    return literal


def _bounds(to: Translator, schema: dict[str, Json], at: Pointer) -> Iterator[Lit]:
    for keyword, other, make in (("minimum", "exclusiveMinimum", Least), ("maximum", "exclusiveMaximum", Most)):
        strict_by_flag = to.dialect.year == 4
        for name in (keyword,) if strict_by_flag else (keyword, other):
            if name not in schema:
                continue
            bound = exact(schema[name])
            if bound is None:
                same = (name, schema[name]) if isinstance(schema[name], int) and to.dialect.year > 4 else None
                yield to.opaque((*at, name), f"`{name}` must be a number of reasonable size", same)
                continue
            strict = schema.get(other) is True if strict_by_flag else name == other
            yield to.arena.atom(make(bound, strict))


def sizes(to: Translator, schema: dict[str, Json], at: Pointer, kind: Kind, low: str, high: str) -> Iterator[Lit]:
    """The literals of a pair of size keywords."""
    for keyword, make in ((low, AtLeast), (high, AtMost)):
        if keyword not in schema:
            continue
        count = whole(schema[keyword])
        if count is None:
            yield to.opaque((*at, keyword), f"`{keyword}` must be a whole number")
        elif keyword == high or count:
            node: Node = make(kind, count)
            yield to.arena.atom(node)


def whole(value: Json) -> int | None:
    """A non-negative integer, None for anything else."""
    number = exact(value)
    return number.numerator if number is not None and number.denominator == 1 and number >= 0 else None


def pattern(to: Translator, source: Json, at: Pointer) -> Lit:
    """The literal of a regular expression; leading look-ahead becomes a conjunction of expressions."""
    if not isinstance(source, str):
        return to.opaque(at, "a pattern must be a string")
    try:
        return _expression(to, parse(source))
    except (UnsupportedPattern, RecursionError) as problem:
        literal = to.opaque(at, f"the pattern is not decided: {problem}", ("pattern", source))
        return to.only(Kind.STRING, literal)


def _expression(to: Translator, syntax: Syntax) -> Lit:
    parts = list(syntax.parts) if isinstance(syntax, Cat) else [syntax]
    found: list[Lit] = []
    start, end = Edge(start=True), Edge(start=False)
    # At a fixed end of the string looking around asks about the whole string: one more expression, joined by "and".
    while len(parts) > 1 and parts[0] == start and isinstance(look := parts[1], Look) and not look.behind:
        del parts[1]
        found.append(_looked(to, Cat((start, look.part)), look))
    while len(parts) > 1 and parts[-1] == end and isinstance(look := parts[-2], Look) and look.behind:
        del parts[-2]
        found.append(_looked(to, Cat((look.part, end)), look))
    if found:
        # A complement implies its type, the keyword says nothing of other types.
        return to.only(Kind.STRING, to.arena.all((*found, _expression(to, Cat(tuple(parts))))))
    automaton(syntax)  # refuses what it cannot model
    return to.arena.atom(Pattern(syntax))


def _looked(to: Translator, syntax: Syntax, look: Look) -> Lit:
    inner = _expression(to, syntax)
    return inner if look.positive else -inner
