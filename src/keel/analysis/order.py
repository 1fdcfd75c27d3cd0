"""Orders of a graph: which edges close loops, and an order in which every other edge leads forward."""

from __future__ import annotations

from keel.core.graph import Graph


def topological(graph: Graph) -> list[int]:
    """Return the reachable nodes so that every edge that closes no loop leads forward (reverse postorder)."""
    return _walk(graph)[0]


def forward_edges(graph: Graph) -> list[list[int]]:
    """Return for each node the targets of its edges, those that close a loop left out."""
    _, back = _walk(graph)
    found: list[list[int]] = [[] for _ in graph.nodes]
    for index, edges in enumerate(graph.outgoing):
        found[index] = [edge.target for edge in edges if (index, edge.target) not in back]
    return found


def reachable(graph: Graph) -> set[int]:
    """Return the nodes that control can come to."""
    return set(_walk(graph)[0])


def _walk(graph: Graph) -> tuple[list[int], set[tuple[int, int]]]:
    """Walk depth first from the entry; returns the reverse postorder and the edges that lead back up the walk."""
    if not graph.nodes:
        return [], set()
    back: set[tuple[int, int]] = set()
    order: list[int] = []
    entered: set[int] = {0}
    open_: set[int] = {0}
    stack: list[tuple[int, int]] = [(0, 0)]
    while stack:
        index, position = stack.pop()
        edges = graph.outgoing[index]
        if position < len(edges):
            stack.append((index, position + 1))
            target = edges[position].target
            if target in open_:
                back.add((index, target))
            elif target not in entered:
                entered.add(target)
                open_.add(target)
                stack.append((target, 0))
        else:
            open_.discard(index)
            order.append(index)
    order.reverse()
    return order, back
