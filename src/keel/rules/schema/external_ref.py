"""References that leave the definition."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.schema import is_external, references
from keel.core.text import excerpt
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.schema.shared import schema_meta


class ExternalRef(Rule):
    """Finds `$ref` values that only a fetch could resolve; keel never fetches them."""

    meta = schema_meta(
        "external-ref",
        "a `$ref` points outside the definition",
        "What lies behind it can change without the frozen digest noticing, and keel never fetches it.",
        '{"inputSchema": {"$ref": "https://schemas.example/order.json"}}',
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:  # noqa: ARG002
        """Yield one finding for each reference."""
        for field in ("inputSchema", "outputSchema"):
            root = tool.wire.get(field)
            if isinstance(root, dict):
                for at, target in references(root):
                    if is_external(root, target):
                        message = f"`{excerpt(target)}` lies outside the definition"
                        yield self.finding(tool, f"/{field}{at}", message)
