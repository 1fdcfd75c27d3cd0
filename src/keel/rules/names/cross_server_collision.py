"""A tool name that another server also claims."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.names.shared import REFERENCES, spellings
from keel.rules.view import Sign


class CrossServerCollision(Rule):
    """Compares bare names across servers after case folding and each declared target's sanitising."""

    meta = RuleMeta(
        id="cross-server-collision",
        category=Category.NAMES,
        severity=Severity.ERROR,
        summary="two servers offer a tool of the same name",
        why=(
            "Clients that show bare names keep one of the two, and a server that claims a known name receives the "
            "arguments meant for it."
        ),
        next="grant only one of the two, or expose both under their servers' names and suppress this with that reason",
        example='{"tool": {"name": "Send_Email"}, "siblings": [{"name": "send_email"}], "siblings_server": "mail"}',
        precision=Precision.EXACT,
        references=REFERENCES,
    )

    needs = Sign.OTHERS.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding that lists the other servers."""
        if not tool.name or not context.others:
            return
        table = context.index.get(self.meta.id)
        if table is None:
            table = {}
            for server, name in context.others:
                for form in spellings("", name, context.targets):
                    table.setdefault(form, set()).add(f"{server}/{name}")
            context.index[self.meta.id] = table
        same = {key for form in spellings("", tool.name, context.targets) for key in table.get(form, ())}
        if same:
            listed = ", ".join(f"`{excerpt(key)}`" for key in sorted(same)[:4])
            yield self.finding(tool, "/name", f"`{excerpt(tool.name)}` is also claimed by {listed}")
