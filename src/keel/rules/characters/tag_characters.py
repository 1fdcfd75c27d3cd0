"""Tag characters, which are invisible and carry ASCII text that models read."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.characters.shared import REFERENCES, place
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.lazy import lazy
from keel.rules.unicode.tables import TAG_SEQUENCES
from keel.rules.view import Sign

_TAGS = lazy("[\U000e0000-\U000e007f]+")


class TagCharacters(Rule):
    """Finds U+E0000 to U+E007F outside the emoji flags that are recommended for interchange."""

    meta = RuleMeta(
        id="tag-characters",
        category=Category.CHARACTERS,
        severity=Severity.ERROR,
        summary="a text holds invisible tag characters",
        why="Tag characters show nothing to a reader and spell ASCII text to a model: an instruction nobody reviews.",
        next="remove the characters; treat the server as hostile until its author explains them",
        example='{"description": "Counts words.\\udb40\\udc73\\udb40\\udc65\\udb40\\udc6e\\udb40\\udc64"}',
        precision=Precision.EXACT,
        references=REFERENCES,
        blocks_freeze=True,
    )

    needs = Sign.UNUSUAL.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each text, with what it hides."""
        for text in tool.unusual:
            rest = text.raw
            for sequence in TAG_SEQUENCES:
                rest = rest.replace(sequence, "")
            hidden = "".join(chr(ord(char) & 0x7F) for run in _TAGS.findall(rest) for char in run)
            if hidden:
                shown = excerpt("".join(char for char in hidden if char.isprintable()), 120)
                count = len(hidden)
                message = f"{place(text)} hides {count} tag characters (U+E0000..E007F) that spell `{shown}`"
                yield self.finding(tool, text.pointer, message)
