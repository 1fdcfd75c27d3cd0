"""Names that look like ASCII and are not, or that mix scripts."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.characters.shared import code_points
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.names.shared import REFERENCES, mixes_scripts, scripts
from keel.rules.unicode.properties import skeleton
from keel.rules.view import fold


class ConfusableName(Rule):
    """Compares the UTS 39 skeleton of tool, parameter and server names with the names themselves."""

    meta = RuleMeta(
        id="confusable-name",
        category=Category.NAMES,
        severity=Severity.ERROR,
        summary="a name is spelled with letters that look like others",
        why="A model, a reviewer and a grant take it for the name it imitates, and the arguments go to the wrong tool.",
        next="spell the name in ASCII; do not grant the tool until its author explains the spelling",
        example='{"name": "re\\u0430d_file"}',
        precision=Precision.EXACT,
        references=REFERENCES,
        blocks_freeze=True,
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each name."""
        named = [("/name", "the tool's name", tool.name)]
        named += [(item.pointer, "the parameter", item.name) for item in tool.parameters]
        named.append(("/name", "the name of its server", context.server))
        for pointer, what, name in named:
            if name.isascii():
                continue
            looks = skeleton(name)
            odd = [char for char in name if not char.isascii()]
            if looks.isascii() and looks.strip() and any(char.isalnum() for char in looks):
                message = f"{what} `{excerpt(name)}` looks like `{excerpt(looks)}` but holds {code_points(odd)}"
                yield self.finding(tool, pointer, message)
            elif mixes_scripts(fold(name)):
                mixed = ", ".join(sorted(scripts(fold(name))))
                yield self.finding(tool, pointer, f"{what} `{excerpt(name)}` mixes the scripts {mixed}")
