"""Parameters without a description."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.quality.shared import quality_meta


class ParameterDescriptionMissing(Rule):
    """Finds properties of the input schema without a description; a reference may bring its own."""

    meta = quality_meta(
        "parameter-description-missing",
        "a parameter has no description",
        "A model fills it from the name alone: units, formats and identifiers are guessed.",
        '{"inputSchema": {"properties": {"b2": {"type": "number"}}}}',
        severity=Severity.INFO,
        next="describe the parameter: what it means, its unit, where its value comes from",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each parameter."""
        for parameter in tool.parameters:
            schema = parameter.schema
            if not isinstance(schema, dict) or "$ref" in schema or schema.get("const") is not None:
                continue
            text = schema.get("description")
            if not isinstance(text, str) or not text.strip():
                yield self.finding(tool, parameter.pointer, f"`{excerpt(parameter.name)}` has no description")
