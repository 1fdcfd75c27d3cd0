"""Masks over text that legitimately differs by machine: replaced before hashing and storing, never before lint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from keel.core.finding import Finding, Location, finding
from keel.core.model import Surface, VolatileMask
from keel.core.schema import follow
from keel.core.text import escape, excerpt

PLACEHOLDER = "\u2039volatile\u203a"
"""What stands in place of masked text."""
MAX_MATCH = 64
"""Longest match, in characters; a mask that could hide a sentence would hide an instruction."""

_INSTRUCTIONS = ("/instructions", "instructions", "")
"""How a mask without a tool may point at the server's instructions."""


def apply_masks(surface: Surface, masks: Iterable[VolatileMask]) -> Surface:
    """Return the surface with every match of a mask replaced by `PLACEHOLDER`.

    A match that holds white space or is longer than `MAX_MATCH` characters is left as it is; `mask_findings` names
    it. Masks whose tool or pointer is not in the surface do nothing.
    """
    for mask in masks:
        surface = _masked(surface, mask)
    return surface


def mask_findings(server: str, surface: Surface, masks: Iterable[VolatileMask], file: str = "") -> Iterator[Finding]:
    """Yield `volatile-too-wide` for each mask that matches more than it may.

    Args:
        server: name of the server.
        surface: the surface as captured.
        masks: the server's masks.
        file: the manifest, for locations.
    """
    for mask in masks:
        text = _target(surface, mask)
        wide = next((match for match in _matches(mask.match, text) if not _fits(match.group())), None)
        if wide is None:
            continue
        where = f"`{escape(server)}/{escape(mask.tool)}`" if mask.tool else f"the instructions of `{escape(server)}`"
        message = (
            f"volatile mask `{excerpt(mask.match)}` matches `{excerpt(wide.group(), 40)}` in {where}: a match may be "
            f"at most {MAX_MATCH} characters, without white space"
        )
        key = f"{server}/{mask.tool}" if mask.tool else server
        at = Location(file=file, line=mask.line, column=mask.column, key=key, pointer=mask.pointer)
        yield finding("volatile-too-wide", message, location=at)


def _fits(text: str) -> bool:
    return len(text) <= MAX_MATCH and not any(char.isspace() for char in text)


def _matches(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """Yield leftmost, non-overlapping, non-empty matches.

    Each attempt sees a window of a fixed length, so the whole is linear in the text whatever the pattern repeats.
    """
    compiled = re.compile(pattern)
    at = 0
    while at < len(text):
        match = compiled.match(text, at, at + MAX_MATCH + 1)
        if match is None or not match.group():
            at += 1
            continue
        yield match
        at = match.end()


def mask_text(pattern: str, text: str) -> str:
    """Return one text with every permitted match of a mask replaced by `PLACEHOLDER`."""
    parts, end, refused = [], 0, -1
    for match in _matches(pattern, text):
        if match.start() == refused or not _fits(match.group()):
            refused = match.end()  # what follows at once is the rest of a match that was cut by the window
            continue
        parts += [text[end : match.start()], PLACEHOLDER]
        end = match.end()
    return "".join([*parts, text[end:]])


def _masked(surface: Surface, mask: VolatileMask) -> Surface:
    text = _target(surface, mask)
    masked = mask_text(mask.match, text)
    if masked == text:
        return surface
    if not mask.tool:
        return replace(surface, initialize={**surface.initialize, "instructions": masked})
    tools = tuple(
        _with_text(tool, mask.pointer, masked) if tool.get("name") == mask.tool else tool for tool in surface.tools
    )
    return replace(surface, tools=tools)


def _target(surface: Surface, mask: VolatileMask) -> str:
    """Return the text that a mask looks at; empty when there is none."""
    if not mask.tool:
        return (surface.instructions or "") if mask.pointer in _INSTRUCTIONS else ""
    for tool in surface.tools:
        if tool.get("name") == mask.tool:
            found, value = follow(dict(tool), mask.pointer)
            return value if found and isinstance(value, str) else ""
    return ""


def _with_text(tool: Mapping[str, Any], pointer: str, text: str) -> dict[str, Any]:
    """Return a copy of a tool with another string at a pointer; only what is on the way is copied."""
    tokens = [raw.replace("~1", "/").replace("~0", "~") for raw in pointer[1:].split("/")]
    return dict(_set(dict(tool), tokens, text))


def _set(value: Any, tokens: list[str], text: str) -> Any:
    if not tokens:
        return text
    head, rest = tokens[0], tokens[1:]
    if isinstance(value, list):
        return [_set(item, rest, text) if str(index) == head else item for index, item in enumerate(value)]
    return {name: _set(item, rest, text) if name == head else item for name, item in value.items()}
