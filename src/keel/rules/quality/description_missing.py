"""Tools without a description."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.interface import Precision, Rule, RuleContext, Severity, ToolView
from keel.rules.quality.shared import quality_meta
from keel.rules.view import fold


class DescriptionMissing(Rule):
    """Finds descriptions that are absent, blank, or not text."""

    meta = quality_meta(
        "description-missing",
        "the tool has no description",
        "A model has only the name to choose by, and calls the tool for the wrong thing or not at all.",
        '{"name": "rebuild", "description": "   "}',
        severity=Severity.ERROR,
        precision=Precision.EXACT,
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield at most one finding."""
        value = tool.wire.get("description")
        at = "/description" if "description" in tool.wire else ""
        if value is not None and not isinstance(value, str):
            yield self.finding(
                tool, at, f"the description of `{excerpt(tool.key)}` is {type(value).__name__}, not text"
            )
        elif value is None or not any(char.isalnum() for char in fold(value)):
            yield self.finding(tool, at, f"`{excerpt(tool.key)}` has no description")
