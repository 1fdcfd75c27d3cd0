"""Which names an open object schema declares, for telling latent breaks from breaks of declared names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keel.compat.document import Pointer, UnresolvedReference
from keel.compat.interface import Json
from keel.compat.keywords_scalar import pattern
from keel.compat.nodes import FALSE, TRUE, Lit

if TYPE_CHECKING:
    from keel.compat.translate import Translator

_ALWAYS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("if", "then", "else")


def undeclared(to: Translator, at: Pointer) -> Lit:
    """The rule that an object at this location has no name which the schema there does not declare.

    A schema that gives all other names a type of their own (a map) declares every name. `true` and `{}` do not: they
    are the spelled-out default.
    """
    names: set[str] = set()
    patterns: set[str] = set()
    seen: set[Pointer] = set()
    stack = [at]
    while stack:
        pointer = stack.pop()
        if pointer in seen:
            continue
        seen.add(pointer)
        schema = to.document.get(pointer)
        if not isinstance(schema, dict):
            continue
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if schema.get(keyword, True) not in (True, {}, False):
                return TRUE
        if "propertyNames" in schema:
            return TRUE
        names.update(_names(schema))
        listed = schema.get("patternProperties")
        patterns.update(listed if isinstance(listed, dict) else ())
        stack.extend(_beside(to, schema, pointer))
    declared = to.arena.values(sorted(names))
    matching = [pattern(to, source, at) for source in sorted(patterns)]
    return to.arena.fields(-to.arena.any((declared, *matching)), FALSE)


def _names(schema: dict[str, Json]) -> set[str]:
    found: set[str] = set()
    for keyword in ("properties", "dependentRequired", "dependentSchemas", "dependencies"):
        table = schema.get(keyword)
        if isinstance(table, dict):
            found.update(table)
            for value in table.values():
                if keyword != "properties" and isinstance(value, list):
                    found.update(name for name in value if isinstance(name, str))
    required = schema.get("required")
    if isinstance(required, list):
        found.update(name for name in required if isinstance(name, str))
    return found


def _beside(to: Translator, schema: dict[str, Json], at: Pointer) -> list[Pointer]:
    found: list[Pointer] = []
    for keyword in ("$ref", "$dynamicRef"):
        if keyword in schema:
            try:
                found.append(to.target(schema[keyword], (*at, keyword), dynamic=keyword == "$dynamicRef"))
            except UnresolvedReference:
                continue
    for keyword in _ALWAYS:
        branches = schema.get(keyword)
        if isinstance(branches, list):
            found.extend((*at, keyword, str(index)) for index in range(len(branches)))
    found.extend((*at, keyword) for keyword in _SINGLE if keyword in schema)
    dependent = schema.get("dependentSchemas")
    if isinstance(dependent, dict):
        found.extend((*at, "dependentSchemas", name) for name in dependent)
    return found
