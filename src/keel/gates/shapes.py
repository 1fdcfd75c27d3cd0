"""Looks into frozen schemas along a path of keys, and compares what a producer gives with what a consumer takes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from keel.core.model import Json
from keel.core.schema import local_target

Key = str | int | None
"""A property, an index, or any element."""
_MAX_REFS = 40
_MAX_DEPTH = 100
"""Branches within branches, far more than any published schema has."""


class Absent(Enum):
    """Why there is no schema at a path."""

    EXCLUDED = auto()
    """No value that fits the schema has the key."""
    ANYTHING = auto()
    """The schema says nothing of it."""


Found = Json | Absent


def resolved(root: Json, schema: Json) -> Json:
    """Follow local references of a schema."""
    for _ in range(_MAX_REFS):
        if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str) or set(schema) - _WITH_REF:
            return schema
        found, target = local_target(root, schema["$ref"])
        if not found:
            return True
        schema = target
    return True


_WITH_REF = {"$defs", "$ref", "$schema", "definitions", "description", "title", "$comment", "examples", "default"}


def step(root: Json, schema: Json, key: Key) -> Found:
    """Return the schema of one key of a value, or why there is none."""
    return _Steps(root, key).of(schema)


class _Steps:
    """One step into a schema; each part is looked at once, so that no reference circle or fan of them is endless."""

    def __init__(self, root: Json, key: Key) -> None:
        self.root = root
        self.key = key
        self._depth = 0
        # The schemas are kept, so that no other one gets their identity.
        self._known: dict[int, tuple[Json, Found]] = {}

    def of(self, schema: Json) -> Found:
        schema = resolved(self.root, schema)
        if schema is False:
            return Absent.EXCLUDED
        if not isinstance(schema, Mapping):
            return Absent.ANYTHING
        if id(schema) not in self._known:
            # Within itself it says nothing more, and so deep down nothing that is worth it.
            self._known[id(schema)] = (schema, Absent.ANYTHING)
            self._depth += 1
            if self._depth <= _MAX_DEPTH:
                self._known[id(schema)] = (schema, self._of(schema))
            self._depth -= 1
        return self._known[id(schema)][1]

    def _of(self, schema: Mapping[str, Json]) -> Found:
        for word, every in (("anyOf", True), ("oneOf", True), ("allOf", False)):
            parts = schema.get(word)
            if isinstance(parts, list) and parts:
                return self._combined(schema, [self.of(part) for part in parts], every, word)
        if any(word in schema for word in _OPAQUE):
            return Absent.ANYTHING
        return _own(schema, self.key)

    def _combined(self, schema: Mapping[str, Json], parts: list[Found], every: bool, word: str) -> Found:  # noqa: FBT001
        rest = {name: value for name, value in schema.items() if name != word}
        mine = self.of(rest) if rest else Absent.ANYTHING
        if mine is Absent.EXCLUDED:
            return mine
        excluded = [part is Absent.EXCLUDED for part in parts]
        if (every and all(excluded)) or (not every and any(excluded)):
            return Absent.EXCLUDED
        if not isinstance(mine, Absent):
            return mine
        known = [part for part in parts if not isinstance(part, Absent)]
        return known[0] if len(known) == 1 and (not every or sum(excluded) == len(parts) - 1) else Absent.ANYTHING


_OPAQUE = ("if", "$dynamicRef", "dependentSchemas", "not", "unevaluatedProperties", "$ref")


def _own(schema: Mapping[str, Json], key: Key) -> Found:
    types = _types(schema)
    if isinstance(key, str):
        if types is not None and "object" not in types:
            return Absent.EXCLUDED
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and key in properties:
            return properties[key]
        more = schema.get("additionalProperties", True)
        if schema.get("patternProperties"):
            return Absent.ANYTHING
        return Absent.EXCLUDED if more is False else (more if isinstance(more, Mapping) else Absent.ANYTHING)
    if types is not None and "array" not in types:
        return (
            Absent.EXCLUDED
            if isinstance(key, int)
            and types <= {"object", "number", "integer", "boolean", "null"}
            and "object" not in types
            else Absent.ANYTHING
        )
    items = schema.get("items")
    return items if isinstance(items, Mapping) and "prefixItems" not in schema else Absent.ANYTHING


def _types(schema: Mapping[str, Json]) -> frozenset[str] | None:
    found = schema.get("type")
    if isinstance(found, str):
        return frozenset({found})
    if isinstance(found, list) and all(isinstance(item, str) for item in found):
        return frozenset(found)
    return None


def fits_never(out_root: Json, out: Json, in_root: Json, wanted: Json) -> bool:
    """Tell whether no value of a producer's schema is a value of a consumer's; False wherever that is not certain."""
    given = _kinds(out_root, out)
    taken = _kinds(in_root, wanted)
    if given is None or taken is None:
        return False
    return not any(_meet(one, other) for one in given for other in taken)


def _meet(one: str, other: str) -> bool:
    return one == other or {one, other} == {"integer", "number"}


def _kinds(root: Json, schema: Json) -> frozenset[str] | None:
    """Return every JSON type that a value of a schema may have; None when it may have any."""
    return _Kinds(root).of(schema)


class _Kinds:
    """The types of one schema; each part is looked at once, as in `_Steps`."""

    def __init__(self, root: Json) -> None:
        self.root = root
        self._depth = 0
        self._known: dict[int, tuple[Json, frozenset[str] | None]] = {}

    def of(self, schema: Json) -> frozenset[str] | None:
        schema = resolved(self.root, schema)
        if not isinstance(schema, Mapping):
            return None
        if id(schema) not in self._known:
            self._known[id(schema)] = (schema, None)
            self._depth += 1
            if self._depth <= _MAX_DEPTH:
                self._known[id(schema)] = (schema, self._of(schema))
            self._depth -= 1
        return self._known[id(schema)][1]

    def _of(self, schema: Mapping[str, Json]) -> frozenset[str] | None:
        if "const" in schema:
            return frozenset({_kind(schema["const"])})
        if isinstance(schema.get("enum"), list):
            return frozenset(_kind(item) for item in schema["enum"])
        own = _types(schema)
        for word in ("anyOf", "oneOf"):
            parts = schema.get(word)
            if isinstance(parts, list) and parts:
                kinds = [self.of(part) for part in parts]
                if any(kind is None for kind in kinds):
                    return own
                union = frozenset(item for kind in kinds if kind is not None for item in kind)
                if own is None:
                    return union
                return frozenset(item for item in union if any(_meet(item, other) for other in own))
        return own


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if float(value).is_integer() else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
