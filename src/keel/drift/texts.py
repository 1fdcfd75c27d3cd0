"""The text axis: annotations that a model reads, where they changed, and a word-level difference for people."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keel.core.canonical import canonical_bytes
from keel.core.digest import texts
from keel.core.jsontext import escape_token
from keel.core.schema import ASSERTIONS, KEYWORDS, walk
from keel.core.text import escape, excerpt

_WORDS = re.compile(r"\s+|[^\s]+")
_MOST_PAIRS = 60_000
"""Beyond this many pairs of differing words the alignment, which is cubic at worst, is not attempted."""


@dataclass(frozen=True, slots=True)
class TextChange:
    """One annotation that differs; None stands for absent."""

    pointer: str
    old: str | None
    new: str | None

    @property
    def lost_parameter_description(self) -> bool:
        """Whether a parameter that was described no longer is."""
        is_parameter = re.search(r"/properties/[^/]+/description\Z", self.pointer) is not None
        return is_parameter and self.pointer.startswith("/inputSchema/") and self.new is None


def text_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[TextChange, ...]:
    """Return the annotations that differ between two tools, by pointer.

    A text that only moved, as when an anonymous branch is re-ordered or a definition inlined, is no change; nor is
    a generated title that repeats its property's name.
    """
    before, after = dict(annotation_texts(old)), dict(annotation_texts(new))
    if Counter(before.values()) == Counter(after.values()):
        return ()
    changes = [
        TextChange(pointer, before.get(pointer), after.get(pointer))
        for pointer in sorted(before.keys() | after.keys())
        if before.get(pointer) != after.get(pointer)
    ]
    moved = Counter(item.old for item in changes if item.new is None) & Counter(
        item.new for item in changes if item.old is None
    )
    return tuple(item for item in changes if not _is_moved(item, moved))


def _is_moved(change: TextChange, moved: Counter[str | None]) -> bool:
    return (change.old is None and moved[change.new] > 0) or (change.new is None and moved[change.old] > 0)


def annotation_texts(tool: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (pointer, text) of every annotation: strings as they are, other values as canonical JSON."""
    for pointer, value in texts(tool):
        if not pointer.startswith("/annotations/") and not _is_generated_title(pointer, value):
            yield pointer, value
    for field in ("inputSchema", "outputSchema"):
        for at, schema in walk(tool.get(field), f"/{field}"):
            if not isinstance(schema, dict):
                continue
            for keyword in schema.keys() - KEYWORDS.keys() - ASSERTIONS:
                if not isinstance(schema[keyword], str) or keyword == "format":
                    yield f"{at}/{escape_token(keyword)}", canonical_bytes(schema[keyword]).decode()


def _is_generated_title(pointer: str, value: str) -> bool:
    if not pointer.endswith("/title"):
        return False
    owner = pointer.split("/")[-2]
    return _letters(owner) == _letters(value) or (owner in ("inputSchema", "outputSchema") and " " not in value.strip())


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def word_diff(old: str, new: str, limit: int = 320) -> str:
    """Return the words that differ as `[-old-]` and `{+new+}` with a little context, foreign text escaped."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    head = _shared(before, after)
    tail = _shared(before[head:][::-1], after[head:][::-1])
    middle, other = before[head : len(before) - tail], after[head : len(after) - tail]
    pieces = [_context("".join(before[:head]), first=True, last=False)]
    if len(middle) * len(other) > _MOST_PAIRS:
        pieces.extend(_edit(excerpt("".join(middle), limit // 3), excerpt("".join(other), limit // 3)))
    else:
        pieces.extend(_aligned(middle, other))
    pieces.append(_context("".join(before[len(before) - tail :]), first=False, last=True))
    text = "".join(pieces)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _shared(one: list[str], other: list[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((index for index, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _aligned(before: list[str], after: list[str]) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for operation, start, end, other_start, other_end in matcher.get_opcodes():
        if operation == "equal":
            yield _context("".join(before[start:end]), first=False, last=False)
        else:
            yield from _edit(escape("".join(before[start:end])), escape("".join(after[other_start:other_end])))


def _edit(old: str, new: str) -> Iterator[str]:
    if old:
        yield f"[-{old}-]"
    if new:
        yield f"{{+{new}+}}"


_CONTEXT = 24


def _context(text: str, *, first: bool, last: bool) -> str:
    if len(text) <= 2 * _CONTEXT:
        return escape(text)
    head = "" if first else escape(text[:_CONTEXT])
    tail = "" if last else escape(text[-_CONTEXT:])
    return f"{head}…{tail}"
