"""The clock of one capture: each phase has a deadline, and a message can say where the time went."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import anyio

from keel.capture.gaps import CaptureGap
from keel.core.text import escape

CLOSE_S = 3.0
"""Longest wait for a connection to end, in seconds; the end of a process is bounded by itself and always awaited."""


class Phase(StrEnum):
    """What a capture is doing."""

    SPAWN = "spawn"
    FIRST_REPLY = "first reply"
    LIST = "list"
    CLOSE = "close"


class Clock:
    """Moves one cancel scope's deadline from phase to phase.

    Args:
        name: name of the server.
        timeout_s: seconds for each phase.
        progress: told the server's name and each phase as it begins.
    """

    def __init__(self, name: str, timeout_s: float, progress: Callable[[str, str], None] | None = None) -> None:
        self.scope = anyio.CancelScope()
        """The scope of the current attempt; `restart` replaces it."""
        self._name = name
        self._timeout = timeout_s
        self._progress = progress
        self._begun: list[tuple[Phase, float]] = []

    def restart(self) -> anyio.CancelScope:
        """Return a fresh scope for another attempt; the phases passed so far are kept."""
        self.scope = anyio.CancelScope()
        return self.scope

    def enter(self, phase: Phase, more_s: float = 0.0) -> None:
        """Begin a phase with a deadline of its own, later by `more_s` seconds where a person is waited for."""
        now = anyio.current_time()
        self._begun.append((phase, now))
        self.scope.deadline = now + (CLOSE_S if phase is Phase.CLOSE else self._timeout + more_s)
        if self._progress is not None:
            self._progress(self._name, phase.value)

    @property
    def seconds(self) -> float:
        """Seconds since the first phase began."""
        return anyio.current_time() - self._begun[0][1] if self._begun else 0.0

    def timed_out(self) -> CaptureGap:
        """Return the gap for a deadline that has passed: the phase, the seconds used, how to allow more."""
        ends = [start for _, start in self._begun[1:]] + [anyio.current_time()]
        phase, start = self._begun[-1]
        used = ends[-1] - start
        spans = zip(self._begun, ends, strict=True)
        spent = ", ".join(f"{item.value} {end - begin:.1f} s" for (item, begin), end in spans)
        why = f"`{escape(self._name)}` did not finish the phase `{phase.value}` within {used:.1f} s ({spent})"
        more = f"{max(2 * self._timeout, 1):g}"
        how = f"allow more with `--timeout {more}` or `timeout_s: {more}` in the manifest"
        return CaptureGap("timed-out", why, how, passing=True)
