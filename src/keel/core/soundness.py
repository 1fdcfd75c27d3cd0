"""Whether a tool's definition can be frozen at all: schema roots, references, sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from keel.core.jsontext import MAX_DEPTH
from keel.core.schema import follow, is_external, local_target, references
from keel.core.text import escape, excerpt, nearest

MAX_NODES = 50_000
"""Default limit of a schema's nodes (DESIGN 11)."""


@dataclass(frozen=True, slots=True)
class Defect:
    """One reason why a definition is not sound."""

    code: str
    pointer: str
    """Pointer into the tool."""
    text: str
    """One clause; the tool's name is left out."""


def defects(tool: Mapping[str, Any]) -> Iterator[Defect]:
    """Yield what makes a tool's definition unsound, without any JSON Schema library.

    A schema that is too complex is not looked into any further.
    """
    for field in ("inputSchema", "outputSchema"):
        if field not in tool and field == "outputSchema":
            continue
        schema = tool.get(field)
        at = f"/{field}"
        if not isinstance(schema, dict):
            found = "is missing" if field not in tool else f"is {_kind(schema)}, not an object"
            yield Defect("invalid-schema", at if field in tool else "", f"`{field}` {found}")
            continue
        extent = _extent(schema)
        too_complex = _too_complex(extent, at)
        if too_complex is not None:
            yield too_complex
            continue
        if field == "inputSchema" and not accepts_objects(schema):
            yield Defect("invalid-schema", at, "`inputSchema` does not describe an object")
        if extent.refers:
            yield from _references(schema, at)


class _Extent(NamedTuple):
    """What one walk over a schema tells; a tuple, because a lock has tens of thousands of schemas."""

    nodes: int
    depth: int
    refers: bool
    """Whether a keyword of reference is a key anywhere."""


def _extent(schema: Mapping[str, Any]) -> _Extent:
    """Walk a schema level by level, so that depth is no limit; what holds nothing is counted and not visited."""
    nodes, depth, refers = 1, 1, False
    level: list[Any] = [schema]
    while level:
        following: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                refers = refers or not _REFERRING.isdisjoint(item)
                following += item.values()
            else:
                following += item
        nodes += len(following)
        depth += bool(following)
        level = [item for item in following if isinstance(item, _HOLDING)]
    return _Extent(nodes, depth, refers)


_HOLDING = (dict, list)
_REFERRING = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


def accepts_objects(schema: Mapping[str, Any]) -> bool:
    """Tell whether a schema's root can describe call arguments, following local references (MCP `Tool.inputSchema`)."""
    seen = 0
    current: Any = schema
    while isinstance(current, Mapping) and "type" not in current and "$ref" in current and seen < MAX_DEPTH:
        found, current = local_target(schema, str(current["$ref"]))
        seen += 1
        if not found:
            return True  # the dangling reference is reported by itself
    if not isinstance(current, Mapping):
        return False
    kind = current.get("type")
    return kind == "object" or (kind is None and not current.keys() & {"const", "enum"})


def _too_complex(extent: _Extent, at: str) -> Defect | None:
    nodes, depth, _ = extent
    if depth > MAX_DEPTH:
        return Defect("schema-too-complex", at, f"its schema nests {depth} levels deep; the limit is {MAX_DEPTH}")
    if nodes > MAX_NODES:
        return Defect("schema-too-complex", at, f"its schema has {nodes:,} nodes; the limit is {MAX_NODES:,}")
    return None


def _references(schema: Mapping[str, Any], at: str) -> Iterator[Defect]:
    for pointer, target in references(schema):
        shown = excerpt(target, 100)
        if is_external(schema, target):
            yield Defect("external-ref", at + pointer, f"`$ref` points outside the definition: `{shown}`")
        elif not local_target(schema, target)[0]:
            yield Defect("dangling-ref", at + pointer, f"`$ref` points at nothing: `{shown}`{_nearest(schema, target)}")


def _nearest(schema: Mapping[str, Any], target: str) -> str:
    wanted = target.rpartition("/")[2]
    for group in ("$defs", "definitions"):
        found, held = follow(schema, f"/{group}")
        match = nearest(wanted, held) if found and isinstance(held, dict) else None
        if match:
            return f"; the nearest definition is `#/{group}/{escape(match)}`"
    return ""


def _kind(value: Any) -> str:
    names = {
        type(None): "null",
        bool: "a boolean",
        list: "an array",
        str: "a string",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), "something else")
