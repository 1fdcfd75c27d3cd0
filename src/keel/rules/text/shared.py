"""What the text rules share: findings for the texts that match a pattern, and documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.characters.shared import place
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.language.frames import FrameSet
from keel.rules.language.reading import concepts_of, matches, rules_hit
from keel.rules.view import Role, Sign, Text, fold, sentences, words

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
    alien: ClassVar[FrameSet | None] = None
    """What a text asks for although the tool's purpose has nothing to do with it."""
    topic: ClassVar[int] = 0
    """Concepts that, in the tool's name, title or first sentence, make such a request a part of its purpose."""
    said: ClassVar[str]
    """What the matching text does, completing `the text …`."""

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each text that matches."""
        for text, found in tool.hits:
            for hit in found if text.role in READ else ():
                if hit.rule == self.meta.id:
                    yield self.at(tool, text, hit.sentence)
        if self.alien is not None and tool.could & self.alien.keys and not purpose(tool) & self.topic:
            yield from self._out_of_place(tool, self.alien)

    def _out_of_place(self, tool: ToolView, alien: FrameSet) -> Iterator[Finding]:
        for text in tool.worded:
            if text.role is not Role.PROSE or not text.could & alien.keys:
                continue
            for line in text.lines[1:] if text.pointer == "/description" else text.lines:
                if matches(alien, line) and self.meta.id not in rules_hit(line):
                    yield self.at(tool, text, line)
                    break

    def at(self, tool: ToolView, text: Text, sentence: str) -> Finding:
        """Build the finding for one sentence."""
        return self.finding(tool, text.pointer, f"{place(text)} {self.said}: `{excerpt(sentence.strip(), 120)}`")


def purpose(tool: ToolView) -> int:
    """Return the concepts of the tool's name, title and first sentence."""
    found = tool.memo.get("purpose")
    if found is None:
        title = tool.wire.get("title")
        first = sentences(fold(tool.description))[:1]
        found = 0
        for text in (" ".join(words(tool.name)), fold(title) if isinstance(title, str) else "", *first):
            found |= concepts_of(text)
        tool.memo["purpose"] = found
    return int(found)


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
