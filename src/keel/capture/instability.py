"""Two starts of one server compared: where they differ, and the mask that would settle it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from keel.core.finding import Finding, Location, finding
from keel.core.jsontext import escape_token
from keel.core.model import Surface, VolatileMask
from keel.core.text import escape, excerpt
from keel.drift.volatile import apply_masks, mask_text

_OTHER_ZONE = "Pacific/Kiritimati"
_PLAIN_LOCALES = ("", "C", "POSIX", "C.UTF-8")


def other_environment(env: dict[str, str]) -> dict[str, str]:
    """Return the environment of a second start: another time zone, locale and hash seed.

    A time zone or hash seed that the launch itself sets stays: it is the same on every machine.
    """
    locale = "en_US.UTF-8" if env.get("LC_ALL", env.get("LANG", "")) in _PLAIN_LOCALES else "C.UTF-8"
    return {"TZ": _OTHER_ZONE, "PYTHONHASHSEED": "1", **env, "LANG": locale, "LC_ALL": locale}


def unstable(server: str, one: Surface, other: Surface, masks: Iterable[VolatileMask] = ()) -> Iterator[Finding]:
    """Yield `unstable-definition` for every place where two starts of a server differ under its masks.

    Args:
        server: name of the server.
        one: what the first start gave.
        other: what the second start gave, under another time zone, locale and hash seed.
        masks: the server's `volatile` entries.
    """
    masks = tuple(masks)
    first, second = apply_masks(one, masks), apply_masks(other, masks)
    for pointer, ours, theirs in differences(dict(first.initialize), dict(second.initialize), ""):
        yield _found(server, "", pointer, ours, theirs)
    left = {str(tool["name"]): dict(tool) for tool in first.tools}
    right = {str(tool["name"]): dict(tool) for tool in second.tools}
    for name in sorted(left.keys() | right.keys()):
        if name in left and name in right:
            for pointer, ours, theirs in differences(left[name], right[name], ""):
                yield _found(server, name, pointer, ours, theirs)
        else:
            message = f"tool `{excerpt(name)}` of `{escape(server)}` was listed by only one of two starts"
            yield finding("unstable-definition", message, location=Location(key=f"{server}/{escape(name)}"), next=_TELL)
    for field in ("prompts", "resources", "resource_templates"):
        if getattr(first, field) != getattr(second, field):
            message = f"two starts of `{escape(server)}` listed different {field.replace('_', ' ')}"
            yield finding("unstable-definition", message, location=Location(key=server), next=_TELL)


def _found(server: str, tool: str, pointer: str, ours: Any, theirs: Any) -> Finding:
    mask = suggest(tool, pointer, ours, theirs) if isinstance(ours, str) and isinstance(theirs, str) else None
    key = f"{server}/{escape(tool)}" if tool else server
    where = f"{pointer}` of `{escape(key)}"
    message = f"two starts differ at `{escape(where)}`: {_short(ours, theirs)} and {_short(theirs, ours)}"
    settled = f"if that is right, add under `volatile` of `{escape(server)}`: `{_entry(mask)}`" if mask else _TELL
    return finding("unstable-definition", message, location=Location(key=key, pointer=escape(pointer)), next=settled)


_TELL = "report it to the server's author; no mask can settle it"


def _entry(mask: VolatileMask) -> str:
    """Return a mask as a flow mapping, which YAML shares with JSON."""
    tool = f"tool: {json.dumps(mask.tool)}, " if mask.tool else ""
    return f"- {{{tool}pointer: {json.dumps(mask.pointer)}, match: {json.dumps(mask.match)}}}"


def _short(value: Any, other: Any) -> str:
    """Return the part of a value that differs, in quotes."""
    if not isinstance(value, str) or not isinstance(other, str):
        return f"`{excerpt(json.dumps(value), 60)}`"
    return f"`{excerpt(value[max(_common(value, other) - 8, 0) :], 60)}`"


def differences(one: Any, other: Any, pointer: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield (pointer, value, other value) for the innermost places where two JSON values differ."""
    stack = [(one, other, pointer)]
    while stack:
        left, right, at = stack.pop()
        if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
            stack.extend((left[name], right[name], f"{at}/{escape_token(name)}") for name in reversed(left))
        elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
            pairs = reversed(list(enumerate(zip(left, right, strict=True))))
            stack.extend((ours, theirs, f"{at}/{index}") for index, (ours, theirs) in pairs)
        elif left != right or isinstance(left, bool) is not isinstance(right, bool):
            yield at, left, right


_WORD = r"\w/.+:-"
_TAIL = re.compile(f"[{_WORD}]*$")
_HEAD = re.compile(f"[{_WORD}]*")


def suggest(tool: str, pointer: str, one: str, other: str) -> VolatileMask | None:
    """Return a narrow mask that makes two texts equal, or None when no permitted one does.

    The differing part grows to whole words, so that a name is masked whole and not just the letters that happened to
    differ; the signs around it, such as quotes, hold the mask in place.
    """
    start = _common(one, other)
    rest = min(len(one), len(other)) - start
    end = min(_common(one[::-1], other[::-1]), rest)
    before, after = one[:start], one[len(one) - end :]
    tail, head = _part(_TAIL, before), _part(_HEAD, after)
    words = [tail + text[start : len(text) - end] + head for text in (one, other)]
    left, right = before[: len(before) - len(tail)][-1:], after[len(head) :][:1]
    if not all(words) or any(char.isspace() for word in words for char in word):
        return None
    kinds = _kinds("".join(words))
    held = f"{_sign(left)}{kinds}+{_sign(right)}"
    for pattern in (held, f"{kinds}{{{min(map(len, words))},}}"):
        once = pattern == held or mask_text(pattern, one).count(mask_text(pattern, words[0])) == 1
        if once and mask_text(pattern, one) == mask_text(pattern, other) != one:
            return VolatileMask(tool, pointer, pattern)
    return None


def _common(one: str, other: str) -> int:
    shorter = min(len(one), len(other))
    return next((index for index in range(shorter) if one[index] != other[index]), shorter)


def _part(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found.group() if found else ""


def _sign(char: str) -> str:
    return re.escape(char) if char and not char.isalnum() and not char.isspace() else ""


def _kinds(text: str) -> str:
    """Return a class for the characters of a word: digits only, or word characters and the signs of names and paths."""
    if text.isascii() and text.isdigit():
        return "[0-9]"
    others = sorted({re.escape(char) for char in text if not _HEAD.fullmatch(char)})
    return f"[{''.join(others)}{_WORD}]"
