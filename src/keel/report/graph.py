"""A flow drawn with its gates: as text, Mermaid or Graphviz dot; pure functions of the bound graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keel.core.text import excerpt

Graph = Mapping[str, Any]
"""What `bundle.graphs.bound_graph` gives."""

_SHAPES = {
    "gate": ("{{", "}}"),
    "branch": ("{", "}"),
    "loop": ("{", "}"),
    "entry": ("([", "])"),
    "return": ("([", "])"),
}
_DOT_SHAPES = {"gate": "hexagon", "branch": "diamond", "loop": "diamond", "entry": "oval", "return": "oval"}
_PLAIN = frozenset({"", "next"})


def label(node: Mapping[str, Any], *, needs_approval: frozenset[str]) -> str:
    """Return what one step is, in a few words, with its line."""
    kind, line = node["kind"], str(node["at"]).split(":")[1]
    key = node.get("key", "")
    if kind == "call":
        marks = []
        if node.get("gated"):
            marks.append("asks itself")
        elif node.get("covered_by"):
            marks.append(f"approved at line {', '.join(item.split(':')[1] for item in node['covered_by'])}")
        elif key in needs_approval:
            marks.append("NEEDS APPROVAL")
        text = f"call {key}{f' ({marks[0]})' if marks else ''}"
    elif kind in ("gate", "think", "agent"):
        text = f"{kind} {key}".rstrip() if kind != "gate" else f"gate {node.get('text', '')}".rstrip()
    elif kind in ("branch", "loop"):
        text = f"{kind} {node.get('text', '')}".rstrip()
    else:
        text = kind
    return f"{excerpt(text, 90)} :{line}"


def as_text(graph: Graph, needs_approval: frozenset[str]) -> str:
    """Return the steps, one a line, each with where control goes from it."""
    targets: dict[int, list[str]] = {}
    for source, target, way in graph["edges"]:
        targets.setdefault(source, []).append(f"{'' if way in _PLAIN else f'{way} '}→ {target}")
    head = f"flow {graph['name']} ({graph['file']}:{graph['line']}){'' if graph['entry'] else ', not an entry'}"
    rows = [
        f"{number:>4}  {label(node, needs_approval=needs_approval):<72} {', '.join(targets.get(number, []))}".rstrip()
        for number, node in enumerate(graph["nodes"])
    ]
    return "\n".join([head, *rows]) + "\n"


def as_mermaid(graph: Graph, needs_approval: frozenset[str]) -> str:
    """Return a Mermaid flowchart; labels are escaped so that no text of a flow becomes markup."""
    lines = ["flowchart TD"]
    for number, node in enumerate(graph["nodes"]):
        left, right = _SHAPES.get(node["kind"], ("[", "]"))
        text = _entities(label(node, needs_approval=needs_approval))
        lines.append(f'  n{number}{left}"{text}"{right}')
    for source, target, way in graph["edges"]:
        lines.append(f"  n{source} -->{'' if way in _PLAIN else f'|{_entities(way)}|'} n{target}")
    danger = [
        f"n{number}"
        for number, node in enumerate(graph["nodes"])
        if node["kind"] == "call" and node.get("key") in needs_approval
    ]
    if danger:
        lines += ["  classDef approval stroke-width:3px", f"  class {','.join(danger)} approval"]
    return "\n".join(lines) + "\n"


def as_dot(graph: Graph, needs_approval: frozenset[str]) -> str:
    """Return a Graphviz digraph."""
    lines = [f"digraph {_quoted(graph['name'])} {{", "  node [shape=box, fontname=monospace];"]
    for number, node in enumerate(graph["nodes"]):
        shape = _DOT_SHAPES.get(node["kind"], "box")
        bold = ", penwidth=3" if node["kind"] == "call" and node.get("key") in needs_approval else ""
        lines.append(f"  n{number} [label={_quoted(label(node, needs_approval=needs_approval))}, shape={shape}{bold}];")
    for source, target, way in graph["edges"]:
        text = "" if way in _PLAIN else f" [label={_quoted(way)}]"
        lines.append(f"  n{source} -> n{target}{text};")
    return "\n".join([*lines, "}"]) + "\n"


def _entities(text: str) -> str:
    return "".join(char if char.isalnum() or char in " _-./:,→()" else f"#{ord(char)};" for char in text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


DRAWINGS: Mapping[str, Callable[[Graph, frozenset[str]], str]] = {"dot": as_dot, "mermaid": as_mermaid, "text": as_text}
"""Every way to draw a flow."""
