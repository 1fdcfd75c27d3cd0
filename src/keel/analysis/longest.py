"""The heaviest way through a graph, loops taken once: the weights say how often a loop multiplies what is in it."""

from __future__ import annotations

from collections.abc import Mapping

from keel.analysis.order import forward_edges, topological
from keel.core.graph import Graph


def longest(graph: Graph, weights: Mapping[int, int], limit: int) -> tuple[int, int]:
    """Return the weight of the heaviest way from the entry, and the node at which it first exceeds a limit.

    Ways are those of the graph without the edges that close a loop (a depth-first spanning tree's back edges), so
    that the graph is acyclic and one pass in topological order suffices (CLRS 24.2).

    Args:
        graph: the graph; node 0 is its entry.
        weights: weight by node; others weigh nothing.
        limit: what the weight is compared with.
    """
    if not graph.nodes:
        return 0, -1
    order, forward = topological(graph), forward_edges(graph)
    best: dict[int, int] = {0: weights.get(0, 0)}
    first = -1
    heaviest = 0
    for index in order:
        reached = best.get(index)
        if reached is None:
            continue
        heaviest = max(heaviest, reached)
        if reached > limit and first < 0 and index in weights:
            first = index
        for target in forward[index]:
            total = reached + weights.get(target, 0)
            if total > best.get(target, -1):
                best[target] = total
    return heaviest, first
