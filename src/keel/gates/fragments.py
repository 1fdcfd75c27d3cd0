"""A part of a schema as a schema of its own, so that parts of different documents can be compared or joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keel.core.model import Json
from keel.core.schema import KEYWORDS, Shape, walk

_BOUND = frozenset({"$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveRef", "id"})
"""Keywords whose meaning depends on where in which document they stand."""


def fragment(root: Json, schema: Json) -> Json | None:
    """Return a document that accepts what a part of another one accepts, or None when it cannot be moved.

    Args:
        root: the whole document.
        schema: a schema inside it.
    """
    if not isinstance(schema, Mapping):
        return schema
    dialect = {"$schema": root["$schema"]} if isinstance(root, Mapping) and "$schema" in root else {}
    moved = transplanted(root, schema, "whole")
    if moved is None:
        return None
    part, definitions = moved
    # A reference hides its neighbours in the older dialects, so that it never shares a schema with other keywords.
    return {**dialect, "allOf": [part], **({"definitions": definitions} if definitions else {})}


def transplanted(root: Json, schema: Json, name: str) -> tuple[Json, dict[str, Json]] | None:
    """Move a part of a document under `/definitions/<name>` of another one.

    Args:
        root: the document it stands in.
        schema: a schema inside it.
        name: a name that the other document's definitions do not have.

    Returns:
        (the part, definitions to add), or None when its references cannot be moved.
    """
    mentioned = [item for _, item in walk(schema) if isinstance(item, Mapping) and "$ref" in item]
    if not mentioned:
        return schema, {}
    if any(isinstance(item, Mapping) and _BOUND & item.keys() for _, item in walk(root)):
        return None
    at = f"#/definitions/{name}"
    return _moved(schema, at), {name: _moved(root, at)}


def _moved(schema: Any, at: str) -> Any:
    if not isinstance(schema, dict):
        return schema
    copy: dict[str, Any] = {}
    for keyword, value in schema.items():
        shape = KEYWORDS.get(keyword)
        if keyword == "$ref" and isinstance(value, str) and value.startswith("#"):
            copy[keyword] = at + value[1:]
        elif isinstance(value, dict) and shape in (Shape.MAP, Shape.MAP_OR_NAMES):
            copy[keyword] = {name: _moved(item, at) for name, item in value.items()}
        elif isinstance(value, list) and shape in (Shape.LIST, Shape.SCHEMA_OR_LIST):
            copy[keyword] = [_moved(item, at) for item in value]
        elif shape in (Shape.SCHEMA, Shape.SCHEMA_OR_LIST):
            copy[keyword] = _moved(value, at)
        elif keyword != "$schema":
            copy[keyword] = value
    return copy
