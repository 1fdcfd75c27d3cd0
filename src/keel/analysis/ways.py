"""By which of its ways a merged value can have come about between two steps."""

from __future__ import annotations

from keel.core.graph import Graph

MAX_VISITS = 2_000_000
"""Nodes that all questions about one flow may visit; later ones are answered as if control could go anywhere."""


class Ways:
    """The ways of the merged values of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.left = MAX_VISITS
        self._after: dict[tuple[int, int], frozenset[int]] = {}

    def between(self, merged: int, first: int, last: int) -> tuple[int, ...]:
        """Return the operands that a merged value can have at a step, on a way that comes from another step.

        Where control can go from the first step to the last one past the place where the ways meet, the value may be
        older than the first step, and every operand counts.

        Args:
            merged: the value.
            first: the step that the way comes from.
            last: the step at which the value is used.
        """
        item = self.graph.values[merged]
        if item.node < 0 or self.left < 0 or last in self._reached(first, item.node):
            return item.operands
        after = self._reached(first, -1)
        found = {
            operand
            for edge in self.graph.incoming[item.node]
            if edge.source in after or edge.source == first
            for value, operand in edge.merges
            if value == merged
        }
        return tuple(sorted(found)) or item.operands

    def leads(self, first: int, last: int) -> bool:
        """Tell whether control can go from one step to another."""
        return self.left < 0 or last in self._reached(first, -1)

    def _reached(self, start: int, past: int) -> frozenset[int]:
        """Return the nodes that control can come to from one node, past another one."""
        key = (start, past)
        if key not in self._after:
            found: set[int] = set()
            stack = [start]
            while stack:
                for edge in self.graph.outgoing[stack.pop()]:
                    if edge.target not in found and edge.target != past:
                        found.add(edge.target)
                        stack.append(edge.target)
            self.left -= len(found)
            self._after[key] = frozenset(found)
        return self._after[key]
