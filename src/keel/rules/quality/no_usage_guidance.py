"""Descriptions that do not help to decide."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keel.core.finding import Finding
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.lazy import lazy
from keel.rules.quality.shared import quality_meta

_PARTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (what, lazy(pattern))
    for what, pattern in (
        (
            "when to use it",
            (
                r"\b(?:use|call|useful|helpful|intended|designed)\b[^.]{0,40}"
                r"\b(?:when|for|to|if|after|before|on|only|instead|it|this|with)\b|\bwhen (?:the|you|a|an)\b"
                r"|使用|用于|使い|사용|verwenden|utilis|úsela|usar"
            ),
        ),
        (
            "when not to use it",
            (
                r"\b(?:do not|don't|never|not)\b[^.]{0,20}\b(?:use|call|for|suited|intended)\b|\buse \w{1,60} instead\b"
                r"|\binstead (?:of|use)\b|\bonly (?:for|when|if|on)\b"
            ),
        ),
        (
            "preconditions",
            (
                r"\b(?:must|requires?|required|needs?|after|before|first|only with|provided that|make sure|ensure)\b"
                r"|\bprerequisites?\b"
            ),
        ),
        (
            "what it returns",
            r"\b(?:returns?|gives?|yields?|outputs?|responds?|lists?|shows?|reads?|finds?|produces?)\b|返回|返し|반환",
        ),
        (
            "what it does not return",
            (
                r"\b(?:does not|doesn't|without|excludes?|excluding|never|not)\b[^.]{0,30}"
                r"\b(?:return|include|contain|show|list|give|value|content)|\bnothing is\b|\bat most\b|\bonly the\b"
            ),
        ),
        (
            "how siblings differ",
            (
                r"\b(?:use|prefer|instead of|rather than|unlike|see(?: also)?|compared (?:to|with)|better than)\b"
                r"[^.]{0,30}\b\w{1,40}_\w|`\w{1,60}`"
            ),
        ),
        (
            "how fresh the result is",
            (
                r"\b(?:current|cached?|real[- ]?time|live|latest|up to date|stale|as of|updated|delay(?:ed)?)\b"
                r"|\b(?:snapshot|eventually|recent|last \d)\b"
            ),
        ),
    )
)
"""The seven things a description can say, and how it usually says them."""


class NoUsageGuidance(Rule):
    """Finds descriptions that say neither when to use the tool nor when not; names which of seven parts are absent."""

    meta = quality_meta(
        "no-usage-guidance",
        "the description does not say when to use the tool",
        "A model chooses between tools by these sentences; without them it chooses by name.",
        '{"name": "cancel_order", "description": "Cancels an order."}',
        severity=Severity.INFO,
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield at most one finding."""
        if not tool.about.strip():
            return
        text = tool.about[:4000]
        if not any(pattern.search(text) for _, pattern in _PARTS[:2]):
            absent = [what for what, pattern in _PARTS if not pattern.search(text)]
            yield self.finding(tool, "/description", f"the description leaves open: {', '.join(absent)}")
