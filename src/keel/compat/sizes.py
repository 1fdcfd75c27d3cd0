"""The interval of sizes that a set of assertions leaves open."""

from __future__ import annotations

from dataclasses import dataclass

from keel.compat.nodes import AtLeast, AtMost, Node


@dataclass
class Sizes:
    """Between `low` and `high` code points, items or properties; no upper limit for None."""

    low: int = 0
    high: int | None = None

    def at_least(self, count: int) -> None:
        """Allow no smaller size."""
        self.low = max(self.low, count)

    def at_most(self, count: int) -> None:
        """Allow no larger size."""
        self.high = count if self.high is None else min(self.high, count)

    def take(self, node: Node, *, positive: bool) -> bool:
        """Apply an assertion about sizes or its complement; False when it is about something else."""
        if isinstance(node, AtLeast):
            self.at_least(node.count) if positive else self.at_most(node.count - 1)
        elif isinstance(node, AtMost):
            self.at_most(node.count) if positive else self.at_least(node.count + 1)
        else:
            return False
        return True

    @property
    def empty(self) -> bool:
        """Whether no size is left."""
        return self.high is not None and self.low > self.high
