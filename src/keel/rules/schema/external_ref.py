"""References that leave the definition."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.schema import is_external
from keel.core.text import excerpt
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.schema.shared import references_of, schema_meta
from keel.rules.view import Sign


class ExternalRef(Rule):
    """Finds `$ref` values that only a fetch could resolve; keel never fetches them."""

    meta = schema_meta(
        "external-ref",
        "a `$ref` points outside the definition",
        "What lies behind it can change without the frozen digest noticing, and keel never fetches it.",
        '{"inputSchema": {"$ref": "https://schemas.example/order.json"}}',
    )

    needs = Sign.REFERENCE.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each reference."""
        for field, at, target in references_of(tool):
            if is_external(tool.wire[field], target):
                yield self.finding(tool, at, f"`{excerpt(target)}` lies outside the definition")
