"""Questions about characters: which class, which script, and what ASCII text they look like."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import cache

from keel.rules.unicode import tables


def _pairs(text: str) -> list[tuple[int, int]]:
    found = []
    for item in text.split():
        low, _, high = item.partition("-")
        found.append((int(low, 16), int(high or low, 16)))
    return found


@cache
def character_class(name: str) -> re.Pattern[str]:
    """Return a pattern for one character of a property in `tables`, such as `PICTOGRAPHIC`."""
    pairs = _pairs(getattr(tables, name))
    return re.compile("[" + "".join(f"{_escaped(low)}-{_escaped(high)}" for low, high in pairs) + "]")


def _escaped(point: int) -> str:
    return f"\\U{point:08x}"


_FEW = 40


def has(name: str, text: str) -> bool:
    """Tell whether any character of the text has a property."""
    distinct = "".join(set(text)) if len(text) > _FEW else text  # the classes are large, and texts repeat letters
    return character_class(name).search(distinct) is not None


@cache
def _script_table() -> tuple[list[int], list[tuple[int, str]]]:
    rows = sorted((low, high, name) for name, text in tables.SCRIPTS.items() for low, high in _pairs(text))
    return [row[0] for row in rows], [(row[1], row[2]) for row in rows]


def script(char: str) -> str:
    """Return the script of a letter, or an empty string where it belongs to many or none (UAX 24)."""
    starts, rows = _script_table()
    index = bisect_right(starts, ord(char)) - 1
    return rows[index][1] if index >= 0 and ord(char) <= rows[index][0] else ""


@cache
def _prototypes() -> dict[int, str]:
    return {ord(source): target for target, sources in tables.PROTOTYPES.items() for source in sources}


def skeleton(text: str) -> str:
    """Return what the text looks like (UTS 39 section 4, restricted to prototypes that are ASCII)."""
    folded = unicodedata.normalize("NFKC", text)
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFD", folded).translate(_prototypes())
