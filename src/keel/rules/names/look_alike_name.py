"""Names that a hurried reader takes for a tool of another server."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.names.shared import REFERENCES, look, one_letter_apart, spellings
from keel.rules.view import Sign

_SHORTEST = 6
"""At one letter's distance, shorter names are neighbours by chance."""


class LookAlikeName(Rule):
    """Compares names across servers by what they look like, and at a distance of one letter."""

    meta = RuleMeta(
        id="look-alike-name",
        category=Category.NAMES,
        severity=Severity.ERROR,
        summary="a name looks like that of another server's tool",
        why="`create_payrnent` beside `create_payment` is called by mistake, and a mistake is what it is there for.",
        next="rename the tool, or leave one of the two servers out",
        example='{"tool": {"name": "sendEmail"}, "siblings": [{"name": "send_email"}], "siblings_server": "mail"}',
        precision=Precision.HEURISTIC,
        references=REFERENCES,
    )

    needs = Sign.OTHERS.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield an error for equal looks, and a warning for one letter of difference."""
        if not tool.name or not context.others:
            return
        looks, near = _tables(context, self.meta.id)
        mine = look(tool.name)
        forms = set(spellings("", tool.name, context.targets))
        same = {key for key in looks.get(mine, ()) if forms.isdisjoint(spellings("", _bare(key), context.targets))}
        for key in sorted(same):
            yield self.finding(tool, "/name", f"`{excerpt(tool.name)}` looks like `{excerpt(key)}`")
        if same or looks.get(mine) or len(mine) < _SHORTEST:
            return
        close = {
            key
            for variant in _variants(mine)
            for key in near.get(variant, ())
            if one_letter_apart(mine, look(_bare(key)))
        }
        for key in sorted(close)[:3]:
            message = f"`{excerpt(tool.name)}` differs from `{excerpt(key)}` by one letter"
            yield self.finding(tool, "/name", message, severity=Severity.WARNING)


def _tables(context: RuleContext, rule: str) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return (look -> keys, look with one letter left out -> keys) over all other servers."""
    tables = context.index.get(rule)
    if tables is None:
        looks: dict[str, set[str]] = {}
        near: dict[str, set[str]] = {}
        for server, name in context.others:
            key, form = f"{server}/{name}", look(name)
            looks.setdefault(form, set()).add(key)
            if len(form) >= _SHORTEST:
                for variant in _variants(form):
                    near.setdefault(variant, set()).add(key)
        tables = context.index[rule] = (looks, near)
    return tables


def _bare(key: str) -> str:
    return key.partition("/")[2]


def _variants(form: str) -> set[str]:
    """Return the form and every form with one letter left out: forms at distance one share one of these."""
    return {form, *(form[:at] + form[at + 1 :] for at in range(len(form)))}
