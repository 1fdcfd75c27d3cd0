"""What a value is computed from, and what somebody who was shown some values has seen of another.

A value table in static single assignment makes this a walk over operands (Cytron et al., "Efficiently computing
static single assignment form", TOPLAS 1991); objects that are changed in place add what was put into them anywhere
in the flow, which is more than was in them at any one moment and never less.
"""

from __future__ import annotations

from collections.abc import Iterable

from keel.core.graph import Graph, ValueKind


def expansion(
    graph: Graph, values: Iterable[int], *, hidden: bool, stop: frozenset[int] = frozenset()
) -> frozenset[int]:
    """Return every value that some values are computed from, themselves included.

    Args:
        graph: the graph whose table holds the values.
        values: where to begin.
        hidden: whether conditions that decided between values count.
        stop: values that are not looked into, and not returned.
    """
    found: set[int] = set()
    stack = [value for value in values if value >= 0]
    table, contents = graph.values, graph.contents
    while stack:
        index = stack.pop()
        if index in found or index in stop:
            continue
        found.add(index)
        item = table[index]
        stack.extend(item.operands)
        if hidden and item.kind is not ValueKind.BOUND:
            stack.extend(item.hidden)
        if index in contents:
            stack.extend(contents[index])
        if item.name == "member" and not hidden:
            # a member of a container may have been replaced by what was put into the container
            stack.extend(contents.get(item.hidden[0], ()))
    return frozenset(found)


class Seen:
    """What a person has seen who was shown some values."""

    def __init__(self, graph: Graph, shown: Iterable[int]) -> None:
        self.graph = graph
        self.values = _visible(graph, list(shown))
        self._known: dict[int, bool] = {}

    def all_of(self, value: int) -> bool:
        """Tell whether a value follows from what was shown and from literals alone."""
        known = self._known
        stack = [value]
        busy: set[int] = set()
        while stack:
            index = stack[-1]
            if index in known:
                stack.pop()
                continue
            outcome = self._leaf(index)
            if outcome is not None:
                known[index] = outcome
                stack.pop()
                continue
            operands = [item for item in self.graph.values[index].operands if item not in busy]
            waiting = [item for item in operands if item not in known]
            if index in busy or not waiting:
                # a merged value of a loop may depend on itself: it is seen if all its other ways are
                known[index] = all(known.get(item, True) for item in self.graph.values[index].operands)
                busy.discard(index)
                stack.pop()
            else:
                busy.add(index)
                stack.extend(waiting)
        return known[value]

    def _leaf(self, index: int) -> bool | None:
        item = self.graph.values[index]
        if index in self.values or item.kind in (ValueKind.LITERAL, ValueKind.APPROVAL):
            return True
        if item.kind in (ValueKind.PARAMETER, ValueKind.RESULT, ValueKind.OUTSIDE):
            return False
        return None

    def any_of(self, value: int) -> bool:
        """Tell whether something of a value was shown, literals aside."""
        parts = expansion(self.graph, [value], hidden=False)
        return any(part in self.values and self.graph.values[part].kind is not ValueKind.LITERAL for part in parts)


def _visible(graph: Graph, shown: list[int], depth: int = 0) -> frozenset[int]:
    """Return the values that can be read where some are shown: members of displays, pieces of texts."""
    found: set[int] = set()
    stack = [value for value in shown if value >= 0]
    while stack:
        index = stack.pop()
        if index in found:
            continue
        found.add(index)
        item = graph.values[index]
        kept = item.name == "member" and item.hidden[0] not in graph.contents
        if item.kind in (ValueKind.BOUND, ValueKind.RENDERED) or kept:
            stack.extend(item.operands)
        elif item.kind is ValueKind.MERGED and depth < 4:
            ways = [_visible(graph, [part], depth + 1) for part in item.operands if part != index]
            if ways:
                stack.extend(frozenset.intersection(*ways))
    return frozenset(found)
