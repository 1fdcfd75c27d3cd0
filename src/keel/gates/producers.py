"""What a tool's output schema says of a value in a flow: the value is followed back to the call that gave it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from keel.core.graph import Graph, Kind, Value, ValueKind
from keel.core.model import Json
from keel.gates.literals import UNKNOWN, Unknown
from keel.gates.shapes import Absent, Found, Key, step


@dataclass(frozen=True, slots=True)
class Produced:
    """Where a value comes from, and what is known of it."""

    root: Mapping[str, Json]
    """The tool's whole output schema."""
    schema: Found
    """The part that describes the value, or why there is none."""
    key: str
    """Tool key."""


def source_of(graph: Graph, value: int) -> tuple[str, tuple[Key, ...]] | None:
    """Return the tool whose result a value is part of, and the way into the result; None for any other value."""
    path: list[Key] = []
    item = graph.values[value]
    while item.kind in (ValueKind.PART, ValueKind.ELEMENT, ValueKind.BOUND) or item.name == "member":
        key = _step_of(item)
        if isinstance(key, Unknown) or item.operands[0] in graph.contents:
            return None
        path.extend(key)
        item = graph.values[item.operands[0]]
    if item.kind is not ValueKind.RESULT or item.node < 0 or graph.nodes[item.node].kind is not Kind.CALL:
        return None
    return graph.nodes[item.node].key, tuple(reversed(path))


def produced(graph: Graph, value: int, output_of: Callable[[str], Json]) -> Produced | None:
    """Return what a value's producer says of it; None when there is no producer or it describes nothing.

    Args:
        graph: the flow.
        value: index of the value.
        output_of: tool key to its output schema, or None.
    """
    source = source_of(graph, value)
    root = output_of(source[0]) if source is not None else None
    if source is None or not isinstance(root, Mapping):
        return None
    tool, path = source
    schema: Found = root
    for position, key in enumerate(path):
        schema = step(root, schema, key)
        if isinstance(schema, Absent):
            return Produced(root, schema, tool) if position == len(path) - 1 else None
    return Produced(root, schema, tool)


def _step_of(item: Value) -> tuple[Key, ...] | Unknown:
    if item.kind is ValueKind.ELEMENT:
        return (None,)
    if item.kind is not ValueKind.PART:
        return ()
    key = _key(item.key)
    return key if isinstance(key, Unknown) else (key,)


def _key(text: str | None) -> Key | Unknown:
    if text is None:
        return None
    if text[:1] == '"':
        return str(json.loads(text))
    return int(text) if re.fullmatch(r"-?\d+", text) else UNKNOWN
