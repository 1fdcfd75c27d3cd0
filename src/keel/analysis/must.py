"""Answers that hold for certain at each node: a forward must-analysis that meets by intersection where ways join.

One bit per gate; the least solution is reached in reverse postorder in as many passes as loops are nested, plus two
(Kam and Ullman, "Global data flow analysis and iterative algorithms", JACM 1976).
"""

from __future__ import annotations

from keel.analysis.facts import canonical
from keel.analysis.order import topological
from keel.core.graph import Edge, Graph, Kind, ValueKind


def held(graph: Graph) -> tuple[list[int], list[int]]:
    """Return the gates of a graph, and for each node the bits of those whose yes holds on every way to it.

    Bit `i` stands for the i-th gate of the first list. Nodes that control cannot come to have every bit.
    """
    gates = [index for index, node in enumerate(graph.nodes) if node.kind is Kind.GATE]
    bit = {graph.nodes[gate].value: 1 << at for at, gate in enumerate(gates)}
    everything = (1 << len(gates)) - 1
    before = [everything] * len(graph.nodes)
    if not graph.nodes or not gates:
        return gates, [0] * len(graph.nodes) if graph.nodes else []
    before[0] = 0
    order = topological(graph)
    changed = True
    while changed:
        changed = False
        for index in order:
            found = everything if index else 0
            for edge in graph.incoming[index]:
                found &= _along(graph, edge, before[edge.source], bit)
            if found != before[index]:
                before[index] = found
                changed = True
    return gates, before


def _along(graph: Graph, edge: Edge, bits: int, bit: dict[int, int]) -> int:
    source = graph.nodes[edge.source]
    if source.kind is Kind.GATE:
        bits &= ~bit[source.value]
    if edge.fact is not None and edge.fact[1]:
        value, truth = canonical(graph, edge.fact)
        if truth and graph.values[value].kind is ValueKind.APPROVAL:
            bits |= bit.get(value, 0)
    return bits
