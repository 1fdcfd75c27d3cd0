"""Where objects are changed in place, and whether one was changed between the moment it was written out and a step.

Nodes are numbered in the order in which they were read: outside loops, the order in which control comes to them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from keel.analysis.ways import Ways
from keel.core.graph import Graph, Kind


class Changes:
    """The changes in place of a flow."""

    def __init__(self, graph: Graph, ways: Ways) -> None:
        self.graph = graph
        self.ways = ways
        self._at: dict[int, list[int]] = {}
        for index, node in enumerate(graph.nodes):
            for value in node.changes:
                self._at.setdefault(value, []).append(index)

    def of(self, value: int) -> list[int]:
        """Return the steps that change the object of a value."""
        return self._at.get(value, [])

    def put_before(self, value: int, step: int, key: str | None = None) -> list[int]:
        """Return what may have been put into the object of a value when control first comes to a step.

        Args:
            value: the object.
            step: where it is used.
            key: JSON text of the one key that counts; None for all of them.
        """
        found: list[int] = []
        for change in self.of(value):
            node = self.graph.nodes[change]
            if change < step and (key is None or not node.names or key in node.names):
                found.extend(node.shown)
        return found

    def kept(self, value: int, step: int) -> tuple[int, ...]:
        """Return the operands of a value that nothing has replaced in its object when control comes to a step."""
        item = self.graph.values[value]
        replaced = self.replaced(value, step)
        keys = item.keys if item.name != "list" else tuple(map(str, range(len(item.operands))))
        if keys is None or not replaced:
            return item.operands
        return tuple(part for key, part in zip(keys, item.operands, strict=True) if key not in replaced)

    def replaced(self, value: int, step: int) -> set[str]:
        """Return the keys and attributes of an object that may be replaced before a step."""
        nodes = self.graph.nodes
        return {name for change in self.of(value) if self._may_precede(change, step) for name in nodes[change].names}

    def _may_precede(self, change: int, step: int) -> bool:
        nodes = self.graph.nodes
        return change < step or bool(set(nodes[step].loops).intersection(nodes[change].loops))

    def between(self, value: int, since: int, step: int) -> bool:
        """Tell whether the object of a value may change after it was written out and before that is looked at.

        Args:
            value: the object.
            since: the last step before it was written out; `step` itself if it is not written out but looked at.
            step: where somebody looks.
        """
        changes = self.of(value)
        if since == step or not changes:
            return False
        first, last = bisect_right(changes, since), bisect_left(changes, step)
        if any(self.ways.leads(change, step) for change in changes[first:last]):
            return True
        # in a loop around both, what was written out before the loop is not written out again
        nodes = self.graph.nodes
        inside = {*nodes[since].loops, *([since] if nodes[since].kind is Kind.LOOP else [])}
        around = [loop for loop in nodes[step].loops if loop not in inside]
        return bool(around) and any(loop in nodes[change].loops for change in changes for loop in around)
