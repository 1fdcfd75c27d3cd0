"""Gate 3, `max_calls`: how often the longest way through a flow calls a tool."""

from __future__ import annotations

from collections.abc import Iterator

from keel.analysis.longest import longest
from keel.core.finding import Finding, finding
from keel.core.graph import FlowGraph, Kind, site
from keel.gates.interface import GateContext, at, judged


def check(context: GateContext) -> Iterator[Finding]:
    """Compare the longest way of every flow with the limit of every grant."""
    for flow in context.entries:
        used = {node.key for node in flow.graph.nodes if node.kind is Kind.CALL}
        for key in sorted(used):
            grant = context.grant(key)
            if grant is not None and grant.max_calls is not None:
                yield from _count(context, flow, key, grant.max_calls)


def _count(context: GateContext, flow: FlowGraph, key: str, limit: int) -> Iterator[Finding]:
    graph = flow.graph
    weights: dict[int, int] = {}
    for index, node in enumerate(graph.nodes):
        # of a branch that runs beside others the echo counts: it stands on the way on
        if node.kind is Kind.CALL and node.key == key and not node.dead and (node.echo or not node.regions):
            times = 1
            for loop in node.loops:
                bound = graph.nodes[loop].times
                times *= bound if bound is not None else 1
            weights[index] = times
    total, where = longest(graph, weights, limit)
    if total > limit:
        node = graph.nodes[where]
        if not judged(node):
            node = next((item for item in graph.nodes if item.span == node.span and judged(item)), node)
        yield finding(
            "max-calls-exceeded",
            f"`{flow.name}` may call `{key}` {total} times in one run, and its grant allows {limit}",
            location=at(node.span, key),
            site=site(context.name_of(flow), node),
        )
