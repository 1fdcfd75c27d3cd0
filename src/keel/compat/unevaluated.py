"""`unevaluatedProperties` and `unevaluatedItems`, by cases over the branches that may have evaluated something.

Source: JSON Schema Core 2020-12, section 11. A schema is read as a list of contributions "if this literal holds, these
names (or items) are evaluated"; the keyword then is one rule for every combination of conditions. The number of
conditions is capped; beyond the cap, and where a reference loops, the keyword stays opaque.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from keel.compat.document import Pointer, UnresolvedReference
from keel.compat.interface import Json
from keel.compat.keywords_array import positions
from keel.compat.keywords_object import evaluated_names
from keel.compat.nodes import FALSE, TRUE, Has, Kind, Lit, Tail, Types

if TYPE_CHECKING:
    from keel.compat.translate import Translator

MAX_CONDITIONS = 5
MAX_PATH = 40
_ALL_ITEMS = 1 << 30


@dataclass(frozen=True, slots=True)
class _Share:
    """What one part of a schema evaluates when its condition holds."""

    condition: Lit
    names: Lit
    start: int
    """Items before this index are evaluated."""
    items: Lit
    """Items that satisfy this are evaluated, wherever they are."""


class _TooComplex(Exception):
    pass


def literals(to: Translator, schema: dict[str, Json], at: Pointer) -> Iterator[Lit]:
    """The literals of the two keywords in a schema."""
    if to.dialect.year < 2019:
        return
    for keyword in ("unevaluatedProperties", "unevaluatedItems"):
        if keyword not in schema:
            continue
        rest = to.child((*at, keyword))
        if rest == TRUE:
            continue
        try:
            shares = list(_shares(to, schema, TRUE, (at,)))
            yield _rule(to, keyword, rest, shares)
        except (_TooComplex, UnresolvedReference):
            opaque = to.opaque((*at, keyword), f"`{keyword}` is not decided beside this many branches or a loop")
            yield to.only(Kind.OBJECT if keyword == "unevaluatedProperties" else Kind.ARRAY, opaque)


def _rule(to: Translator, keyword: str, rest: Lit, shares: list[_Share]) -> Lit:
    objects = keyword == "unevaluatedProperties"
    shares = [s for s in shares if (s.names != FALSE if objects else s.start or s.items != FALSE)]
    conditions = sorted({share.condition for share in shares} - {TRUE})
    if len(conditions) > MAX_CONDITIONS:
        raise _TooComplex
    cases = []
    for truth in product((True, False), repeat=len(conditions)):
        holds = {TRUE} | {c for c, yes in zip(conditions, truth, strict=True) if yes}
        active = [share for share in shares if share.condition in holds]
        if objects:
            rule = to.arena.fields(-to.arena.any(share.names for share in active), rest)
        else:
            start = max((share.start for share in active), default=0)
            item = to.arena.any((rest, *(share.items for share in active)))
            rule = to.arena.atom(Tail(start, item)) if item != TRUE and start < _ALL_ITEMS else TRUE
        guard = to.arena.all(c if yes else -c for c, yes in zip(conditions, truth, strict=True))
        cases.append(to.arena.any((-guard, rule)))
    return to.arena.all(cases)


def _shares(to: Translator, schema: Json, condition: Lit, path: tuple[Pointer, ...]) -> Iterator[_Share]:
    if not isinstance(schema, dict):
        return
    if len(path) > MAX_PATH:
        raise _TooComplex
    at, own = path[-1], len(path) == 1
    names = evaluated_names(to, schema, at)
    prefix, rest = positions(to, schema)
    start = len(schema[prefix]) if prefix is not None and isinstance(schema[prefix], list) else 0
    items = FALSE
    if "additionalProperties" in schema or (not own and "unevaluatedProperties" in schema):
        names = TRUE
    if rest is not None or (not own and "unevaluatedItems" in schema):
        start = _ALL_ITEMS
    if "contains" in schema:
        if to.dialect.year == 2019:
            raise _TooComplex  # validators disagree whether `contains` evaluated items in 2019-09
        items = to.child((*at, "contains"))
    yield _Share(condition, names, start, items)
    for below, guard in _branches(to, schema, at):
        if below in path:
            raise _TooComplex
        inner = to.arena.all((condition, guard))
        yield from _shares(to, to.document.get(below), inner, (*path, below))


def _branches(to: Translator, schema: dict[str, Json], at: Pointer) -> Iterator[tuple[Pointer, Lit]]:
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if keyword in schema:
            yield to.target(schema[keyword], (*at, keyword), dynamic=keyword == "$dynamicRef"), TRUE
    for keyword in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(keyword)
        for index in range(len(branches)) if isinstance(branches, list) else ():
            below = (*at, keyword, str(index))
            yield below, (TRUE if keyword == "allOf" else to.beside(below))
    if "if" in schema:
        condition = to.beside((*at, "if"))
        yield (*at, "if"), condition
        if "then" in schema:
            yield (*at, "then"), condition
        if "else" in schema:
            yield (*at, "else"), -condition
    dependent = schema.get("dependentSchemas")
    for name in dependent if isinstance(dependent, dict) else ():
        has = to.arena.atom(Has(name))
        yield (*at, "dependentSchemas", name), to.arena.all((has, to.arena.atom(Types(frozenset({Kind.OBJECT})))))
