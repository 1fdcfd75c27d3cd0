"""Objects that accept members nobody declared."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.limits.providers import LIMITS
from keel.rules.quality.shared import quality_meta

_COMPOSED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "patternProperties", "unevaluatedProperties"})


class OpenObject(Rule):
    """Finds object schemas of the input without `additionalProperties: false` or a schema for further members."""

    meta = quality_meta(
        "open-object",
        "an object accepts undeclared members",
        "A misspelt argument is accepted and ignored, and later additions cannot be told from mistakes.",
        '{"inputSchema": {"type": "object", "properties": {}, "additionalProperties": true}}',
        severity=Severity.INFO,
        next="set `additionalProperties` to false, or to the schema of further members",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each object, unless a declared target refuses the keyword that would close it."""
        if any("additionalProperties" in LIMITS[target].refused for target in context.targets if target in LIMITS):
            return
        for pointer, schema in tool.schemas:
            if not pointer.startswith("/inputSchema") or not isinstance(schema, dict) or schema.get("type") != "object":
                continue
            if schema.get("additionalProperties", True) in (True, {}) and _COMPOSED.isdisjoint(schema):
                at = f"{pointer}/additionalProperties" if "additionalProperties" in schema else pointer
                yield self.finding(tool, at, "the object accepts members that are not declared")
