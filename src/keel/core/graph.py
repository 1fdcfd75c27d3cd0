"""The control-flow graph of a flow as plain data: what the reader builds, the gates judge and the bundle carries.

A graph holds the steps of one flow with its project helpers and sub-flows expanded in place, so that every path a
run can take is a path of the graph. Values stand in a table beside it, in static single assignment: a name that is
bound twice is two values, and where paths meet a merged value says what it may be on each incoming edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

Json = Any


class Kind(StrEnum):
    """What happens at a node."""

    ENTRY = "entry"
    RETURN = "return"
    RAISE = "raise"
    CALL = "call"
    """A tool call."""
    GATE = "gate"
    """A human gate."""
    THINK = "think"
    AGENT = "agent"
    PLAIN = "plain"
    """Ordinary Python that may raise or give fresh data."""
    CHANGE = "change"
    """A name is bound again, or an object is changed in place."""
    BRANCH = "branch"
    JOIN = "join"
    LOOP = "loop"
    HANDLER = "handler"


class Label(StrEnum):
    """Why control goes along an edge."""

    NEXT = "next"
    TRUE = "true"
    FALSE = "false"
    EXCEPTION = "exception"
    AGAIN = "again"
    """Back to the head of a loop."""
    LEAVE = "leave"
    """A loop ends: nothing left to iterate."""


class ValueKind(StrEnum):
    """Where a value comes from."""

    PARAMETER = "parameter"
    LITERAL = "literal"
    OUTSIDE = "outside"
    """A module-level value that is not a literal."""
    RESULT = "result"
    """Fresh data, made at `node`: by a tool, a model, or code that cannot be looked into."""
    APPROVAL = "approval"
    """The answer of the gate at `node`."""
    PART = "part"
    """`base[key]` or `base.key`."""
    ELEMENT = "element"
    """One element of `base`, drawn at the loop head `node`."""
    DERIVED = "derived"
    """Computed from its operands alone."""
    RENDERED = "rendered"
    """Text or a container in which every operand can be read."""
    BOUND = "bound"
    """The operand under a name that was bound before, since `node`."""
    MERGED = "merged"
    """One of the operands, by the way control came to `node`."""


class RegionKind(StrEnum):
    """How the branches of a region run together."""

    PARALLEL = "parallel"
    RACE = "race"


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a source file; lines and columns are 1-based, in characters."""

    file: str
    line: int
    column: int = 1
    end_line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Value:
    """One value of the table; operands are indices into it."""

    kind: ValueKind
    operands: tuple[int, ...] = ()
    name: str = ""
    """Variable, parameter or function that it is known by."""
    key: str | None = None
    """Of a part: the constant key, or None for an unknown one. Of a literal: its JSON text."""
    node: int = -1
    """Where it is made; of a text or a container: the last step before."""
    hidden: tuple[int, ...] = ()
    """Values that decided which operand it is: conditions and loop sources."""
    keys: tuple[str, ...] | None = None
    """Of a mapping display whose keys are all literal: the keys, one for each operand."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call."""

    name: str
    """Empty for a positional one that could not be bound; `*` and `**` for unpacked ones."""
    text: str
    """Source text."""
    value: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from one node to another."""

    source: int
    target: int
    label: Label = Label.NEXT
    fact: tuple[int, bool] | None = None
    """The value whose truth is known on this edge."""
    merges: tuple[tuple[int, int], ...] = ()
    """(merged value at the target, what it is along this edge)."""


@dataclass(frozen=True, slots=True)
class Node:
    """One step."""

    kind: Kind
    span: Span
    text: str = ""
    key: str = ""
    """Tool key; reasoner or agent name."""
    arguments: tuple[Argument, ...] = ()
    unpacked: bool = False
    """Arguments are passed that the reader cannot name."""
    options: tuple[tuple[str, Json], ...] = ()
    """`retries`, `timeout_s`, `label`; for a gate `on_reject`."""
    value: int = -1
    """What it gives. Of a change that takes nothing out of a list: the list."""
    gated: bool = False
    """`gated(tool)`: asks with the tool and its exact arguments before it calls."""
    shown: tuple[int, ...] = ()
    """Of a gate: the values of its prompt and of `show`. Of a change: what it may put in."""
    names: tuple[str, ...] = ()
    """Of a gate: variables whose values it shows, as `frame:name`. Of a change: what is replaced, JSON texts of
    constant keys and `.attribute`."""
    changes: tuple[int, ...] = ()
    """Values whose object is changed in place here."""
    loops: tuple[int, ...] = ()
    """Heads of the loops around it, outermost first."""
    regions: tuple[tuple[int, int], ...] = ()
    """(region, branch) of the parallel and race regions around it, outermost first."""
    calls: tuple[Span, ...] = ()
    """Call sites through which helpers and sub-flows were entered, outermost first."""
    function: str = ""
    """`module:name` of the function the step is written in."""
    echo: bool = False
    """A second copy for what follows a parallel region; judged at its first copy."""
    dead: bool = False
    """Control never comes here."""
    times: int | None = None
    """Of a loop: how often it runs at most, where that is constant."""
    source: int = -1
    """Of a loop: the value that is iterated, or -1."""
    model: str = ""
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Region:
    """Branches that run together."""

    kind: RegionKind
    span: Span
    name: str
    """`gather`, `race`, `hedge`, `quorum`, `TaskGroup`."""
    branches: int = 0


@dataclass(frozen=True)
class Graph:
    """Nodes, edges and values of one flow."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    values: tuple[Value, ...] = ()
    regions: tuple[Region, ...] = ()
    contents: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """What was put into the object of a value by a change in place, anywhere in the flow."""
    reads: tuple[tuple[int, Span], ...] = ()
    """Subscripts with a constant key, and where they are written."""

    @cached_property
    def outgoing(self) -> tuple[tuple[Edge, ...], ...]:
        """Edges by source."""
        found: list[list[Edge]] = [[] for _ in self.nodes]
        for edge in self.edges:
            found[edge.source].append(edge)
        return tuple(map(tuple, found))

    @cached_property
    def incoming(self) -> tuple[tuple[Edge, ...], ...]:
        """Edges by target."""
        found: list[list[Edge]] = [[] for _ in self.nodes]
        for edge in self.edges:
            found[edge.target].append(edge)
        return tuple(map(tuple, found))


