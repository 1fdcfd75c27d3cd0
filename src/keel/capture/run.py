"""Capturing many servers side by side: one result for each, whatever any of them does."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from keel.capture.interface import Captured, Failure, Launch

Progress = Callable[[str, str], None]
"""Told the server's name and the phase that begins, or `done` or `failed`."""


def capture_all(
    launches: Iterable[Launch], *, jobs: int = 8, allow_empty: bool = False, progress: Progress | None = None
) -> dict[str, Captured | Failure]:
    """Capture servers side by side; a server's fault is its own result and never raised.

    Every child process is gone when this returns or is interrupted.

    Args:
        launches: the servers, under distinct names.
        jobs: how many are captured at a time.
        allow_empty: whether a server without tools is captured, rather than reported as `empty-listing`.
        progress: told of each server's phases.

    Returns:
        One outcome for each launch, in the order of the launches.
    """
    wanted = tuple(launches)
    if not wanted:
        return {}
    from keel.capture.pool import run_pool  # noqa: PLC0415 - loads the SDK

    return run_pool(wanted, jobs=jobs, allow_empty=allow_empty, progress=progress)
