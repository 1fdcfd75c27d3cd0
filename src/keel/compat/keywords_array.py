"""Assertions about arrays: items, prefixItems, contains, sizes, uniqueItems.

Source: JSON Schema Core 2020-12 section 10.3.1, Validation section 6.4; `items` and `additionalItems` before that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from keel.compat.document import Pointer
from keel.compat.interface import Json
from keel.compat.keywords_scalar import sizes, whole
from keel.compat.nodes import TRUE, CountLeast, CountMost, Kind, Lit, Slot, Tail, Unique

if TYPE_CHECKING:
    from keel.compat.translate import Translator


def literals(to: Translator, schema: dict[str, Json], at: Pointer) -> Iterator[Lit]:
    """The literals of a schema's array assertions."""
    yield from _positions(to, schema, at)
    yield from sizes(to, schema, at, Kind.ARRAY, "minItems", "maxItems")
    if schema.get("uniqueItems") is True:
        yield to.arena.atom(Unique())
    elif "uniqueItems" in schema and schema["uniqueItems"] is not False:
        yield to.opaque((*at, "uniqueItems"), "`uniqueItems` must be a boolean")
    if "contains" in schema and to.dialect.year >= 6:
        yield from _contains(to, schema, at)


def positions(to: Translator, schema: dict[str, Json]) -> tuple[str | None, str | None]:
    """The keywords that hold the tuple and the rest in this schema under its dialect."""
    if not to.dialect.tuple_items:
        return ("prefixItems" if "prefixItems" in schema else None), ("items" if "items" in schema else None)
    if isinstance(schema.get("items"), list):
        return "items", ("additionalItems" if "additionalItems" in schema else None)
    return None, ("items" if "items" in schema else None)


def _positions(to: Translator, schema: dict[str, Json], at: Pointer) -> Iterator[Lit]:
    prefix, rest = positions(to, schema)
    start = 0
    if prefix is not None:
        if not isinstance(schema[prefix], list):
            yield to.opaque((*at, prefix), f"`{prefix}` must be an array")
            return
        start = len(schema[prefix])
        for index in range(start):
            item = to.child((*at, prefix, str(index)))
            if item != TRUE:
                yield to.arena.atom(Slot(index, item))
    if rest is not None:
        item = to.child((*at, rest))
        if item != TRUE:
            yield to.arena.atom(Tail(start, item))


def _contains(to: Translator, schema: dict[str, Json], at: Pointer) -> Iterator[Lit]:
    item = to.child((*at, "contains"))
    low, high = 1, None
    if to.dialect.year >= 2019:
        if "minContains" in schema:
            count = whole(schema["minContains"])
            if count is None:
                yield to.opaque((*at, "minContains"), "`minContains` must be a whole number")
                return
            low = count
        if "maxContains" in schema:
            high = whole(schema["maxContains"])
            if high is None:
                yield to.opaque((*at, "maxContains"), "`maxContains` must be a whole number")
                return
    if low:
        yield to.arena.atom(CountLeast(item, low))
    if high is not None:
        yield to.arena.atom(CountMost(item, high))
