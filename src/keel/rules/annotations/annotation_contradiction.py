"""Hints that contradict one another or the tool they stand on."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.annotations.shared import annotation_meta
from keel.rules.hazards.shared import has_idempotency_key, moves_money
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.lazy import lazy

_OPEN_WORLD = lazy(
    r"\b(?:the|public|open)\s(?:public\s)?(?:web|internet)\b|\bany\s(?:web\s?)?(?:site|page|url)\b|\bonline\b"
)


class AnnotationContradiction(Rule):
    """Compares hints with one another, and two of them with what the tool evidently does."""

    meta = annotation_meta(
        "annotation-contradiction",
        "the hints contradict one another or the tool",
        "A host that believes one of two contradicting hints skips the question that the other asks for.",
        '{"annotations": {"readOnlyHint": true, "destructiveHint": true}}',
        "correct the hint that is wrong",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield an error for read-only and destructive at once, warnings for the others."""
        if tool.hint("readOnlyHint") is True and tool.hint("destructiveHint") is True:
            message = f"`{excerpt(tool.name)}` says it is read-only and destructive"
            yield self.finding(tool, "/annotations/destructiveHint", message)
        if tool.hint("openWorldHint") is False and _OPEN_WORLD.search(tool.about):
            message = f"`{excerpt(tool.name)}` says `openWorldHint` false and describes the open web"
            yield self.finding(tool, "/annotations/openWorldHint", message, severity=Severity.WARNING)
        if tool.hint("idempotentHint") is True and moves_money(tool) and not has_idempotency_key(tool):
            message = f"`{excerpt(tool.name)}` says `idempotentHint` true, moves money and takes no idempotency key"
            yield self.finding(tool, "/annotations/idempotentHint", message, severity=Severity.WARNING)
