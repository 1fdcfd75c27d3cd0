"""Descriptions that say no more than the name, or are placeholders."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.annotations.shared import stem
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.lazy import lazy
from keel.rules.quality.shared import quality_meta
from keel.rules.words import listed

_PLACEHOLDER = lazy(
    r"^\W{0,4}(?:todo|fixme|tbd|tba|xxx|lorem ipsum|placeholder|n/?a|none|description(?: here)?|(?:a |the )?tool"
    r"|(?:add|write|insert) (?:a )?description(?: here)?|no description(?: available| provided)?)\b[^.]{0,40}\.?$"
    r"|^\W{0,4}(?:todo|fixme|tbd)\b"
)
_FILLER = listed(
    "a an the this that tool function api method endpoint to of for in on from with by and or is are it your",
    "some all using use used call calls allows you lets can will performs does",
)
_WORD = lazy(r"[^\W_]+")


class DescriptionRestatesName(Rule):
    """Compares the words of the description with those of the name, articles and endings aside."""

    meta = quality_meta(
        "description-restates-name",
        "the description says no more than the name",
        "It costs tokens and decides nothing: when to call the tool, with what, and what comes back stays open.",
        '{"name": "query_order", "description": "query order"}',
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield at most one finding."""
        said = _WORD.findall(tool.about[:400])
        if not said:
            return
        new = (
            {stem(word) for word in said if word not in _FILLER} - {stem(word) for word in tool.words} - set(tool.words)
        )
        if _PLACEHOLDER.search(tool.about.strip()[:200]):
            yield self.finding(
                tool, "/description", f"the description `{excerpt(tool.description, 40)}` is a placeholder"
            )
        elif tool.words and not new and len(tool.about) <= 400:
            message = (
                f"the description `{excerpt(tool.description, 40)}` says no more than the name `{excerpt(tool.name)}`"
            )
            yield self.finding(tool, "/description", message)
