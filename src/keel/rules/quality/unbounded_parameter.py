"""Strings and arrays without a limit."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.quality.shared import quality_meta

_STRING_BOUNDS = ("enum", "const", "pattern", "maxLength", "format")


class UnboundedParameter(Rule):
    """Finds string arguments without a bound of any kind and arrays without `maxItems`."""

    meta = quality_meta(
        "unbounded-parameter",
        "a parameter has no upper bound",
        "A model that is talked into it sends a megabyte, or a million ids, in one call.",
        '{"inputSchema": {"properties": {"ids": {"type": "array", "items": {"type": "string"}}}}}',
        severity=Severity.INFO,
        next="add `maxLength`, `maxItems`, a `pattern` or an `enum`",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each parameter."""
        for parameter in tool.parameters:
            types = parameter.types
            if "string" in types and all(parameter.get(keyword) is None for keyword in _STRING_BOUNDS):
                yield self.finding(tool, parameter.pointer, f"the string `{excerpt(parameter.name)}` has no bound")
            elif "array" in types and parameter.get("maxItems") is None and parameter.get("enum") is None:
                yield self.finding(tool, parameter.pointer, f"the array `{excerpt(parameter.name)}` has no `maxItems`")
