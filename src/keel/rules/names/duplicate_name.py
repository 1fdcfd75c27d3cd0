"""Two tools of one server whose names become one."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.names.shared import REFERENCES, grouped, spellings


class DuplicateName(Rule):
    """Compares names after case folding and after each declared target's sanitising."""

    meta = RuleMeta(
        id="duplicate-name",
        category=Category.NAMES,
        severity=Severity.ERROR,
        summary="two tools of one server have names that become the same",
        why="A client keeps one of them without notice, so a call can reach the tool that nobody reviewed.",
        next="rename one of the tools",
        example='{"tools": [{"name": "lookup"}, {"name": "Lookup"}]}',
        precision=Precision.EXACT,
        references=(*REFERENCES, "MCP 2025-11-25 Server/Tools"),
        blocks_freeze=True,
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding when another tool of the server has the same name in some form."""
        if not tool.name:
            return
        table = grouped(context, self.meta.id, lambda item: spellings(context.server, item.name, context.targets))
        same = {
            other.name
            for spelling in spellings(context.server, tool.name, context.targets)
            for other in table.get(spelling, ())
            if other is not tool
        }
        if same:
            listed = ", ".join(f"`{excerpt(name)}`" for name in sorted(same)[:4])
            yield self.finding(tool, "/name", f"`{excerpt(tool.name)}` and {listed} of the same server become one name")
