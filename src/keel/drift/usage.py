"""Where flows use tools: calls by tool, and results that are read or handed on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from keel.core.graph import Argument, FlowGraph, Graph, Kind, Node, Span, ValueKind, site
from keel.flow.read import Program
from keel.gates.literals import options
from keel.gates.producers import source_of

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """One call of a tool in one flow."""

    flow: FlowGraph
    name: str
    """The flow as reports call it."""
    node: Node

    @property
    def site(self) -> str:
        """`flow@file:line:column`."""
        return site(self.name, self.node)


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """One subscript of a tool's result."""

    use: Use
    """The flow; its node is the call that gave the result."""
    value: int
    span: Span
    deepest: bool
    """Whether nothing below it is read in its turn."""


@dataclass(frozen=True, slots=True, eq=False)
class Handed:
    """A tool's result, or a part of it, that is an argument of another call."""

    use: Use
    argument: Argument


@dataclass(frozen=True)
class Usage:
    """The uses of all tools in one program, each found once."""

    program: Program

    def calls(self, key: str) -> tuple[Use, ...]:
        """Return the calls of a tool."""
        return self._calls.get(key, ())

    def reads(self, key: str) -> tuple[Read, ...]:
        """Return where fields of a tool's results are read."""
        return self._reads.get(key, ())

    def handed(self, key: str) -> tuple[Handed, ...]:
        """Return where a tool's results go into other calls."""
        return self._handed.get(key, ())

    def holders(self, key: str) -> tuple[str, ...]:
        """Return the names of the agents that hold a tool."""
        return tuple(sorted({agent.name for agent in self.program.agents for tool in agent.tools if tool.key == key}))

    @cached_property
    def _all(self) -> tuple[Use, ...]:
        names = {flow.qualified: name for name, flow in self.program.flow_names.items()}
        return tuple(
            Use(flow, names.get(flow.qualified, flow.qualified), node)
            for flow in self.program.flows
            for node in flow.graph.nodes
            if node.kind is Kind.CALL and not node.echo and not node.dead
        )

    @cached_property
    def _calls(self) -> dict[str, tuple[Use, ...]]:
        return _by_key((use.node.key, use) for use in self._all)

    @cached_property
    def _reads(self) -> dict[str, tuple[Read, ...]]:
        return _by_key(self._each_read())

    @cached_property
    def _handed(self) -> dict[str, tuple[Handed, ...]]:
        return _by_key(self._each_handed())

    def _each_read(self) -> Iterator[tuple[str, Read]]:
        first = {use.flow.qualified: use for use in reversed(self._all)}
        for flow in self.program.flows:
            above = {base for value, _ in flow.graph.reads for base in _bases(flow.graph, value)}
            for value, span in flow.graph.reads:
                source = source_of(flow.graph, value)
                if source is not None:
                    yield source[0], Read(first[flow.qualified], value, span, value not in above)

    def _each_handed(self) -> Iterator[tuple[str, Handed]]:
        for use in self._all:
            graph = use.flow.graph
            for argument in use.node.arguments:
                sources = (source_of(graph, value) for value in options(graph, argument.value))
                for key in sorted({source[0] for source in sources if source is not None}):
                    yield key, Handed(use, argument)


def _bases(graph: Graph, value: int) -> Iterator[int]:
    item = graph.values[value]
    while item.operands and (item.kind in _WITHIN or item.name == "member"):
        yield item.operands[0]
        item = graph.values[item.operands[0]]


_WITHIN = frozenset({ValueKind.PART, ValueKind.ELEMENT, ValueKind.BOUND})


def _by_key(pairs: Iterable[tuple[str, _T]]) -> dict[str, tuple[_T, ...]]:
    found: dict[str, list[_T]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return {key: tuple(items) for key, items in found.items()}
