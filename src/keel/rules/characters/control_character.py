"""Control characters, and escape sequences spelled out, that a terminal would run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.characters.shared import REFERENCES, around, code_points, place
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.lazy import lazy
from keel.rules.view import Role

_CONTROL = lazy("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_SPELLED = lazy(r"\\(?:x1b|u001b|u\{1b\}|033|e)(?:\[[0-9;?]{0,40}[A-Za-z]|\])", re.IGNORECASE)
_PATTERN_FIELDS = lazy(r"/(?:pattern|patternProperties/[^/]*)$")


class ControlCharacter(Rule):
    """Finds C0 (except tab and line ends), DEL, C1, lone surrogates, and written-out terminal sequences."""

    meta = RuleMeta(
        id="control-character",
        category=Category.CHARACTERS,
        severity=Severity.ERROR,
        summary="a text holds control characters or a terminal escape sequence",
        why="A terminal that shows the text would run them: hide lines, overwrite what was shown, forge a prompt.",
        next="remove the characters; write an example of a sequence as `ESC [ 2 J`",
        example='{"description": "Shows uptime.\\u001b[2K"}',
        precision=Precision.EXACT,
        references=(*REFERENCES, "CWE-150"),
        blocks_freeze=True,
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each text."""
        for text in tool.texts if tool.unusual or "\\" in tool.whole else ():
            found = _CONTROL.findall(text.raw) if not text.plain else []
            if found:
                at = text.raw.index(found[0])
                message = f"{place(text)} holds {code_points(found)}: `{around(text.raw, at)}`"
                yield self.finding(tool, text.pointer, message)
            elif "\\" in text.raw and text.role is not Role.KEY and not _PATTERN_FIELDS.search(text.pointer):
                spelled = _SPELLED.search(text.raw)
                if spelled:
                    shown = excerpt(spelled.group(), 40)
                    message = f"{place(text)} spells out the terminal sequence `{shown}`"
                    yield self.finding(tool, text.pointer, message)
