"""Tools that do not say what they return."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.quality.shared import quality_meta

_SAYS = frozenset(
    {"properties", "$ref", "allOf", "anyOf", "oneOf", "additionalProperties", "patternProperties", "const", "enum"}
)


class OutputSchemaMissing(Rule):
    """Finds tools without an output schema, or with one that says only `object`."""

    meta = quality_meta(
        "output-schema-missing",
        "the tool does not say what it returns",
        "A flow that reads a result by name cannot be checked, and a change of the result goes unnoticed.",
        '{"name": "get_stock", "outputSchema": {"type": "object"}}',
        severity=Severity.INFO,
        next="declare an `outputSchema` with the members of the result",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield at most one finding."""
        schema = tool.output_schema
        if schema is None:
            yield self.finding(tool, "", f"`{excerpt(tool.key)}` has no output schema")
        elif isinstance(schema, dict) and _SAYS.isdisjoint(schema):
            yield self.finding(tool, "/outputSchema", f"the output schema of `{excerpt(tool.key)}` names no member")
