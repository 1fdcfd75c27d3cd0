"""Looks into frozen schemas along a path of keys, and compares what a producer gives with what a consumer takes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from keel.core.model import Json
from keel.core.schema import local_target

Key = str | int | None
"""A property, an index, or any element."""
_MAX_REFS = 40


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
    schema = resolved(root, schema)
    if schema is False:
        return Absent.EXCLUDED
    if not isinstance(schema, Mapping):
        return Absent.ANYTHING
    for word, every in (("anyOf", True), ("oneOf", True), ("allOf", False)):
        parts = schema.get(word)
        if isinstance(parts, list) and parts:
            return _combined(root, schema, [step(root, part, key) for part in parts], every, key, word)
    if any(
        word in schema for word in ("if", "$dynamicRef", "dependentSchemas", "not", "unevaluatedProperties", "$ref")
    ):
        return Absent.ANYTHING
    return _own(schema, key)


def _combined(root: Json, schema: Mapping[str, Json], parts: list[Found], every: bool, key: Key, word: str) -> Found:  # noqa: FBT001
    rest = {name: value for name, value in schema.items() if name != word}
    mine = step(root, rest, key) if rest else Absent.ANYTHING
    if mine is Absent.EXCLUDED:
        return mine
    excluded = [part is Absent.EXCLUDED for part in parts]
    if (every and all(excluded)) or (not every and any(excluded)):
        return Absent.EXCLUDED
    if not isinstance(mine, Absent):
        return mine
    known = [part for part in parts if not isinstance(part, Absent)]
    return known[0] if len(known) == 1 and (not every or sum(excluded) == len(parts) - 1) else Absent.ANYTHING


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


def _kinds(root: Json, schema: Json, depth: int = 0) -> frozenset[str] | None:
    """Return every JSON type that a value of a schema may have; None when it may have any."""
    schema = resolved(root, schema)
    if not isinstance(schema, Mapping) or depth > 20:
        return None
    if "const" in schema:
        return frozenset({_kind(schema["const"])})
    if isinstance(schema.get("enum"), list):
        return frozenset(_kind(item) for item in schema["enum"])
    own = _types(schema)
    for word in ("anyOf", "oneOf"):
        parts = schema.get(word)
        if isinstance(parts, list) and parts:
            kinds = [_kinds(root, part, depth + 1) for part in parts]
            if any(kind is None for kind in kinds):
                return own
            union = frozenset(item for kind in kinds if kind is not None for item in kind)
            return (
                union if own is None else frozenset(item for item in union if any(_meet(item, other) for other in own))
            )
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
