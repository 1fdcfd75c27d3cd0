"""Makes a witness smaller while it stays a witness: drops members, then replaces parts by simpler values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from keel.compat.interface import Json

MAX_TRIES = 160


def shrink(value: Json, keeps: Callable[[Json], bool]) -> Json:
    """The smallest value reached by greedy steps for which `keeps` is still true; the number of tries is fixed."""
    tries = 0
    progress = True
    while progress:
        progress = False
        for smaller in _steps(value):
            tries += 1
            if tries > MAX_TRIES:
                return value
            if keeps(smaller):
                value, progress = smaller, True
                break
    return value


def _steps(value: Json) -> Iterator[Json]:
    if isinstance(value, dict):
        for name in value:
            yield {other: inner for other, inner in value.items() if other != name}
        for name, inner in value.items():
            yield from ({**value, name: smaller} for smaller in _steps(inner))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, inner in enumerate(value):
            yield from (value[:index] + [smaller] + value[index + 1 :] for smaller in _steps(inner))
    elif isinstance(value, str):
        if len(value) > 1:
            yield value[: len(value) // 2]
            yield value[:-1]
    elif isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) > 1):
        whole = int(value)
        if isinstance(value, float) or whole != value:
            yield whole
        elif abs(whole) > 1:
            yield from (0, 1 if whole > 0 else -1)
