"""How many calls a second the gateway takes: a bucket of tokens that fills steadily."""

from __future__ import annotations

from dataclasses import dataclass, field

from keel.runtime.ports import Clock

BURST_S = 10.0
"""How many seconds' worth of calls may come at once."""


@dataclass
class Rate:
    """A token bucket.

    Args:
        per_second: calls a second in the long run; 0 for any number.
        clock: what time it is.
    """

    per_second: float
    clock: Clock
    _left: float = field(init=False)
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self._left = self.per_second * BURST_S
        self._at = self.clock.monotonic()

    def take(self) -> bool:
        """Take one call; returns whether there was one to take."""
        if not self.per_second:
            return True
        now = self.clock.monotonic()
        self._left = min(self._left + (now - self._at) * self.per_second, self.per_second * BURST_S)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
