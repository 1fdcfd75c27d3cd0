"""Tools that destroy and say that they do not."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.annotations.shared import DESTRUCTIVE, annotation_meta, first_verb, name_verb
from keel.rules.interface import Rule, RuleContext, ToolView


class DestructiveUnmarked(Rule):
    """Needs two witnesses, as `read-only-lie` does, against an explicit `destructiveHint: false`."""

    meta = annotation_meta(
        "destructive-unmarked",
        "a tool that destroys says it is not destructive",
        "The hint's default is true, so this tool's author set it to false: hosts will not warn before data is lost.",
        '{"name": "wipe_device", "description": "Wipes a phone.", "annotations": {"destructiveHint": false}}',
        "set `destructiveHint` to true",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield at most one finding."""
        if tool.hint("destructiveHint") is False and tool.hint("readOnlyHint") is not True:
            verb, first = name_verb(tool, DESTRUCTIVE), first_verb(tool)
            if verb and first in DESTRUCTIVE:
                claim = f"`{excerpt(tool.name)}` says it destroys nothing"
                message = f"{claim}; its name says `{verb}`, its description `{first}`"
                yield self.finding(tool, "/annotations/destructiveHint", message)
