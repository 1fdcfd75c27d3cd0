"""Hints that are not booleans."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.annotations.shared import HINTS, annotation_meta
from keel.rules.interface import Rule, RuleContext, ToolView


class AnnotationInvalid(Rule):
    """Checks the types of `annotations` and of the four hints."""

    meta = annotation_meta(
        "annotation-invalid",
        "a hint is not a boolean",
        'Clients read `"yes"` as true, as false or not at all; the strictest of them drops the whole listing.',
        '{"annotations": {"readOnlyHint": "yes"}}',
        "write `true` or `false`, or leave the hint out",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each value of the wrong type."""
        value = tool.wire.get("annotations")
        if value is not None and not isinstance(value, dict):
            yield self.finding(tool, "/annotations", f"`annotations` is {type(value).__name__}, not an object")
        for hint in HINTS:
            if hint in tool.annotations and not isinstance(tool.annotations[hint], bool):
                shown = excerpt(str(tool.annotations[hint]))
                yield self.finding(tool, f"/annotations/{hint}", f"`{hint}` is `{shown}`, not a boolean")
