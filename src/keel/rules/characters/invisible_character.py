"""Zero-width and filler characters where no script or emoji needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keel.core.finding import Finding
from keel.rules.characters.shared import REFERENCES, around, code_points, place
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.lazy import lazy
from keel.rules.unicode.properties import character_class, has
from keel.rules.view import Sign

_ELSEWHERE = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""`bidi-control` speaks of these."""
_JOINERS = frozenset("\u200c\u200d")
_SOFT_HYPHEN = "\u00ad"
_SPLIT_WORDS = lazy("[A-Za-z]\u00ad[A-Za-z]")
_BLANK = "\u2800"
"""Braille blank: a letter that shows nothing (it is not default-ignorable)."""
_SCRIPT_OWN = {
    "\u180e": "\u1800-\u18af",
    "\u17b4": "\u1780-\u17ff",
    "\u17b5": "\u1780-\u17ff",
    "\u034f": "\u0590-\u05ff",
}
"""Characters that one script needs, and where its letters stand."""


class InvisibleCharacter(Rule):
    """Finds default-ignorable characters except joiners in emoji and in scripts that join, and rare soft hyphens."""

    meta = RuleMeta(
        id="invisible-character",
        category=Category.CHARACTERS,
        severity=Severity.ERROR,
        summary="a text holds zero-width or filler characters",
        why=(
            "Characters without width split words so that filters miss them, carry bits, and make names look alike; "
            "no reviewer sees them."
        ),
        next="remove the characters",
        example='{"name": "get_\\u200buser"}',
        precision=Precision.EXACT,
        references=REFERENCES,
        blocks_freeze=True,
    )

    needs = Sign.UNUSUAL.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each text."""
        for text in tool.unusual:
            found = tuple(_unwanted(text.raw))
            if found:
                message = (
                    f"{place(text)} holds {len(found)} invisible characters "
                    f"({code_points(text.raw[at] for at in found)}): `{around(text.raw, found[0])}`"
                )
                yield self.finding(tool, text.pointer, message)


def _unwanted(text: str) -> Iterator[int]:
    soft = len(_SPLIT_WORDS.findall(text)) > 1
    blank = _BLANK in text and not re.search("[\u2801-\u28ff]", text)
    for match in character_class("IGNORABLE").finditer(text):
        at, char = match.start(), match.group()
        if char in _ELSEWHERE or (char == _SOFT_HYPHEN and not soft):
            continue
        if char in _JOINERS and _joins(text, at):
            continue
        if char in _SCRIPT_OWN and re.search(f"[{_SCRIPT_OWN[char]}]", text):
            continue
        yield at
    if blank:
        yield from (match.start() for match in re.finditer(_BLANK, text))


def _joins(text: str, at: int) -> bool:
    """Tell whether a joiner stands in an emoji sequence, or beside a letter of a script that joins (UAX 31, 2.3)."""
    before, after = text[max(0, at - 2) : at], text[at + 1 : at + 2]
    if has("PICTOGRAPHIC", before[-1:]) or (before[-1:] == "\ufe0f" and has("PICTOGRAPHIC", before[:1])):
        return text[at] == "\u200d" and has("PICTOGRAPHIC", after)
    return has("JOINING_SCRIPT", before)
