"""Tools that say they only read and whose name and description both say otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.annotations.shared import MUTATING, annotation_meta, first_verb, name_verb
from keel.rules.interface import Rule, RuleContext, ToolView


class ReadOnlyLie(Rule):
    """Needs two witnesses: the verb of the name and the first verb of the description."""

    meta = annotation_meta(
        "read-only-lie",
        "a tool that changes things says it is read-only",
        "Hosts run read-only tools without asking; a wrong hint turns that off for a tool that writes.",
        '{"name": "send_sms", "description": "Sends a text message.", "annotations": {"readOnlyHint": true}}',
        "set `readOnlyHint` to false; keel never lowers an effect because of a hint",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield at most one finding."""
        if tool.hint("readOnlyHint") is True:
            verb, first = name_verb(tool, MUTATING), first_verb(tool)
            if verb and first in MUTATING:
                message = (
                    f"`{excerpt(tool.name)}` says it is read-only; its name says `{verb}`, its description `{first}`"
                )
                yield self.finding(tool, "/annotations/readOnlyHint", message)
