"""Variation selectors that select nothing, and so carry data."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.rules.characters.shared import REFERENCES, around, code_points, place
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.lazy import lazy
from keel.rules.unicode.properties import has
from keel.rules.view import Sign

_SELECTOR = lazy("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_SUPPLEMENT = "\U000e0100"
_BASES = ("PICTOGRAPHIC", "KEYCAP_BASE", "SYMBOL", "IDEOGRAPH")


class VariationSelectorData(Rule):
    """Finds selectors that are repeated, or that follow nothing a selector can vary."""

    meta = RuleMeta(
        id="variation-selector-data",
        category=Category.CHARACTERS,
        severity=Severity.ERROR,
        summary="a text holds variation selectors that vary nothing",
        why="A run of the 256 selectors holds one byte each: text that no reader sees and a model may decode.",
        next="remove the selectors",
        example='{"description": "Counts vowels.\\ufe00\\ufe03\\ufe01"}',
        precision=Precision.EXACT,
        references=(*REFERENCES, "Unicode 23.4"),
        blocks_freeze=True,
    )

    needs = Sign.UNUSUAL.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each text."""
        for text in tool.unusual:
            found = [match.start() for match in _SELECTOR.finditer(text.raw) if not _varies(text.raw, match.start())]
            if found:
                points = code_points(text.raw[at] for at in found)
                message = f"{place(text)} holds {len(found)} stray selectors ({points}): `{around(text.raw, found[0])}`"
                yield self.finding(tool, text.pointer, message)


def _varies(text: str, at: int) -> bool:
    """Tell whether the character before can have a variant: emoji and text style, CJK, and Mongolian forms."""
    before = text[at - 1 : at]
    if text[at] >= _SUPPLEMENT:
        return has("IDEOGRAPH", before)
    return any(has(name, before) for name in _BASES) or "\u1800" <= before <= "\u18af"
