"""Gate 3, the flow of data: untrusted text into calls that matter, classified data into servers not cleared for it."""

from __future__ import annotations

from collections.abc import Iterator

from keel.analysis.provenance import expansion
from keel.core.finding import Finding, Location, finding
from keel.core.graph import FlowGraph, Graph, Kind, Node, ValueKind, site
from keel.core.model import DataClass, Effect, Trust, split_key
from keel.gates.coverage import FlowCoverage
from keel.gates.interface import GateContext, at, judged
from keel.manifest.policy import returns_of

_PROTECTED = (Effect.EXTERNAL, Effect.DANGEROUS)


def check(context: GateContext) -> Iterator[Finding]:
    """Judge what reaches the arguments of every call, and what every agent holds together."""
    for flow in context.entries:
        coverage = FlowCoverage(flow.graph)
        for index, node in enumerate(flow.graph.nodes):
            if node.kind is Kind.CALL and judged(node):
                yield from _untrusted(context, flow, index, coverage)
                yield from _classified(context, flow, node)
            elif node.kind is Kind.AGENT and judged(node):
                yield from _agent_input(context, flow, index, coverage)
    yield from _agents(context)


def _sources(context: GateContext, graph: Graph, values: list[int], stop: frozenset[int]) -> list[str]:
    """Return the tools and agents whose untrusted output reaches some values, past what was shown."""
    found: set[str] = set()
    for value in expansion(graph, values, hidden=False, stop=stop):
        item = graph.values[value]
        if item.kind is not ValueKind.RESULT or item.node < 0:
            continue
        node = graph.nodes[item.node]
        untrusted = node.kind is Kind.CALL and returns_of(node.key, context.manifest) is Trust.UNTRUSTED
        if untrusted or (node.kind is Kind.AGENT and _reads_untrusted(context, node.key)):
            found.add(node.key)
    return sorted(found)


def _reads_untrusted(context: GateContext, name: str) -> bool:
    return any(
        returns_of(tool.key, context.manifest) is Trust.UNTRUSTED
        for agent in context.program.agents
        if agent.name == name
        for tool in agent.tools
        if not tool.flow
    )


def _untrusted(context: GateContext, flow: FlowGraph, index: int, coverage: FlowCoverage) -> Iterator[Finding]:
    node = flow.graph.nodes[index]
    if node.gated or context.contract(node.key).effect not in _PROTECTED:
        return
    found = _tainted(context, flow.graph, index, coverage)
    if found:
        yield finding(
            "untrusted-flow",
            f"untrusted output of `{found[0]}` reaches the arguments of `{node.key}`, and no person was shown it",
            location=at(node.span, node.key),
            site=site(context.name_of(flow), node),
        )


def _tainted(context: GateContext, graph: Graph, index: int, coverage: FlowCoverage) -> list[str]:
    """Return untrusted sources of a call's arguments, unless on every way an approval showed what came from them."""
    node = graph.nodes[index]
    values = [item.value for item in node.arguments]
    found = _sources(context, graph, values, frozenset())
    if not found or not any(other.kind is Kind.GATE for other in graph.nodes):
        return found

    def clears(gate: int) -> bool:
        return not _sources(context, graph, values, coverage.seen(gate).values)

    return found if coverage.find(index, values, clears).uncovered is not None else []


def _agent_input(context: GateContext, flow: FlowGraph, index: int, coverage: FlowCoverage) -> Iterator[Finding]:
    """An agent that is told untrusted text and may call something that matters."""
    node = flow.graph.nodes[index]
    risky = [
        tool.key
        for agent in context.program.agents
        if agent.name == node.key
        for tool in agent.tools
        if not tool.flow and not tool.gated and context.contract(tool.key).effect in _PROTECTED
    ]
    found = _tainted(context, flow.graph, index, coverage) if risky else []
    if found:
        yield finding(
            "untrusted-flow",
            f"untrusted output of `{found[0]}` reaches agent `{node.key}`, which may call `{risky[0]}` at will",
            location=at(node.span, node.key),
            site=site(context.name_of(flow), node),
            next=f"write `gated({risky[0].rpartition('/')[2]})` in the agent's tool list",
        )


def _agents(context: GateContext) -> Iterator[Finding]:
    for agent in context.program.agents:
        reading = [
            tool for tool in agent.tools if not tool.flow and returns_of(tool.key, context.manifest) is Trust.UNTRUSTED
        ]
        if not reading:
            continue
        for tool in agent.tools:
            if not tool.flow and not tool.gated and context.contract(tool.key).effect in _PROTECTED:
                simple = tool.key.rpartition("/")[2]
                yield finding(
                    "untrusted-flow",
                    f"agent `{agent.name}` reads untrusted `{reading[0].key}` and may call `{tool.key}` at will",
                    location=Location(tool.file, tool.line, tool.column, tool.key),
                    next=f"write `gated({simple})` in the tool list",
                )


def _classified(context: GateContext, flow: FlowGraph, node: Node) -> Iterator[Finding]:
    """Data of a class above what the called tool's server may take."""
    server = split_key(node.key)[0]
    limit = next((spec.max_data_class for spec in context.servers if spec.name == server), None) if server else None
    if limit is None:
        return
    worst: tuple[DataClass, str] | None = None
    for value in sorted(expansion(flow.graph, [item.value for item in node.arguments], hidden=False)):
        item = flow.graph.values[value]
        if item.kind is not ValueKind.RESULT or item.node < 0 or flow.graph.nodes[item.node].kind is not Kind.CALL:
            continue
        source = flow.graph.nodes[item.node].key
        grant = context.grant(source)
        kind = grant.data_class if grant is not None else None
        if kind is not None and kind.rank > limit.rank and (worst is None or kind.rank > worst[0].rank):
            worst = (kind, source)
    if worst is not None:
        yield finding(
            "data-class-exceeded",
            f"`{worst[0]}` data of `{worst[1]}` reaches `{node.key}`, and `{server}` may take `{limit}` at most",
            location=at(node.span, node.key),
            site=site(context.name_of(flow), node),
        )
