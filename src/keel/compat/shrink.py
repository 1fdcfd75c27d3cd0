"""Makes a witness smaller while it stays a witness: drops members, then replaces parts by simpler values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from keel.compat.interface import Json
from keel.compat.nodes import Kind, kind_of

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
    """Simpler values, boldest first."""
    if isinstance(value, dict):
        yield from ({other: value[other] for other in value if other != name} for name in value)
        yield from ({**value, name: smaller} for name in value for smaller in _steps(value[name]))
    elif isinstance(value, list):
        yield from (value[:index] + value[index + 1 :] for index in range(len(value)))
        for index, inner in enumerate(value):
            yield from ([*value[:index], smaller, *value[index + 1 :]] for smaller in _steps(inner))
    elif isinstance(value, str) and len(value) > 1:
        yield from (value[: len(value) // 2], value[:-1])
    elif kind_of(value) is Kind.NUMBER:
        yield from _numbers(value)


def _numbers(value: Json) -> Iterator[Json]:
    if isinstance(value, float):
        yield int(value)
    elif abs(value) > 1:
        yield from (0, 1 if value > 0 else -1)
