"""References that point at nothing."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.schema import is_external, local_target
from keel.core.text import did_you_mean, excerpt
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.schema.shared import references_of, schema_meta
from keel.rules.view import Sign


class DanglingRef(Rule):
    """Follows every local `$ref` from the root of its own schema."""

    meta = schema_meta(
        "dangling-ref",
        "a `$ref` points at nothing",
        "A schema with a hole accepts or refuses calls by accident.",
        '{"inputSchema": {"type": "object", "properties": {"n": {"$ref": "#/$defs/Node"}}}}',
    )

    needs = Sign.REFERENCE.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each reference."""
        for field, at, target in references_of(tool):
            root = tool.wire[field]
            if not is_external(root, target) and not local_target(root, target)[0]:
                defined = [
                    f"#/{place}/{name}" for place in ("$defs", "definitions") for name in _names(root.get(place))
                ]
                hint = did_you_mean(target, defined)
                message = f"`{excerpt(target)}` points at nothing in `{field}`" + (f"; {hint}" if hint else "")
                yield self.finding(tool, at, message)


def _names(value: object) -> list[str]:
    return sorted(value) if isinstance(value, dict) else []
