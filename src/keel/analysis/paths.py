"""Searches backwards from a step for a way on which nothing covers it.

The question "does something that covers the step happen on every way to it, with nothing in between that spoils it"
is a must-analysis. It is answered on demand, from the step upwards: the search ends at what covers, so that it looks
only at the piece of the graph between a step and what covers it. A way that arrives at the entry is a witness, and
printed line by line. The search is path-sensitive in the truth of answers and flags (see `facts`), which prunes ways
that no run takes. Demand-driven analysis: Duesterwald, Gupta, Soffa, "A practical framework for demand-driven
interprocedural data flow analysis", TOPLAS 1997.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from keel.analysis.facts import Facts, backwards, decided
from keel.core.graph import Edge, Graph, Kind, Label, ValueKind

MAX_STATES = 300_000
"""A search that needs more is given up; the step then counts as not covered."""


class Flaw(IntEnum):
    """Why a way does not cover a step, worst first."""

    MISSING = 0
    """Nothing that could cover is on it."""
    REPEATED = 1
    """What covers was used up by an earlier round."""
    IGNORED = 2
    """A gate is on it, but its answer does not hold."""
    STALE = 3
    """What covers came before something the step uses was made or changed."""
    UNSEEN = 4
    """What covers shows nothing of the step."""


@dataclass(frozen=True, slots=True)
class State:
    """Where the search stands, going upwards, and what it knows of the way below."""

    node: int
    facts: Facts = frozenset()
    stale: int = -1
    """The node that made or changed something the step uses; -1 when none did."""
    rebound: frozenset[int] = frozenset()
    """Values that names held before they were bound again on the way."""
    rounds: frozenset[int] = frozenset()
    """Loops of which the way crosses the end of a round."""
    again: frozenset[int] = frozenset()
    """Loops through whose rounds the step itself happened before; -1 for any other repetition."""
    passed: bool = False
    """Whether an answer was asked and not given on the way."""
    flaw: tuple[Flaw, int] | None = None
    """The nearest gate that held and still does not cover, and why not."""


@dataclass(frozen=True, slots=True)
class Uncovered:
    """One way from the entry to a step on which nothing covers it."""

    flaw: Flaw
    gate: int
    """The gate that the flaw is about, or -1."""
    cause: int
    """The node that spoiled it, or -1."""
    nodes: tuple[int, ...]
    """From the entry to the step."""
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search found."""

    covering: frozenset[int]
    """Gates that cover the step on some way."""
    uncovered: Uncovered | None
    """The worst way that nothing covers."""
    states: int = 0
    """How much the search looked at."""


@dataclass(frozen=True)
class Question:
    """What is asked about one step."""

    graph: Graph
    step: int
    spoilers: frozenset[int]
    """Nodes that make or change what the step uses."""
    rebinding: dict[int, frozenset[int]]
    """Nodes that bind a name again which the step uses: what the name held before."""
    same: frozenset[int]
    """Other nodes that are the same call: copies of it."""
    judge: Callable[[int, State], Flaw | None]
    """Tells whether a gate whose answer holds covers the step, given the way below."""
    exceptions: bool = True
    """Whether ways through exceptions of ordinary code count."""


def search(question: Question, limit: int = MAX_STATES) -> Outcome:
    """Search all ways upwards from a step; one that looks at more than `limit` states ends as not covered."""
    return _Search(question, min(limit, MAX_STATES)).run()


MAX_WAY = 80
"""Of a longer way only the last nodes are given."""


def without(graph: Graph, kind: Kind) -> dict[int, Edge | None]:
    """Return the nodes that control can come to past every node of a kind, each with the edge it comes by.

    Ways through exceptions of ordinary code, and ways on which the truth of an answer or a flag matters, are left out.
    """
    found: dict[int, Edge | None] = {0: None} if graph.nodes else {}
    queue = deque(found)
    while queue:
        index = queue.popleft()
        for edge in graph.outgoing[index]:
            if edge.target in found or edge.label is Label.EXCEPTION or graph.nodes[edge.target].kind is kind:
                continue
            told = decided(graph, edge.fact) if edge.fact is not None else ()
            if any(graph.values[value].kind in _TELLING for value, _ in told):
                continue
            found[edge.target] = edge
            queue.append(edge.target)
    return found


_TELLING = (ValueKind.APPROVAL, ValueKind.MERGED, ValueKind.LITERAL)


def way_to(tree: dict[int, Edge | None], node: int) -> tuple[tuple[int, ...], tuple[Edge, ...]]:
    """Return the nodes and edges of the way to a node in a tree of ways."""
    nodes, edges = [node], []
    edge = tree[node]
    while edge is not None and len(nodes) < MAX_WAY:
        edges.append(edge)
        nodes.append(edge.source)
        edge = tree[edge.source]
    return tuple(reversed(nodes)), tuple(reversed(edges))


