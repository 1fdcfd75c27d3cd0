"""Literal values of a graph as JSON, as far as they are known."""

from __future__ import annotations

import json

from keel.core.graph import Graph, ValueKind
from keel.core.model import Json


class Unknown:
    """A value that is not a literal."""


UNKNOWN = Unknown()


def literal(graph: Graph, value: int, depth: int = 0) -> Json | Unknown:
    """Return the JSON value that a value always is, or `UNKNOWN`."""
    item = graph.values[value]
    if depth > 50 or value in graph.contents:
        return UNKNOWN
    if item.kind is ValueKind.BOUND or (item.name == "member" and item.hidden[0] not in graph.contents):
        return literal(graph, item.operands[0], depth + 1)
    if item.kind is ValueKind.LITERAL:
        return json.loads(item.key) if item.key is not None and item.key[:1] != "<" else UNKNOWN
    if item.kind is not ValueKind.RENDERED or item.name not in ("dict", "list", "tuple"):
        return UNKNOWN
    parts = [literal(graph, part, depth + 1) for part in item.operands]
    if any(isinstance(part, Unknown) for part in parts):
        return UNKNOWN
    if item.name == "dict":
        if item.keys is None:
            return {} if not parts else UNKNOWN
        return dict(zip((json.loads(key) for key in item.keys), parts, strict=True))
    return parts


def members(graph: Graph, value: int) -> dict[str, int] | None:
    """Return the members of a mapping display whose keys are all literal, or None."""
    item = graph.values[value]
    while item.kind is ValueKind.BOUND or (item.name == "member" and item.hidden[0] not in graph.contents):
        value = item.operands[0]
        item = graph.values[value]
    if item.keys is None or item.name != "dict" or value in graph.contents:
        return None
    return dict(zip((json.loads(key) for key in item.keys), item.operands, strict=True))


def options(graph: Graph, value: int) -> list[int]:
    """Return the values that a value may be: itself, or what a merged one may be."""
    found: list[int] = []
    seen: set[int] = set()
    stack = [value]
    while stack:
        index = stack.pop()
        item = graph.values[index]
        if index in seen:
            continue
        seen.add(index)
        if item.kind in (ValueKind.BOUND, ValueKind.MERGED) or item.name == "member":
            stack.extend(item.operands)
        else:
            found.append(index)
    return sorted(found)
