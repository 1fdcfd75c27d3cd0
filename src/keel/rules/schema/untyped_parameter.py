"""Parameters that accept anything because nothing says what they are."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.schema.shared import schema_meta

_SAYS = frozenset(
    {
        "$ref",
        "$dynamicRef",
        "allOf",
        "anyOf",
        "const",
        "contains",
        "enum",
        "format",
        "if",
        "items",
        "maximum",
        "maxLength",
    }
    | {"minimum", "minLength", "not", "oneOf", "pattern", "prefixItems", "properties", "type", "additionalProperties"}
)


class UntypedParameter(Rule):
    """Finds properties without a type, a value, a branch or a reference."""

    meta = schema_meta(
        "untyped-parameter",
        "a parameter has no type",
        "A model guesses between a string, a number and an object, and a provider may refuse the schema.",
        '{"type": "object", "properties": {"value": {"description": "Value"}}}',
        severity=Severity.WARNING,
        next="give the parameter a `type`, an `enum`, or the branches it may have",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each parameter."""
        for parameter in tool.parameters:
            schema = parameter.schema
            if schema is True or (isinstance(schema, dict) and _SAYS.isdisjoint(schema)):
                yield self.finding(
                    tool, parameter.pointer, f"`{excerpt(parameter.name)}` has no type and accepts anything"
                )