class _Search:
    def __init__(self, question: Question, limit: int) -> None:
        self.q = question
        self.limit = limit
        self.graph = question.graph
        self.parents: dict[State, tuple[State, Edge] | None] = {}
        self.covering: set[int] = set()
        self.worst: tuple[Flaw, State, tuple[State, Edge] | None] | None = None
        self.way: tuple[State, Edge] | None = None
        """The state and the edge by which the search arrives now."""

    def run(self) -> Outcome:
        start = State(self.q.step)
        self.parents[start] = None
        stack = [start]
        while stack:
            state = stack.pop()
            if len(self.parents) > self.limit:
                self._end(state, Flaw.MISSING)
                break
            for edge in self.graph.incoming[state.node]:
                if not self.q.exceptions and self._quiet_exception(edge):
                    continue
                self.way = (state, edge)
                for following in self._cross(state, edge):
                    if following not in self.parents:
                        self.parents[following] = (state, edge)
                        stack.append(following)
        return Outcome(frozenset(self.covering), self._witness(), len(self.parents))

    def _quiet_exception(self, edge: Edge) -> bool:
        return edge.label is Label.EXCEPTION and self.graph.nodes[edge.source].kind is not Kind.GATE

    def _cross(self, state: State, edge: Edge) -> list[State]:
        facts = backwards(self.graph, state.facts, edge)
        if facts is None:
            return []
        rounds = state.rounds
        source = self.graph.nodes[edge.source]
        if self.graph.nodes[edge.target].kind is Kind.LOOP and (
            edge.label is Label.AGAIN or edge.target in source.loops
        ):
            rounds = rounds | {edge.target}
        moved = State(edge.source, facts, state.stale, state.rebound, rounds, state.again, state.passed, state.flaw)
        return self._arrive(moved, edge)

    def _arrive(self, state: State, edge: Edge) -> list[State]:
        node = self.graph.nodes[state.node]
        if state.node == self.q.step or state.node in self.q.same:
            state = self._repeat(state, edge)
        if state.node in self.q.spoilers and state.stale < 0:
            state = _replace(state, stale=state.node)
        if state.node in self.q.rebinding:
            state = _replace(state, rebound=state.rebound | self.q.rebinding[state.node])
        if node.kind is Kind.GATE:
            return self._gate(state)
        if node.kind is Kind.ENTRY:
            self._end(state, self._flaw_of(state))
            return []
        return [state]

    def _repeat(self, state: State, edge: Edge) -> State:
        """The step itself is on the way: a retry after its exception is the same call, anything else a repetition."""
        retry = edge.label is Label.EXCEPTION and state.node == self.q.step and state.stale < 0 and not state.rebound
        if retry:
            return state
        around = frozenset(self.graph.nodes[self.q.step].loops)
        rounds = state.rounds & around
        return _replace(state, again=state.again | (rounds or {-1}), rounds=frozenset())

    def _gate(self, state: State) -> list[State]:
        value = self.graph.nodes[state.node].value
        held = (value, True) in state.facts
        facts = state.facts - {(value, True), (value, False)}
        if not held:
            return [_replace(state, facts=facts, passed=True)]
        flaw = self.q.judge(state.node, state)
        if flaw is None:
            self.covering.add(state.node)
            return []
        return [_replace(state, facts=facts, flaw=state.flaw or (flaw, state.node))]

    def _flaw_of(self, state: State) -> Flaw:
        if state.flaw is not None:
            return state.flaw[0]
        return Flaw.IGNORED if state.passed else Flaw.MISSING

    def _end(self, state: State, flaw: Flaw) -> None:
        if self.worst is None or flaw < self.worst[0]:
            self.worst = (flaw, state, self.way)

    def _witness(self) -> Uncovered | None:
        if self.worst is None:
            return None
        flaw, last, parent = self.worst
        nodes: list[int] = [last.node]
        edges: list[Edge] = []
        while parent is not None:
            edges.append(parent[1])
            nodes.append(parent[0].node)
            parent = self.parents.get(parent[0])
        gate = last.flaw[1] if last.flaw is not None else -1
        return Uncovered(flaw, gate, last.stale, tuple(nodes), tuple(edges))


def _replace(state: State, **changes: object) -> State:
    values = {name: getattr(state, name) for name in State.__slots__}
    values.update(changes)
    return State(**values)


def is_element_of(graph: Graph, value: int, source: int) -> bool:
    """Tell whether a value is one element of another, drawn in some loop."""
    item = graph.values[value]
    return item.kind is ValueKind.ELEMENT and item.operands[0] == source
