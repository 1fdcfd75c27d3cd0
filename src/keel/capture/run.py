"""Capturing many servers side by side: one result for each, whatever any of them does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from keel.capture.gaps import CaptureGap, failure
from keel.capture.interface import Captured, Failure, Launch
from keel.capture.replay import replayed
from keel.core.model import Transport
from keel.core.redact import Redactor
from keel.drift.volatile import mask_findings

Progress = Callable[[str, str], None]
"""Told the server's name and the phase that begins, or `done` or `failed`."""


def capture_all(
    launches: Iterable[Launch],
    *,
    jobs: int = 8,
    allow_empty: bool = False,
    progress: Progress | None = None,
    second_start: bool | Collection[str] = False,
    probe_paths: bool = False,
    retries: int = 0,
) -> dict[str, Captured | Failure]:
    """Capture servers side by side; a server's fault is its own result and never raised.

    Every child process is gone when this returns or is interrupted.

    Args:
        launches: the servers, under distinct names.
        jobs: how many are captured at a time.
        allow_empty: whether a server without tools is captured, rather than reported as `empty-listing`.
        progress: told of each server's phases.
        second_start: whether each stdio server is started twice, or the names of those that are: the second start has
            another time zone, locale and hash seed, and a difference is `unstable-definition`.
        probe_paths: whether the second start also has another working directory and home.
        retries: how often a refused connection, a 429, a 5xx and a timeout are tried again.

    Returns:
        One outcome for each launch, in the order of the launches.
    """
    wanted = tuple(launches)
    told = progress or (lambda _name, _phase: None)
    found = {launch.name: _replayed(launch, told) for launch in wanted if launch.transport is Transport.SURFACE}
    live = tuple(launch for launch in wanted if launch.name not in found)
    if live:
        from keel.capture.pool import Capturer, run_pool  # noqa: PLC0415 - loads the SDK

        names = {launch.name for launch in live} if second_start is True else set(second_start or ())
        capturer = Capturer(allow_empty, progress, frozenset(names), probe_paths, retries)
        found |= run_pool(live, capturer, jobs=jobs)
    return {launch.name: _remarked(launch, found[launch.name]) for launch in wanted}


def _replayed(launch: Launch, told: Progress) -> Captured | Failure:
    try:
        outcome: Captured | Failure = replayed(launch)
    except CaptureGap as gap:
        outcome = failure(launch.name, gap, Redactor(launch.secrets))
    told(launch.name, "done" if isinstance(outcome, Captured) else "failed")
    return outcome


def _remarked(launch: Launch, outcome: Captured | Failure) -> Captured | Failure:
    """Add what is to be said of the masks, which look at the surface as it was sent."""
    if isinstance(outcome, Failure) or not launch.volatile:
        return outcome
    wide = mask_findings(launch.name, outcome.surface, launch.volatile)
    return replace(outcome, findings=(*outcome.findings, *wide))
