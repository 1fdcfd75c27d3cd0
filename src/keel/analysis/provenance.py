"""What a value is computed from, and what somebody who was shown some values has seen of another.

A value table in static single assignment makes this a walk over operands (Cytron et al., "Efficiently computing
static single assignment form", TOPLAS 1991); objects that are changed in place add what was put into them anywhere
in the flow, which is more than was in them at any one moment and never less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
    """What a person has seen who could read some values."""

    def __init__(self, graph: Graph, values: frozenset[int]) -> None:
        self.graph = graph
        self.values = values
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


def visible(
    graph: Graph,
    shown: Iterable[tuple[int, int]],
    changed: Callable[[int, int], bool],
    kept: Callable[[int], tuple[int, ...]],
    depth: int = 0,
) -> dict[int, int]:
    """Return the values that can be read where some are shown: members of displays, pieces of texts.

    An object that was changed after it had been written out is not among them: what was read is what it was before.

    Args:
        graph: the graph whose table holds the values.
        shown: what is shown, each with the last step before it was written out.
        changed: whether a value was changed since a step.
        kept: the operands of a value that nothing has replaced in its object.
        depth: how many merged values are looked through already.

    Returns:
        Each value with the last step before it was written out.
    """
    found: dict[int, int] = {}
    seen: set[tuple[int, int]] = set()
    stack = [item for item in shown if item[0] >= 0]
    while stack:
        index, since = stack.pop()
        if (index, since) in seen:
            continue
        seen.add((index, since))
        item = graph.values[index]
        if not changed(index, since):
            found[index] = max(since, found.get(index, since))
        whole = item.name == "member" and item.hidden[0] not in graph.contents
        if item.kind is ValueKind.RENDERED:
            written = item.node if item.node >= 0 else since
            stack.extend((part, written) for part in kept(index))
        elif item.kind is ValueKind.BOUND or whole:
            stack.extend((part, since) for part in item.operands)
        elif item.kind is ValueKind.MERGED and depth < MAX_MERGED:
            ways = [
                visible(graph, [(part, since)], changed, kept, depth + 1) for part in item.operands if part != index
            ]
            if ways:
                common = set(ways[0]).intersection(*ways[1:])
                stack.extend((part, min(way[part] for way in ways)) for part in common)
    return found


MAX_MERGED = 4
"""Merged values inside each other that are looked through."""
