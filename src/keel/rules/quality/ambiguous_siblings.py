"""Tools of one server that a model cannot tell apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.annotations.shared import stem
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.lazy import lazy
from keel.rules.quality.shared import quality_meta

_SAME_ACTION = (
    "get fetch retrieve read load lookup show obtain",
    "find search query",
    "create add new make insert",
    "list enumerate",
    "update edit modify change set patch",
    "delete remove destroy erase",
    "send post submit publish",
    "run execute start launch",
)
_ACTION = {word: group.split()[0] for group in _SAME_ACTION for word in group.split()}
_WORD = lazy(r"[^\W_]{3,}")
_ALIKE = 0.6
"""Share of words two descriptions have in common (Jaccard) from which on they say the same."""


class AmbiguousSiblings(Rule):
    """Finds tools whose names mean the same and whose descriptions neither differ nor mention one another."""

    meta = quality_meta(
        "ambiguous-siblings",
        "two tools of one server cannot be told apart",
        "The model picks one by chance, and another one on the next run.",
        '{"tools": [{"name": "get_customer"}, {"name": "fetch_customer"}]}',
        next="merge the two, or say in each when to use the other",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding that names the twins."""
        table = context.index.get(self.meta.id)
        if table is None:
            table = defaultdict(list)
            for item in context.tools:
                table[_meaning(item)].append(item)
            context.index[self.meta.id] = table
        twins = [other for other in table.get(_meaning(tool), ()) if other is not tool and other.name != tool.name]
        alike = sorted(other.name for other in twins if _alike(tool, other))
        if alike and _meaning(tool):
            listed = ", ".join(f"`{excerpt(name)}`" for name in alike[:3])
            yield self.finding(tool, "/description", f"nothing says how `{excerpt(tool.name)}` differs from {listed}")


def _meaning(tool: ToolView) -> tuple[str, ...]:
    return tuple(sorted(_ACTION.get(word, stem(word)) for word in tool.words))


def _alike(one: ToolView, two: ToolView) -> bool:
    if one.name.lower() in two.about or two.name.lower() in one.about:
        return False
    first, second = ({stem(word) for word in _WORD.findall(tool.about)} for tool in (one, two))
    both = first | second
    return not both or len(first & second) / len(both) >= _ALIKE or min(len(first), len(second)) < 4
