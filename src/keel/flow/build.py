"""Builds a graph step by step: nodes, edges, the value table, and the points where ways part and meet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from keel.core.graph import Edge, Graph, Kind, Label, Node, Region, Span, Value, ValueKind
from keel.flow.values import AV, merged

Exit = tuple[int, Label, tuple[int, bool] | None]
"""A way out of a node that leads nowhere yet."""
Key = tuple[int, str]
"""A variable: frame and name."""
Env = dict[Key, AV]

UNBOUND = "<unbound>"
LOG: list[tuple[Key, AV]] = []
"""Every binding in reading order, for `Raises`; emptied when a reading ends."""
PRECISE = 300
"""Ways out of one `try` for which it is remembered what each variable held on each of them."""


@dataclass(slots=True)
class Point:
    """Where control stands: ways that arrive here, and what each variable holds."""

    exits: list[Exit]
    env: Env
    shared: bool = False
    """Whether somebody else holds `env`, so that it must be copied before a change."""

    def fork(self) -> Point:
        """Return another point at the same place."""
        self.shared = True
        return Point(list(self.exits), self.env, shared=True)

    def at(self, exits: list[Exit]) -> Point:
        """Return a point with the same variables behind other ways."""
        self.shared = True
        return Point(exits, self.env, shared=True)

    def bind(self, key: Key, value: AV) -> None:
        """Set a variable."""
        if self.shared:
            self.env, self.shared = dict(self.env), False
        self.env[key] = value
        LOG.append((key, value))

    def forget(self, frame: int) -> None:
        """Drop every variable of a frame that was left."""
        if any(key[0] == frame for key in self.env):
            self.env, self.shared = {key: value for key, value in self.env.items() if key[0] != frame}, False


class Raises(list[tuple[Point, frozenset[str]]]):
    """Ways by which exceptions leave a piece of code.

    The first `PRECISE` keep the variables as they were. Further ones keep only the way: there a variable may hold
    anything that was bound to it since the code began, which is less precise and linear.
    """

    def __init__(self, env: Env) -> None:
        super().__init__()
        self.env = env
        self.begun = len(LOG)
        self.coarse = False


@dataclass(slots=True)
class Builder:
    """A graph under construction."""

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    contents: dict[int, list[int]] = field(default_factory=dict)
    reads: dict[tuple[int, Span], None] = field(default_factory=dict)
    _known: dict[Value, int] = field(default_factory=dict)

    def node(self, node: Node) -> int:
        """Add a node."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def update(self, index: int, **changes: Any) -> None:
        """Change fields of a node that was added before."""
        self.nodes[index] = replace(self.nodes[index], **changes)

    def edge(self, way: Exit, target: int, merges: Iterable[tuple[int, int]] = ()) -> None:
        """Let a way end at a node."""
        self.edges.append(Edge(way[0], target, way[1], way[2], tuple(merges)))

    def value(self, value: Value) -> int:
        """Add a value; equal pure values are one."""
        if value.kind in (ValueKind.RESULT, ValueKind.APPROVAL, ValueKind.BOUND, ValueKind.MERGED):
            self.values.append(value)
            return len(self.values) - 1
        index = self._known.get(value)
        if index is None:
            index = self._known[value] = len(self.values)
            self.values.append(value)
        return index

    def own(self, value: Value) -> int:
        """Add a value that stays distinct from equal ones: a new object."""
        self.values.append(value)
        return len(self.values) - 1

    def container(
        self,
        operands: Iterable[int],
        name: str,
        keys: tuple[str, ...] | None = None,
        hidden: tuple[int, ...] = (),
    ) -> int:
        """Add a container or a text that is made here; what stands in it can be read."""
        place = len(self.nodes) - 1
        return self.own(Value(ValueKind.RENDERED, tuple(operands), name, node=place, hidden=hidden, keys=keys))

    def literal(self, value: Any) -> int:
        """Return the value of a constant."""
        try:
            text = json.dumps(value, ensure_ascii=True)
        except (TypeError, ValueError):
            text = f"<{type(value).__name__}>"
        return self.value(Value(ValueKind.LITERAL, key=text))

    def unbound(self) -> int:
        """Return the value of a variable that is not bound."""
        return self.value(Value(ValueKind.LITERAL, key=UNBOUND))

    def outside(self, name: str) -> int:
        """Return the value of something at module level."""
        return self.value(Value(ValueKind.OUTSIDE, name=name))

    def derived(self, operands: Iterable[int], name: str = "", *, rendered: bool = False) -> int:
        """Return a value computed from others alone."""
        if rendered:
            return self.container(operands, name)
        return self.value(Value(ValueKind.DERIVED, tuple(operands), name))

    def part(self, base: int, key: str | None, hidden: tuple[int, ...] = ()) -> int:
        """Return `base[key]`; of a display with literal keys, the member itself."""
        item = self.values[base]
        while item.kind is ValueKind.BOUND:
            base = item.operands[0]
            item = self.values[base]
        if item.keys is not None and key in item.keys and base not in self.contents:
            return self.member(item.operands[len(item.keys) - 1 - item.keys[::-1].index(key)], base)
        version = self._changes_of(base)
        return self.value(Value(ValueKind.PART, (base,), str(version) if version else "", key, -1, hidden))

    def _changes_of(self, value: int) -> int:
        """Return how often the object of a value, or what holds it, was changed so far."""
        found = len(self.contents.get(value, ()))
        while self.values[value].kind in (ValueKind.BOUND, ValueKind.PART, ValueKind.ELEMENT):
            value = self.values[value].operands[0]
            found += len(self.contents.get(value, ()))
        return found

    def member(self, value: int, container: int) -> int:
        """Return a member of a container as long as nobody changes the container."""
        return self.value(Value(ValueKind.DERIVED, (value,), "member", hidden=(container,)))

    def join(self, points: Iterable[Point | None], span: Span, hidden: tuple[int, ...] = ()) -> Point | None:
        """Let several ways meet; variables that differ become merged values."""
        live = [point for point in points if point is not None]
        if len(live) <= 1:
            return live[0] if live else None
        first = live[0]
        differing: dict[Key, None] = {}
        for point in live[1:]:
            if point.env is not first.env and point.env != first.env:
                differing |= dict.fromkeys(_difference(first.env, point.env))
        if not differing:
            first.shared = True
            return Point([way for point in live for way in point.exits], first.env, shared=True)
        return self._meet(live, list(differing), span, hidden)

    def settle(self, raised: list[tuple[Point, frozenset[str]]], span: Span) -> list[tuple[Point, frozenset[str]]]:
        """Let the ways of a large `try` meet, one place for each kind of exception."""
        if not isinstance(raised, Raises) or not raised.coarse:
            return raised
        versions: dict[Key, dict[int, AV]] = {}
        for key, value in LOG[raised.begun :]:
            versions.setdefault(key, {})[value.value] = value
        kinds: dict[frozenset[str], list[Point]] = {}
        for point, found in raised:
            kinds.setdefault(found, []).append(point)
        return [(self._coarse(points, raised.env, versions, span), found) for found, points in kinds.items()]

    def _coarse(self, points: list[Point], base: Env, versions: dict[Key, dict[int, AV]], span: Span) -> Point:
        target = self.node(Node(Kind.JOIN, span))
        env = dict(base)
        missing = AV(None, self.unbound())
        for key, held in versions.items():
            options = [base.get(key, missing), *held.values()]
            operands = tuple(dict.fromkeys(option.value for option in options))
            value = self.value(Value(ValueKind.MERGED, operands, key[1], None, target))
            env[key] = AV(merged([option.static for option in options if option is not missing]), value)
        for point in points:
            for way in point.exits:
                self.edge(way, target)
        return Point([(target, Label.NEXT, None)], env)

    def _meet(self, points: list[Point], keys: list[Key], span: Span, hidden: tuple[int, ...]) -> Point:
        target = self.node(Node(Kind.JOIN, span))
        missing = AV(None, self.unbound())
        held = [[point.env.get(key, missing) for key in keys] for point in points]
        env = dict(points[0].env)
        merges: list[list[tuple[int, int]]] = [[] for _ in points]
        for column, key in enumerate(keys):
            options = [row[column] for row in held]
            value = options[0].value
            if any(option.value != value for option in options):
                operands = tuple(dict.fromkeys(option.value for option in options))
                value = self.value(Value(ValueKind.MERGED, operands, key[1], None, target, hidden))
                for row, option in zip(merges, options, strict=True):
                    row.append((value, option.value))
            env[key] = AV(merged([option.static for option in options if option is not missing]), value)
        for point, merge in zip(points, merges, strict=True):
            for way in point.exits:
                self.edge(way, target, merge)
        return Point([(target, Label.NEXT, None)], env)

    def graph(self) -> Graph:
        """Return the finished graph."""
        contents = {index: tuple(found) for index, found in sorted(self.contents.items())}
        return Graph(
            tuple(self.nodes), tuple(self.edges), tuple(self.values), tuple(self.regions), contents, tuple(self.reads)
        )


def _difference(one: Env, other: Env) -> list[Key]:
    return sorted({key for key, _ in one.items() ^ other.items()})
