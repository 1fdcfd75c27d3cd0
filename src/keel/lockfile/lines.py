"""The line at which each server and tool stands in the text of an index, for reports that point at it."""

from __future__ import annotations

import json
import re

_ENTRY = re.compile(r'(?:"((?:[^"\\]|\\.)*)"|([A-Za-z0-9_-]+))(?:\.[a-z]+)? = ')


def line_numbers(text: str) -> dict[str, int]:
    """Return key to the 1-based line of its first fact; lines that are none, as in a merge conflict, are passed over.

    Args:
        text: an index as the canonical writer lays it out.
    """
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = _ENTRY.match(line)
        if match is not None:
            found.setdefault(_plain(match[1]) if match[1] is not None else match[2], number)
    return found


def _plain(quoted: str) -> str:
    try:
        return str(json.loads(f'"{quoted}"'))
    except ValueError:  # an escape that TOML has and JSON has not
        return quoted
