"""Schemas that contain themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from keel.core.finding import Finding
from keel.core.schema import follow, references
from keel.core.text import excerpt
from keel.rules.interface import Rule, RuleContext, Severity, ToolView
from keel.rules.schema.shared import references_of, schema_meta
from keel.rules.view import Sign


class RecursiveSchema(Rule):
    """Finds cycles of local references."""

    meta = schema_meta(
        "recursive-schema",
        "a schema contains itself",
        "Several providers refuse recursion, some expand it without end, and a model must guess how deep to go.",
        '{"$defs": {"Node": {"properties": {"kids": {"items": {"$ref": "#/$defs/Node"}}}}}}',
        severity=Severity.WARNING,
        next="bound the nesting, or pass the structure as a list with parent ids",
    )

    needs = Sign.REFERENCE.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each referenced place that reaches itself."""
        for field in ("inputSchema", "outputSchema"):
            root = tool.wire.get(field)
            if isinstance(root, dict) and any(place == field for place, _, _ in references_of(tool)):
                for at in recursive_places(root):
                    message = f"the schema at `{excerpt(f'/{field}{at}')}` contains itself"
                    yield self.finding(tool, f"/{field}{at}", message)


def recursive_places(root: dict[str, Any]) -> tuple[str, ...]:
    """Return the pointers of referenced schemas that lie on a cycle of references, sorted."""
    edges: dict[str, set[str]] = {}
    placed = [(at, _pointer(target)) for at, target in references(root)]
    targets = {target for _, target in placed if target is not None and follow(root, target)[0]}
    for target in targets:
        edges[target] = {to for at, to in placed if to in targets and (at + "/").startswith(target + "/")}
    return tuple(sorted(target for target in targets if _reaches(target, edges)))


def _pointer(reference: str) -> str | None:
    """Return the pointer of a local reference; anchors and other documents are left to their own rules."""
    if not reference.startswith("#"):
        return None
    fragment = unquote(reference[1:])
    return fragment if fragment == "" or fragment.startswith("/") else None


def _reaches(start: str, edges: dict[str, set[str]]) -> bool:
    seen: set[str] = set()
    stack = list(edges[start])
    while stack:
        current = stack.pop()
        if current == start:
            return True
        if current not in seen:
            seen.add(current)
            stack.extend(edges.get(current, ()))
    return False
