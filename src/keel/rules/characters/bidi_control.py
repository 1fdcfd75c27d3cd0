"""Bidirectional controls, which make a text read differently from what it is."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.rules.characters.shared import REFERENCES, around, code_points, place
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.lazy import lazy
from keel.rules.unicode.properties import has
from keel.rules.view import Sign

_CONTROLS = lazy("[\u202a-\u202e\u2066-\u2069]")
_MARKS = lazy("[\u200e\u200f\u061c]")


class BidiControl(Rule):
    """Finds embeddings, overrides and isolates anywhere, and direction marks where nothing runs right to left."""

    meta = RuleMeta(
        id="bidi-control",
        category=Category.CHARACTERS,
        severity=Severity.ERROR,
        summary="a text holds bidirectional control characters",
        why="An override shows a reader one text and gives the model another: a link, a path or a sentence in reverse.",
        next="remove the characters; right-to-left text needs none of them in JSON",
        example='{"description": "Opens \\u202egpj.tropeR\\u202c."}',
        precision=Precision.EXACT,
        references=(*REFERENCES, "UAX 9", "CVE-2021-42574"),
        blocks_freeze=True,
    )

    needs = Sign.UNUSUAL.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each text."""
        for text in tool.unusual:
            found = _CONTROLS.findall(text.raw)
            if not has("RIGHT_TO_LEFT", text.raw):
                found += _MARKS.findall(text.raw)
            if found:
                at = text.raw.index(found[0])
                message = f"{place(text)} holds {code_points(found)}: `{around(text.raw, at)}`"
                yield self.finding(tool, text.pointer, message)
