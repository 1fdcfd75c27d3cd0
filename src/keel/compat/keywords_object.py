"""Assertions about objects: properties by name and pattern, the rest, names, requirements, dependencies, sizes.

Source: JSON Schema Core 2020-12 sections 10.3.2 and 10.2.2.4, Validation section 6.5; `dependencies` up to draft-07.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from keel.compat.document import Pointer
from keel.compat.interface import Json
from keel.compat.keywords_scalar import pattern, sizes
from keel.compat.nodes import FALSE, Has, Kind, Lit

if TYPE_CHECKING:
    from keel.compat.translate import Translator


def literals(to: Translator, schema: dict[str, Json], at: Pointer) -> Iterator[Lit]:
    """The literals of a schema's object assertions."""
    yield from _properties(to, schema, at)
    yield from sizes(to, schema, at, Kind.OBJECT, "minProperties", "maxProperties")
    if "propertyNames" in schema and to.dialect.year >= 6:
        yield to.arena.fields(-to.child((*at, "propertyNames")), FALSE)
    if "required" in schema:
        yield from _required(to, schema["required"], (*at, "required"))
    yield from _dependencies(to, schema, at)


def evaluated_names(to: Translator, schema: dict[str, Json], at: Pointer) -> Lit:
    """The names that `properties` and `patternProperties` of this very schema speak about."""
    named = schema.get("properties")
    patterns = schema.get("patternProperties")
    parts = []
    if isinstance(named, dict) and named:
        parts.append(to.arena.values(named))
    if isinstance(patterns, dict):
        parts.extend(pattern(to, source, (*at, "patternProperties", source)) for source in patterns)
    return to.arena.any(parts)


def _properties(to: Translator, schema: dict[str, Json], at: Pointer) -> Iterator[Lit]:
    for keyword in ("properties", "patternProperties"):
        table = schema.get(keyword, {})
        if not isinstance(table, dict):
            yield to.opaque((*at, keyword), f"`{keyword}` must be an object")
            continue
        for name in table:
            where = (*at, keyword, name)
            names = to.arena.values((name,)) if keyword == "properties" else pattern(to, name, where)
            yield to.arena.fields(names, to.child(where))
    if "additionalProperties" in schema:
        rest = -evaluated_names(to, schema, at)
        yield to.arena.fields(rest, to.child((*at, "additionalProperties")))


def _required(to: Translator, names: Json, at: Pointer) -> Iterator[Lit]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        yield to.opaque(at, "a list of required names must be an array of strings")
        return
    for name in names:
        yield to.arena.atom(Has(name))


def _dependencies(to: Translator, schema: dict[str, Json], at: Pointer) -> Iterator[Lit]:
    modern = to.dialect.year >= 2019
    for keyword in ("dependentRequired", "dependentSchemas") if modern else ("dependencies",):
        table = schema.get(keyword, {})
        if not isinstance(table, dict):
            yield to.opaque((*at, keyword), f"`{keyword}` must be an object")
            continue
        for name, value in table.items():
            where = (*at, keyword, name)
            if keyword == "dependentRequired" or (keyword == "dependencies" and isinstance(value, list)):
                consequence = to.arena.all(_required(to, value, where))
            else:
                consequence = to.beside(where)
            # -Has implies an object, so other types need their own way out.
            yield to.only(Kind.OBJECT, to.arena.any((-to.arena.atom(Has(name)), consequence)))
    if modern and "dependencies" in schema:
        yield to.opaque((*at, "dependencies"), "`dependencies` has no fixed meaning since 2019-09")
