"""Whether something of a value was told, whichever way the value came about.

Over operands alone any one of them is enough. Where ways meet, something must have been told on each of them: the
greatest solution of equations with one unknown for each merged value, reached by iteration from above.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from keel.core.graph import Graph, ValueKind

MAX_MERGED = 100
"""Merged values of one argument of which every way is looked at; of those further back any one is enough."""


class Told:
    """What was told of values.

    Args:
        graph: the flow.
        told: whether a value by itself was told.
        ways: the operands of a merged value that count.
        parts: the operands of any other value that count, and what was put into its object.
    """

    def __init__(
        self,
        graph: Graph,
        told: Callable[[int], bool],
        ways: Callable[[int], Iterable[int]],
        parts: Callable[[int], Iterable[int]],
    ) -> None:
        self.graph = graph
        self.told = told
        self.ways = ways
        self.parts = parts

    def any_of(self, value: int) -> bool:
        """Tell whether something of a value was told on each way by which it came about."""
        told, merged = self._plainly(value)
        if told or not merged:
            return told
        equations = self._equations(merged)
        holds = dict.fromkeys(sorted(equations), True)
        changed = True
        while changed:
            changed = False
            for index in holds:
                now = all(told or any(holds[part] for part in parts) for told, parts in equations[index])
                changed = changed or now is not holds[index]
                holds[index] = now
        return any(holds[index] for index in merged)

    def _equations(self, merged: set[int]) -> dict[int, list[tuple[bool, set[int]]]]:
        """Return for each merged value, and those that it depends on, what decides each of its ways."""
        found: dict[int, list[tuple[bool, set[int]]]] = {}
        queue = deque(sorted(merged))
        while queue:
            index = queue.popleft()
            if index in found:
                continue
            if len(found) >= MAX_MERGED:
                found[index] = [(self._anywhere(index), set())]
            else:
                found[index] = [self._plainly(way) for way in self.ways(index)]
                queue.extend(sorted(part for _, parts in found[index] for part in parts))
        return found

    def _anywhere(self, value: int) -> bool:
        """Tell whether something of a value was told on some way."""
        seen: set[int] = set()
        stack = [value]
        while stack:
            index = stack.pop()
            if index not in seen and index >= 0:
                seen.add(index)
                if self.told(index):
                    return True
                merged = self.graph.values[index].kind is ValueKind.MERGED
                stack.extend(self.graph.values[index].operands if merged else self.parts(index))
        return False

    def _plainly(self, value: int) -> tuple[bool, set[int]]:
        """Tell whether something of a value was told without a look through merged values; returns those too."""
        merged: set[int] = set()
        seen: set[int] = set()
        stack = [value]
        while stack:
            index = stack.pop()
            if index in seen or index < 0:
                continue
            seen.add(index)
            if self.told(index):
                return True, merged
            item = self.graph.values[index]
            if item.kind is ValueKind.MERGED:
                merged.add(index)
                continue
            stack.extend(self.parts(index))
        return False, merged
