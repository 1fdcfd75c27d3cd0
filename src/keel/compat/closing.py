"""Which names an open object schema declares, for telling latent breaks from breaks of declared names."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    are the spelled-out default. An object that declares no name at all is a free-form map too, whose names are its
    data, except for a plain one at the root, which is a tool without arguments.
    """
    shape = _Shape()
    seen: set[Pointer] = set()
    stack = [at]
    while stack:
        pointer = stack.pop()
        schema = to.document.get(pointer)
        if pointer not in seen and isinstance(schema, dict):
            shape.take(schema)
            stack.extend(_beside(to, schema, pointer))
        seen.add(pointer)
    if shape.map or not (shape.named or (not at and not shape.sized)):
        return TRUE
    declared = to.arena.values(sorted(shape.names))
    matching = [pattern(to, source, at) for source in sorted(shape.patterns)]
    return to.arena.fields(-to.arena.any((declared, *matching)), FALSE)


@dataclass
class _Shape:
    """What the schemas that apply to one object say about its names."""

    names: set[str] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)
    map: bool = False
    named: bool = False
    sized: bool = False

    def take(self, schema: dict[str, Json]) -> None:
        rests = (schema.get(keyword, True) for keyword in ("additionalProperties", "unevaluatedProperties"))
        self.map = self.map or "propertyNames" in schema or any(rest not in (True, {}, False) for rest in rests)
        self.sized = self.sized or "minProperties" in schema or "maxProperties" in schema
        self.names.update(_names(schema))
        self.named = self.named or "properties" in schema or bool(self.names)
        listed = schema.get("patternProperties")
        self.patterns.update(listed if isinstance(listed, dict) else ())


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
