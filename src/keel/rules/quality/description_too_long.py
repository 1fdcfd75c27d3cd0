"""Descriptions that are longer than a model reads with attention."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.quality.shared import quality_meta

MAX_CHARACTERS = 2_000
"""About 500 tokens, paid on every turn; text beyond it belongs into a resource or a prompt."""


class DescriptionTooLong(Rule):
    """Counts the characters of the tool's and each parameter's description."""

    meta = quality_meta(
        "description-too-long",
        "a description is too long",
        "Every tool's text is sent with every request: length costs money, and what stands far down is read least.",
        '{"description": "<more than 2,000 characters>"}',
        next="keep what decides whether and how to call the tool; move the rest into a resource or a prompt",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each description."""
        for text in tool.texts if len(tool.whole) > MAX_CHARACTERS else ():
            if len(text.raw) > MAX_CHARACTERS and text.pointer.endswith("/description"):
                message = f"the description has {len(text.raw):,} characters, more than {MAX_CHARACTERS:,}"
                yield self.finding(tool, text.pointer, message)
