"""What the text rules share: findings for the texts that match a pattern, and documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.characters.shared import place
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.view import Role, Sign, Text

REFERENCES = (
    "OWASP MCP03:2025 Tool Poisoning",
    "OWASP LLM01:2025 Prompt Injection",
    "SAFE-T1001 Tool Poisoning Attack",
)
NEXT = "read the text with its author; keel knows patterns, not intentions, so what passes here is not thereby safe"
READ = frozenset({Role.PROSE, Role.LABEL, Role.TOKEN})
"""Roles whose hits are reported under the rule that matched; the others are `instruction-in-value`."""


class PatternRule(Rule):
    """A rule that reports where the frames under its own id match."""

    needs: ClassVar[int] = Sign.HIT.value
    said: ClassVar[str]
    """What the matching text does, completing `the text …`."""

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each text that matches."""
        for text, found in tool.hits:
            for hit in found if text.role in READ else ():
                if hit.rule == self.meta.id:
                    yield self.at(tool, text, hit.sentence)

    def at(self, tool: ToolView, text: Text, sentence: str) -> Finding:
        """Build the finding for one sentence."""
        return self.finding(tool, text.pointer, f"{place(text)} {self.said}: `{excerpt(sentence.strip(), 120)}`")


def text_meta(
    id: str,  # noqa: A002 - the field's own name
    summary: str,
    why: str,
    example: str,
    *references: str,
    severity: Severity = Severity.ERROR,
    precision: Precision = Precision.HEURISTIC,
) -> RuleMeta:
    """Build the documentation of a text rule from what differs between them."""
    return RuleMeta(
        id=id,
        category=Category.TEXT,
        severity=severity,
        summary=summary,
        why=why,
        next=NEXT,
        example=example,
        precision=precision,
        references=(*REFERENCES, *references),
    )
