"""Combinators at the root of an input schema, which most providers refuse."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.schema.shared import schema_meta

COMBINATORS = ("allOf", "anyOf", "enum", "if", "not", "oneOf")


class RootCombinator(Rule):
    """Finds `oneOf` and its like at the root while no target is declared; declared targets have rules of their own."""

    meta = schema_meta(
        "root-combinator",
        "the input schema combines alternatives at its root",
        "OpenAI, Anthropic and Bedrock refuse the whole request over one such tool; some clients drop it silently.",
        '{"inputSchema": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}}',
        severity=Severity.WARNING,
        next="list all properties at the root and say in the description which belong together",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each keyword."""
        schema = tool.input_schema
        if context.targets or not isinstance(schema, dict):
            return
        for keyword in COMBINATORS:
            if keyword in schema:
                yield self.finding(
                    tool, f"/inputSchema/{keyword}", f"`{keyword}` stands at the root of the input schema"
                )
