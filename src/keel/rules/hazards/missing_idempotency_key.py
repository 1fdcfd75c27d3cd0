"""Tools that move money and cannot tell a repetition from a second order."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.hazards.shared import has_idempotency_key, hazard_meta, moves_money
from keel.rules.interface import Rule, RuleContext, ToolView


class MissingIdempotencyKey(Rule):
    """Finds tools whose name moves money or places an order and whose schema has no key argument."""

    meta = hazard_meta(
        "missing-idempotency-key",
        "a tool that moves money takes no idempotency key",
        "After a timeout nobody knows whether it happened; without a key a retry pays twice.",
        "add a required `idempotency_key`, and return the first result for a repeated key",
        '{"name": "transfer_money", "inputSchema": {"properties": {"cents": {"type": "integer"}}}}',
        "CWE-837",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield at most one finding."""
        if moves_money(tool) and not has_idempotency_key(tool):
            schema = tool.input_schema
            has = isinstance(schema, dict) and "properties" in schema
            at = "/inputSchema/properties" if has else "/inputSchema" if "inputSchema" in tool.wire else ""
            yield self.finding(tool, at, f"`{excerpt(tool.name)}` moves money and takes no idempotency key")
