"""Where schemas stand inside a JSON Schema: one keyword table, a walker, local references and the `k1` normal form.

Source: JSON Schema 2020-12 core sections 10 and 11 and validation section 6; the older keywords `definitions`,
`dependencies` and `additionalItems` are read in every dialect, as the 2020-12 meta-schema itself still does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum, auto
from typing import Any
from urllib.parse import unquote

from keel.core.jsontext import escape_token


class Shape(Enum):
    """What the value of a keyword holds."""

    SCHEMA = auto()
    LIST = auto()
    MAP = auto()
    SCHEMA_OR_LIST = auto()
    MAP_OR_NAMES = auto()


KEYWORDS: Mapping[str, Shape] = {
    "$defs": Shape.MAP,
    "additionalItems": Shape.SCHEMA,
    "additionalProperties": Shape.SCHEMA,
    "allOf": Shape.LIST,
    "anyOf": Shape.LIST,
    "contains": Shape.SCHEMA,
    "contentSchema": Shape.SCHEMA,
    "definitions": Shape.MAP,
    "dependencies": Shape.MAP_OR_NAMES,
    "dependentSchemas": Shape.MAP,
    "else": Shape.SCHEMA,
    "if": Shape.SCHEMA,
    "items": Shape.SCHEMA_OR_LIST,
    "not": Shape.SCHEMA,
    "oneOf": Shape.LIST,
    "patternProperties": Shape.MAP,
    "prefixItems": Shape.LIST,
    "properties": Shape.MAP,
    "propertyNames": Shape.SCHEMA,
    "then": Shape.SCHEMA,
    "unevaluatedItems": Shape.SCHEMA,
    "unevaluatedProperties": Shape.SCHEMA,
}
"""Every keyword whose value holds schemas; all others hold data, where nothing is re-ordered."""

ASSERTIONS = frozenset(
    {"$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$ref", "$schema", "id"}
    | {"const", "dependentRequired", "enum", "exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems"}
    | {"maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum"}
    | {"multipleOf", "nullable", "pattern", "required", "type", "uniqueItems"}
)
"""Keywords that decide which instances are valid without holding schemas; `nullable` is read by some providers."""

_UNORDERED = ("required", "type")


def children(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (pointer suffix, subschema) for each schema directly below an object schema."""
    for keyword, value in schema.items():
        shape = KEYWORDS.get(keyword)
        if shape is None:
            continue
        at = f"/{escape_token(keyword)}"
        if isinstance(value, dict) and shape in (Shape.MAP, Shape.MAP_OR_NAMES):
            for name, item in value.items():
                if shape is Shape.MAP or not isinstance(item, list):
                    yield f"{at}/{escape_token(name)}", item
        elif isinstance(value, list) and shape in (Shape.LIST, Shape.SCHEMA_OR_LIST):
            for index, item in enumerate(value):
                yield f"{at}/{index}", item
        elif shape in (Shape.SCHEMA, Shape.SCHEMA_OR_LIST):
            yield at, value


def walk(schema: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (pointer, schema) for a schema and every schema below it, outermost first; no recursion, no `$ref`."""
    stack = [(pointer, schema)]
    while stack:
        at, current = stack.pop()
        yield at, current
        if isinstance(current, dict):
            stack.extend(reversed([(at + suffix, item) for suffix, item in children(current)]))


def normalise(schema: Any) -> Any:
    """Return a copy in which `required` and `type` arrays are sorted wherever a schema stands, and nowhere else."""
    if not isinstance(schema, dict):
        return schema
    copy = dict(schema)
    for keyword in _UNORDERED:
        names = copy.get(keyword)
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            copy[keyword] = sorted(names)
    for keyword, value in schema.items():
        shape = KEYWORDS.get(keyword)
        if shape is not None:
            copy[keyword] = _rebuild(shape, value, normalise)
    return copy


def _rebuild(shape: Shape, value: Any, each: Callable[[Any], Any]) -> Any:
    """Apply a function to every schema that a keyword's value holds."""
    if isinstance(value, dict) and shape in (Shape.MAP, Shape.MAP_OR_NAMES):
        return {name: each(item) for name, item in value.items()}
    if isinstance(value, list) and shape in (Shape.LIST, Shape.SCHEMA_OR_LIST):
        return [each(item) for item in value]
    return each(value) if shape in (Shape.SCHEMA, Shape.SCHEMA_OR_LIST) else value


def bare(schema: Any) -> Any:
    """Return a copy without annotations: only what can decide whether an instance is valid."""
    if not isinstance(schema, dict):
        return schema
    copy = {}
    for keyword, value in schema.items():
        shape = KEYWORDS.get(keyword)
        if shape is not None:
            copy[keyword] = _rebuild(shape, value, bare)
        elif keyword in ASSERTIONS:
            copy[keyword] = value
    return copy


_REFERRING = ("$ref", "$dynamicRef", "$recursiveRef")


def _mentions(value: Any, names: tuple[str, ...]) -> bool:
    """Tell whether any of the names is a key anywhere in a JSON value, whether or not a schema stands there."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if not item.keys().isdisjoint(names):
                return True
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return False


def references(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield (pointer of the `$ref`, its value) for every reference at a place where a schema stands."""
    if not _mentions(schema, _REFERRING):
        return  # most schemas: no pointer is worth making
    for at, current in walk(schema):
        if isinstance(current, dict):
            for keyword in _REFERRING:
                target = current.get(keyword)
                if isinstance(target, str):
                    yield f"{at}/{keyword}", target


def local_target(root: Any, reference: str) -> tuple[bool, Any]:
    """Follow a reference inside one document.

    Returns:
        (found, value). Pointers, anchors and `$id` of embedded resources are understood (JSON Schema core 8.2).
    """
    resource, _, fragment = reference.partition("#")
    base = root
    if resource:
        found, base = _by_identifier(root, resource)
        if not found:
            return False, None
    fragment = unquote(fragment)
    if not fragment:
        return True, base
    return follow(base, fragment) if fragment.startswith("/") else _by_anchor(base, fragment)


def is_external(root: Any, reference: str) -> bool:
    """Tell whether a reference leaves the document, so that only a fetch could resolve it."""
    resource = reference.partition("#")[0]
    return bool(resource) and not _by_identifier(root, resource)[0]


def follow(value: Any, pointer: str) -> tuple[bool, Any]:
    """Follow an RFC 6901 pointer; returns (found, value)."""
    if pointer == "":
        return True, value
    for raw in pointer[1:].split("/"):
        token = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isascii() and token.isdigit() and int(token) < len(value):
            value = value[int(token)]
        else:
            return False, None
    return True, value


def _by_identifier(root: Any, resource: str) -> tuple[bool, Any]:
    for _, current in walk(root):
        if isinstance(current, dict):
            identifier = current.get("$id", current.get("id"))
            if isinstance(identifier, str) and identifier.rstrip("#") == resource:
                return True, current
    return False, None


def _by_anchor(base: Any, name: str) -> tuple[bool, Any]:
    for _, current in walk(base):
        if isinstance(current, dict) and (
            name in (current.get("$anchor"), current.get("$dynamicAnchor")) or current.get("$id") == f"#{name}"
        ):
            return True, current
    return False, None


def size(value: Any) -> tuple[int, int]:
    """Return (nodes, depth) of a JSON value; iterative, so that depth is no limit."""
    nodes = depth = 0
    level = [value]
    while level:
        depth += 1
        nodes += len(level)
        following: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                following.extend(item.values())
            elif isinstance(item, list):
                following.extend(item)
        level = following
    return nodes, depth
