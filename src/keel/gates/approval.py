"""Gate 4, approval: a dangerous call needs a person's yes that holds, on every way, for what is then done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from keel.analysis.paths import Flaw, Outcome
from keel.core.finding import Finding, Location, finding
from keel.core.graph import Cover, FlowGraph, Kind, Node, site
from keel.core.model import Effect
from keel.gates.coverage import FlowCoverage
from keel.gates.explain import told
from keel.gates.interface import GateContext, at, judged


def needs_approval(context: GateContext, key: str) -> bool:
    """Tell whether a call of a tool needs an approval: it is dangerous, or its grant asks for one."""
    grant = context.grant(key)
    return context.contract(key).effect is Effect.DANGEROUS or (grant is not None and grant.approval)


@dataclass(frozen=True)
class Judged:
    """One call that needs an approval, and what the search found."""

    flow: FlowGraph
    index: int
    outcome: Outcome
    coverage: FlowCoverage

    @property
    def node(self) -> Node:
        """The call."""
        return self.flow.graph.nodes[self.index]


def check(context: GateContext) -> Iterator[Finding]:
    """Judge every call that needs an approval, every agent's tool list, and every gate."""
    for flow in context.entries:
        for item in judged_calls(context, flow):
            yield from _verdict(context, item)
    yield from _agents(context)
    yield from _unused(context)


def judged_calls(context: GateContext, flow: FlowGraph) -> Iterator[Judged]:
    """Yield the calls of a flow that need an approval, with what covers them."""
    coverage = FlowCoverage(flow.graph)
    for index, node in enumerate(flow.graph.nodes):
        if node.kind is Kind.CALL and judged(node) and not node.gated and needs_approval(context, node.key):
            values = [item.value for item in node.arguments]
            outcome = coverage.find(index, values, lambda gate, step=index: coverage.shows_call(gate, step))  # type: ignore[misc]
            yield Judged(flow, index, outcome, coverage)


def _verdict(context: GateContext, item: Judged) -> Iterator[Finding]:
    way = item.outcome.uncovered
    name = context.name_of(item.flow)
    if way is None:
        yield from _unseen_arguments(item, name)
        return
    code, message, next_ = _words(item)
    yield finding(
        code,
        message,
        location=at(item.node.span, item.node.key),
        next=next_,
        site=site(name, item.node),
        path=told(item.flow, way),
    )


def _words(item: Judged) -> tuple[str, str, str]:
    way = item.outcome.uncovered
    assert way is not None
    node, nodes = item.node, item.flow.graph.nodes
    call = f"`{node.key}`"
    gated = f"call `{_simple(node)}` through `gated(…)`, or ask with `human_gate(…)` directly before it"
    gate = f" at line {nodes[way.gate].span.line}" if way.gate >= 0 else ""
    if way.flaw is Flaw.MISSING:
        return (
            "approval-missing",
            f"a way through `{item.flow.name}` reaches the call of {call} with no approval at all",
            gated,
        )
    if way.flaw is Flaw.REPEATED:
        message = f"the approval{gate} covers one call of {call}, and the flow comes here again without another"
        unshown = item.coverage.unshown(way.gate, item.index) if way.gate >= 0 else []
        what = " and ".join(f"`{part}`" for part in unshown) or "the collection that the loop iterates"
        return "approval-missing", message, f"ask inside the loop, or show {what} in the prompt"
    if way.flaw is Flaw.IGNORED:
        message = (
            f"a way through `{item.flow.name}` reaches the call of {call} after an approval was asked and not given"
        )
        return "approval-ignored", message, 'use `on_reject="raise"` outside `try`, or leave with `if not ok: return`'
    if way.flaw is Flaw.STALE:
        cause = f" (line {nodes[way.cause].span.line})" if way.cause >= 0 else ""
        message = f"an argument of {call} is made or changed{cause} after the approval{gate}"
        return "approval-stale-argument", message, "compute the value before the gate and show it there"
    message = f"the approval{gate} shows neither `{_simple(node)}` nor any value of its call"
    return (
        "approval-unseen-call",
        message,
        "write the tool or its arguments into the prompt as one f-string, or pass them with `show=`",
    )


def _simple(node: Node) -> str:
    return node.key.rpartition("/")[2]


