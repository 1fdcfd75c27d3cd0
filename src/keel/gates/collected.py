"""What a list that is built with `append`, `extend` and `insert` holds for certain at a step."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from keel.analysis.must import completed, passed
from keel.core.graph import Graph, Label, ValueKind

_LISTS = frozenset({"list", "list*"})


class Collected:
    """The lists of a flow that are only ever added to."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._changes: dict[int, list[int]] = {}
        """Of each list the steps that add to it; lists from which something may be taken are left out."""
        for index, node in enumerate(graph.nodes):
            for value in node.changes:
                if graph.values[value].name in _LISTS:
                    self._changes.setdefault(value, []).append(index)
        for value, nodes in list(self._changes.items()):
            if any(
                graph.nodes[node].value < 0 or same_object(graph, graph.nodes[node].value) != value for node in nodes
            ):
                del self._changes[value]

    def before(self, collection: int, step: int) -> Iterator[tuple[int, int]]:
        """Yield the steps that put something into a list on every way to a step.

        Args:
            collection: the list.
            step: where somebody looks at it.

        Yields:
            A loop head and a step that puts something in in each of its rounds; -1 and a step outside loops, or one in
            the same round.
        """
        if collection not in self._changes:
            return
        nodes = self.graph.nodes
        for change in self._changes[collection]:
            if self._done(change, step):
                yield -1, change
            for loop in nodes[change].loops[-1:]:
                inside = nodes[step].loops[: len(nodes[loop].loops) + 1]
                new = self.graph.values[collection].node >= loop
                if loop not in inside and not new and self._done(loop, step) and self._each_round(change, loop):
                    yield loop, change

    def _each_round(self, change: int, loop: int) -> bool:
        """Tell whether every round of a loop makes a change, and none is the last before the collection ends."""
        graph = self.graph
        again = [edge for edge in graph.incoming[loop] if loop in graph.nodes[edge.source].loops]
        done = all((self._passed[edge.source] | completed(edge, self._bits)) & self._bits[change] for edge in again)
        return done and not left_early(graph, loop)

    def _done(self, mark: int, step: int) -> bool:
        return bool(self._passed[step] & self._bits[mark])

    @cached_property
    def _bits(self) -> dict[int, int]:
        adding = {node for nodes in self._changes.values() for node in nodes}
        heads = {loop for node in adding for loop in self.graph.nodes[node].loops[-1:]}
        return {mark: 1 << at for at, mark in enumerate(sorted(adding | heads))}

    @cached_property
    def _passed(self) -> list[int]:
        return passed(self.graph, list(self._bits))


def same_object(graph: Graph, value: int) -> int:
    """Return the one value that another is under every name and on every way; itself where there are several."""
    found: set[int] = set()
    seen: set[int] = set()
    stack = [value]
    while stack:
        index = stack.pop()
        if index in seen:
            continue
        seen.add(index)
        item = graph.values[index]
        if item.kind in (ValueKind.BOUND, ValueKind.MERGED):
            stack.extend(item.operands)
        else:
            found.add(index)
    return found.pop() if len(found) == 1 else value


def left_early(graph: Graph, loop: int) -> bool:
    """Tell whether a loop may end before its collection does."""
    return any(
        loop in graph.nodes[edge.source].loops and edge.target != loop and loop not in graph.nodes[edge.target].loops
        for edge in graph.edges
        if edge.label is not Label.AGAIN
    )
