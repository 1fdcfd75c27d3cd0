"""What holds for certain at each node: a forward must-analysis that meets by intersection where ways join.

One bit for each thing that may hold; the least solution is reached in reverse postorder in as many passes as loops are
nested, plus two (Kam and Ullman, "Global data flow analysis and iterative algorithms", JACM 1976).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from keel.analysis.facts import decided
from keel.analysis.order import topological
from keel.core.graph import Edge, Graph, Kind, Label, ValueKind


def held(graph: Graph) -> tuple[list[int], list[int]]:
    """Return the gates of a graph, and for each node the bits of those whose yes holds on every way to it.

    Bit `i` stands for the i-th gate of the first list. Nodes that control cannot come to have every bit.
    """
    gates = [index for index, node in enumerate(graph.nodes) if node.kind is Kind.GATE]
    bit = {graph.nodes[gate].value: 1 << at for at, gate in enumerate(gates)}
    return gates, _solve(graph, len(gates), lambda edge, bits: _along(graph, edge, bits, bit))


def passed(graph: Graph, marks: Sequence[int]) -> list[int]:
    """Return for each node the bits of those marked nodes that have completed on every way to it.

    Args:
        graph: the flow.
        marks: the nodes; bit `i` stands for the i-th of them.
    """
    bit = {mark: 1 << at for at, mark in enumerate(marks)}
    return _solve(graph, len(marks), lambda edge, bits: bits | completed(edge, bit))


def completed(edge: Edge, bit: dict[int, int]) -> int:
    """Return the bit of the node that an edge leaves, unless the node has failed."""
    return 0 if edge.label is Label.EXCEPTION else bit.get(edge.source, 0)


def _solve(graph: Graph, count: int, along: Callable[[Edge, int], int]) -> list[int]:
    everything = (1 << count) - 1
    before = [everything if index else 0 for index in range(len(graph.nodes))]
    if not everything:
        return before
    order = topological(graph)
    changed = True
    while changed:
        changed = False
        for index in order:
            found = everything if index else 0
            for edge in graph.incoming[index]:
                found &= along(edge, before[edge.source])
            if found != before[index]:
                before[index] = found
                changed = True
    return before


def _along(graph: Graph, edge: Edge, bits: int, bit: dict[int, int]) -> int:
    source = graph.nodes[edge.source]
    if source.kind is Kind.GATE:
        bits &= ~bit[source.value]
    for value, truth in decided(graph, edge.fact) if edge.fact is not None else ():
        if truth and graph.values[value].kind is ValueKind.APPROVAL:
            bits |= bit.get(value, 0)
    return bits