@dataclass(frozen=True)
class FlowGraph:
    """One flow and everything it does."""

    name: str
    module: str
    file: str
    line: int
    entry: bool = True
    """Whether it can be started alone."""
    is_async: bool = False
    parameters: tuple[str, ...] = ()
    graph: Graph = field(default_factory=Graph)
    called: bool = False
    """Whether another flow calls it."""
    column: int = 1

    @property
    def qualified(self) -> str:
        """`module:name`."""
        return f"{self.module}:{self.name}"


def site(flow: str, node: Node) -> str:
    """Return `flow@file:line:column` of a step."""
    return f"{flow}@{node.span}"


@dataclass(frozen=True, slots=True)
class Cover:
    """What one gate of a flow covers; the run time grants exactly this."""

    flow: str
    gate: str
    """Site of the gate."""
    sites: tuple[tuple[str, tuple[str, ...]], ...]
    """(site, arguments that were shown), sorted."""


_STEPS = (Kind.CALL, Kind.GATE, Kind.THINK, Kind.AGENT, Kind.BRANCH, Kind.LOOP, Kind.RETURN, Kind.RAISE, Kind.ENTRY)


def graph_value(flow: FlowGraph) -> Json:
    """Return a flow's graph as a JSON value: steps and the ways between them, without what only the analysis needs.

    The same source gives the same value; files are relative to the project.
    """
    graph = flow.graph
    kept = {index: number for number, index in enumerate(_kept(graph))}
    return {
        "name": flow.name,
        "module": flow.module,
        "file": flow.file,
        "line": flow.line,
        "entry": flow.entry,
        "async": flow.is_async,
        "parameters": list(flow.parameters),
        "nodes": [_node_value(flow, graph, index) for index in kept],
        "edges": _edge_values(graph, kept),
        "regions": [{"kind": item.kind.value, "name": item.name, "branches": item.branches} for item in graph.regions],
    }


def _kept(graph: Graph) -> list[int]:
    return [index for index, node in enumerate(graph.nodes) if not node.echo and not node.dead and node.kind in _STEPS]


def _node_value(flow: FlowGraph, graph: Graph, index: int) -> Json:
    node = graph.nodes[index]
    value: dict[str, Json] = {"kind": node.kind.value, "at": str(node.span)}
    if node.kind in (Kind.CALL, Kind.GATE, Kind.THINK, Kind.AGENT):
        value |= {"site": site(flow.name, node), "text": node.text, "options": dict(node.options)}
        value["arguments"] = [
            {"name": item.name, "text": item.text, "from": roots(graph, item.value)} for item in node.arguments
        ]
    for name, item in (("key", node.key), ("model", node.model), ("scope", node.scope), ("gated", node.gated)):
        if item:
            value[name] = item
    if node.calls:
        value["through"] = [str(span) for span in node.calls]
    if node.regions:
        value["regions"] = [list(pair) for pair in node.regions]
    if node.times is not None:
        value["times"] = node.times
    return value


def _edge_values(graph: Graph, kept: Mapping[int, int]) -> Json:
    """Return edges between kept nodes, passing over the others."""
    found: set[tuple[int, int, str]] = set()
    for index, number in kept.items():
        for first in graph.outgoing[index]:
            label, stack, seen = first.label.value, [first.target], {first.target}
            while stack:
                at = stack.pop()
                if at in kept:
                    found.add((number, kept[at], label))
                    continue
                for edge in graph.outgoing[at]:
                    if edge.target not in seen:
                        seen.add(edge.target)
                        stack.append(edge.target)
    return [list(item) for item in sorted(found)]


def roots(graph: Graph, value: int) -> list[str]:
    """Return what a value is computed from, as sorted words: `parameter x`, `result of k`, `literal`, `module X`."""
    words: set[str] = set()
    seen: set[int] = set()
    stack = [value]
    while stack:
        index = stack.pop()
        if index in seen or index < 0:
            continue
        seen.add(index)
        item = graph.values[index]
        if item.kind is ValueKind.PARAMETER:
            words.add(f"parameter {item.name}")
        elif item.kind is ValueKind.LITERAL:
            words.add("literal")
        elif item.kind is ValueKind.OUTSIDE:
            words.add(f"module {item.name}")
        elif item.kind in (ValueKind.RESULT, ValueKind.APPROVAL):
            words.add(f"result of {item.name or 'code'}")
        stack.extend(item.operands)
        stack.extend(graph.contents.get(index, ()))
    return sorted(words)
