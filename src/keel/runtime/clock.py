"""The machine's clock."""

from __future__ import annotations

import time


class SystemClock:
    """Time of this machine; the default wherever the run time asks for a clock."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds of a clock that never goes back."""
        return time.monotonic()
