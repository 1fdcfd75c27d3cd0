"""The keyword of a schema that refuses an instance, found by descending with it.

A validator's error list is not used: it unfolds every branch of nested unions, which takes exponential time and memory
on recursive schemas. Here each step asks for one subschema, and descends into a union only where one branch is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from keel.compat.document import Pointer, UnresolvedReference
from keel.compat.interface import Json
from keel.compat.keywords_array import positions
from keel.compat.membership import Budget, OutOfSteps, holds
from keel.compat.translate import Translator

STEPS = 20_000
_ALONGSIDE = {
    "additionalProperties": ("properties", "patternProperties"),
    "contains": ("minContains", "maxContains"),
    "minimum": ("exclusiveMinimum",),
    "maximum": ("exclusiveMaximum",),
}
"""Keywords that change the meaning of another."""


def locate(to: Translator, value: Json) -> Pointer:
    """The pointer of the keyword in this document that refuses the value; as deep as it can be told."""
    finder = _Finder(to)
    try:
        return finder.find((), value)
    except (OutOfSteps, RecursionError):
        return finder.reached


class _Finder:
    def __init__(self, to: Translator) -> None:
        self.to = to
        self.budget = Budget(STEPS)
        self.reached: Pointer = ()

    def refuses(self, at: Pointer, value: Json) -> bool:
        return holds(self.to.arena, self.to.child(at), value, self.budget) is False

    def find(self, at: Pointer, value: Json) -> Pointer:
        self.budget.spend()
        self.reached = at
        schema = self.to.document.get(at)
        if not isinstance(schema, dict):
            return at
        for below, inner in self._applied(schema, at, value):
            if self.refuses(below, inner):
                return self.find(below, inner)
        for keyword in schema:
            names = (keyword, *_ALONGSIDE.get(keyword, ()))
            part = {name: schema[name] for name in names if name in schema}
            if holds(self.to.arena, self.to.keywords(part, at), value, self.budget) is False:
                branch = self._meant(schema, at, keyword, value)
                return (*at, keyword) if branch is None else self.find(branch, value)
        return at

    def _applied(self, schema: dict[str, Json], at: Pointer, value: Json) -> Iterator[tuple[Pointer, Json]]:
        """Subschemas that the value, or a part of it, must satisfy whatever else holds."""
        yield from self._in_place(schema, at, value)
        if isinstance(value, dict):
            yield from self._properties(schema, at, value)
        elif isinstance(value, list):
            yield from self._items(schema, at, value)

    def _in_place(self, schema: dict[str, Json], at: Pointer, value: Json) -> Iterator[tuple[Pointer, Json]]:
        for keyword in ("$ref", "$dynamicRef"):
            if keyword in schema:
                try:
                    yield self.to.target(schema[keyword], (*at, keyword), dynamic=keyword == "$dynamicRef"), value
                except UnresolvedReference:
                    continue
        branches = schema.get("allOf")
        for index in range(len(branches)) if isinstance(branches, list) else ():
            yield (*at, "allOf", str(index)), value
        if "if" in schema and self.to.dialect.year >= 7:
            branch = "else" if self.refuses((*at, "if"), value) else "then"
            if branch in schema:
                yield (*at, branch), value

    def _properties(
        self, schema: dict[str, Json], at: Pointer, value: dict[str, Json]
    ) -> Iterator[tuple[Pointer, Json]]:
        for keyword in ("properties", "dependentSchemas"):
            table = schema.get(keyword)
            for name in table if isinstance(table, dict) else ():
                if name in value:
                    yield (*at, keyword, name), (value[name] if keyword == "properties" else value)
        table = schema.get("patternProperties")
        patterns = table if isinstance(table, dict) else {}
        for source in patterns:
            names = self.to.names(source, at)
            for name, inner in value.items():
                if holds(self.to.arena, names, name, self.budget):
                    yield (*at, "patternProperties", source), inner
        if "additionalProperties" in schema:
            evaluated = self.to.evaluated(schema, at)
            for name, inner in value.items():
                if holds(self.to.arena, evaluated, name, self.budget) is False:
                    yield (*at, "additionalProperties"), inner

    def _items(self, schema: dict[str, Json], at: Pointer, value: list[Json]) -> Iterator[tuple[Pointer, Json]]:
        prefix, rest = positions(self.to, schema)
        start = len(schema[prefix]) if prefix is not None and isinstance(schema[prefix], list) else 0
        for index, inner in enumerate(value):
            if prefix is not None and index < start:
                yield (*at, prefix, str(index)), inner
            elif rest is not None:
                yield (*at, rest), inner

    def _meant(self, schema: dict[str, Json], at: Pointer, keyword: str, value: Json) -> Pointer | None:
        """The one branch of a union whose type and tags the value has, None when that is not clear."""
        if keyword not in ("anyOf", "oneOf") or not isinstance(schema[keyword], list):
            return None
        below = [(*at, keyword, str(index)) for index in range(len(schema[keyword]))]
        refusing = [branch for branch in below if self.refuses(branch, value)]
        meant = [branch for branch in refusing if self._resembles(branch, value)]
        return meant[0] if len(meant) == 1 and len(refusing) == len(below) else None

    def _resembles(self, at: Pointer, value: Json) -> bool:
        schema = self.to.document.get(at)
        for _ in range(20):
            if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
                break
            try:
                at = self.to.target(schema["$ref"], (*at, "$ref"))
            except UnresolvedReference:
                return False
            schema = self.to.document.get(at)
        if not isinstance(schema, dict):
            return False
        if "type" in schema:
            plain = self.to.keywords({"type": schema["type"]}, at)
            if holds(self.to.arena, plain, value, self.budget) is False:
                return False
        declared = schema.get("properties")
        table = declared if isinstance(declared, dict) else {}
        for name in table if isinstance(value, dict) else ():
            tagged = isinstance(table[name], dict) and ("const" in table[name] or "enum" in table[name])
            if tagged and name in value and self.refuses((*at, "properties", name), value[name]):
                return False
        return True
