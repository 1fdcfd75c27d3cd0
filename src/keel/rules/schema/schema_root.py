"""Input schemas that are not the schema of an object."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.schema.shared import schema_meta

_EMPTY = 'write `{"type": "object", "additionalProperties": false}` for a tool without arguments'


class SchemaRoot(Rule):
    """Checks that `inputSchema` is there and has the type `object`, and `outputSchema` likewise where it is sent."""

    meta = schema_meta(
        "schema-root",
        "the input schema is missing, null, or not that of an object",
        "Arguments are an object by the protocol; clients refuse a whole listing over one tool that says otherwise.",
        '{"name": "ping", "inputSchema": null}',
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield at most one finding for each of the two schemas."""
        if "inputSchema" not in tool.wire:
            yield self.finding(tool, "", "the tool has no `inputSchema`", next=_EMPTY)
        else:
            yield from self._root(tool, "inputSchema")
        if tool.output_schema is not None and not context.native:
            yield from self._root(tool, "outputSchema")

    def _root(self, tool: ToolView, field: str) -> Iterator[Finding]:
        schema = tool.wire[field]
        pointer = f"/{field}"
        if not isinstance(schema, dict):
            kind = "null" if schema is None else type(schema).__name__
            yield self.finding(tool, pointer, f"`{field}` is {kind}, not an object", next=_EMPTY)
        elif schema.keys() <= {"$schema"}:
            message = f"`{field}` is empty, which says nothing and which several providers refuse"
            yield self.finding(tool, pointer, message, severity=Severity.WARNING, next=_EMPTY)
        elif schema.get("type") != "object":
            said = f"has the type `{excerpt(str(schema['type']))}`" if "type" in schema else "declares no type"
            at = f"{pointer}/type" if "type" in schema else pointer
            yield self.finding(tool, at, f"`{field}` {said}; the protocol asks for `object`")
