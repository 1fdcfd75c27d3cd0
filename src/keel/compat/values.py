"""Equality, size and number arithmetic of JSON values, as JSON Schema sees them."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

from keel.compat.interface import Json

MAX_DIGITS = 1000
"""Numbers with more digits than this, or exponents beyond it, are not reasoned about."""


def exact(value: Json) -> Fraction | None:
    """The exact decimal value of a JSON number, None when it is no number or too large to reason about.

    A float counts as the decimal it is written as: 0.1 is one tenth (JSON Schema Core 4.2.1 speaks of decimal numbers).
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value) if value.bit_length() < MAX_DIGITS * 3 else None
    if isinstance(value, float):
        return Fraction(repr(value)) if math.isfinite(value) else None
    return None


def number(value: Fraction) -> int | float | None:
    """The JSON number that spells `value` exactly, None when no Python number does."""
    if value.denominator == 1:
        return value.numerator
    try:
        nearest = float(value)
    except OverflowError:
        return None
    return nearest if math.isfinite(nearest) and Fraction(repr(nearest)) == value else None


def key(value: Json) -> Hashable:
    """A hashable that is equal for equal JSON values: 1 and 1.0 are one number, `true` is not 1, objects are unordered.

    Raises:
        TypeError: the value is not JSON.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return ("b", value)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else value
    if isinstance(value, list):
        return ("a", tuple(key(item) for item in value))
    if isinstance(value, dict):
        return ("o", frozenset((name, key(item)) for name, item in value.items()))
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def extent(value: Json, depth_cap: int, node_cap: int) -> str | None:
    """Why a value is too large to work on, None when it is not; iterative, so that depth cannot hurt."""
    level: list[Json] = [value]
    nodes = depth = 0
    while level:
        nodes += len(level)
        if depth > depth_cap:
            return f"it is nested deeper than {depth_cap} levels"
        if nodes > node_cap:
            return f"it has more than {node_cap} values"
        below: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        level, depth = below, depth + 1
    return None