def _unseen_arguments(item: Judged, name: str) -> Iterator[Finding]:
    """Warn of arguments that none of the covering gates shows on some way."""
    unseen: dict[str, int] = {}
    for gate in sorted(item.outcome.covering):
        for argument in item.coverage.unseen_arguments(gate, item.index):
            unseen.setdefault(argument, gate)
    if unseen:
        for gate in item.coverage.held_at(item.index):
            hidden = item.coverage.unseen_arguments(gate, item.index)
            unseen = {argument: at_ for argument, at_ in unseen.items() if argument in hidden}
    others = item.coverage.graph.nodes
    for argument, gate in sorted(unseen.items()):
        yield finding(
            "approval-unseen-argument",
            f"argument `{argument}` of `{item.node.key}` is not shown by the approval at line {others[gate].span.line}",
            location=at(item.node.span, item.node.key),
            site=site(name, item.node),
            next=f"put `{argument}` into the prompt or into `show=`",
        )


def _agents(context: GateContext) -> Iterator[Finding]:
    for agent in context.program.agents:
        for tool in agent.tools:
            if not tool.flow and not tool.gated and needs_approval(context, tool.key):
                simple = tool.key.rpartition("/")[2]
                yield finding(
                    "agent-approval-missing",
                    f"agent `{agent.name}` may call `{tool.key}`, which needs an approval, at will",
                    location=Location(tool.file, tool.line, tool.column, tool.key),
                    next=f"write `gated({simple})` in the tool list",
                )


def _unused(context: GateContext) -> Iterator[Finding]:
    """Warn of gates after which no flow does anything."""
    used: set[tuple[str, int, int]] = set()
    asked: dict[tuple[str, int, int], tuple[FlowGraph, Node]] = {}
    for flow in context.program.flows:
        active = _leading_to_steps(flow)
        for index, node in enumerate(flow.graph.nodes):
            if node.kind is not Kind.GATE or node.dead:
                continue
            place = (node.span.file, node.span.line, node.span.column)
            asked.setdefault(place, (flow, node))
            if active[index] or _returned(flow, node):
                used.add(place)
    for place, (flow, node) in asked.items():
        if place not in used:
            yield finding(
                "gate-unused",
                "this approval covers no call: nothing follows it",
                location=at(node.span),
                site=site(context.name_of(flow), node),
            )


def _leading_to_steps(flow: FlowGraph) -> list[bool]:
    """Tell for each node whether a step can follow it."""
    graph = flow.graph
    found = [False] * len(graph.nodes)
    stack = [i for i, node in enumerate(graph.nodes) if node.kind in (Kind.CALL, Kind.AGENT, Kind.THINK)]
    seen = set(stack)
    while stack:
        index = stack.pop()
        for edge in graph.incoming[index]:
            found[edge.source] = True
            if edge.source not in seen:
                seen.add(edge.source)
                stack.append(edge.source)
    return found


def _returned(flow: FlowGraph, node: Node) -> bool:
    """Tell whether a flow gives the answer of a gate to whoever called it."""
    from keel.analysis.provenance import expansion  # noqa: PLC0415 - keeps the imports above short

    graph = flow.graph
    values = [item.value for item in graph.nodes if item.kind is Kind.RETURN and item.value >= 0]
    return not flow.entry and node.value in expansion(graph, values, hidden=True)


def covers(context: GateContext) -> tuple[Cover, ...]:
    """Return for each gate the sites and arguments it covers, as the run time is to grant them."""
    found: dict[tuple[str, str], dict[str, set[str]]] = {}
    for flow in context.entries:
        name = context.name_of(flow)
        for item in judged_calls(context, flow):
            if item.outcome.uncovered is not None:
                continue
            for gate in item.outcome.covering:
                unseen = set(item.coverage.unseen_arguments(gate, item.index))
                shown = {argument.name for argument in item.node.arguments} - unseen
                entry = found.setdefault((name, site(name, flow.graph.nodes[gate])), {})
                entry.setdefault(site(name, item.node), set()).update(shown)
    return tuple(
        Cover(flow, gate, tuple(sorted((place, tuple(sorted(names))) for place, names in sites.items())))
        for (flow, gate), sites in sorted(found.items())
    )
