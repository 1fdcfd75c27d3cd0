"""Names outside the protocol's rule, or outside a declared provider's."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.naming import NAME_RULES, SEPARATOR
from keel.core.text import excerpt
from keel.rules.interface import Category, Precision, Rule, RuleContext, RuleMeta, Severity, ToolView
from keel.rules.lazy import lazy

_MCP = lazy(r"[A-Za-z0-9_.-]{1,128}")
_PARAMETER = lazy(r"[^\s\x00-\x1f\x7f]{1,256}")
_EXPOSED = lazy(r"[A-Za-z0-9_.-]+")


class NameInvalid(Rule):
    """Checks tool names against MCP, parameter names for white space, and exposed names against declared targets."""

    meta = RuleMeta(
        id="name-invalid",
        category=Category.NAMES,
        severity=Severity.ERROR,
        summary="a tool or parameter name is outside what the protocol or a provider accepts",
        why="A provider that refuses one name refuses the whole request, so every other tool is lost with it.",
        next="use ASCII letters, digits, `_`, `-` and `.`, at most 128 of them, 64 with the server's prefix",
        example='{"name": "get user profile"}',
        precision=Precision.EXACT,
        references=("MCP 2025-11-25 Server/Tools, Tool Names (SEP-986)",),
        blocks_freeze=True,
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield findings for the tool's name, its exposed names, and parameter names."""
        name = tool.wire.get("name")
        if not isinstance(name, str):
            kind = "missing" if name is None else f"{type(name).__name__}, not a string"
            yield self.finding(tool, "/name" if "name" in tool.wire else "", f"the tool's name is {kind}")
        elif not _MCP.fullmatch(name):
            reason = f"has {len(name)} characters" if _EXPOSED.fullmatch(name) else _reason(name)
            yield self.finding(
                tool, "/name", f"the tool's name `{excerpt(name)}` {reason}; MCP accepts 1 to 128 of `A-Za-z0-9_.-`"
            )
        else:
            yield from self._exposed(tool, context)
        for parameter in tool.parameters:
            if not _PARAMETER.fullmatch(parameter.name):
                message = (
                    f"the parameter name `{excerpt(parameter.name)}` {_reason(parameter.name)}; no provider accepts it"
                )
                yield self.finding(tool, parameter.pointer, message, severity=Severity.WARNING)

    def _exposed(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        whole = f"{context.server}{SEPARATOR}{tool.name}" if context.server else tool.name
        for target in context.targets:
            rule = NAME_RULES.get(target)
            if rule is not None and len(whole) > rule.longest:
                excess = len(whole) - rule.longest
                message = (
                    f"the exposed name `{excerpt(whole)}` has {len(whole)} characters, {excess} more than "
                    f"`{target}` accepts ({rule.longest}), and would be cut"
                )
                hint = "shorten the tool's name or the server's name in the manifest"
                yield self.finding(tool, "/name", message, severity=Severity.WARNING, next=hint)


def _reason(name: str) -> str:
    if not name:
        return "is empty"
    odd = next((char for char in name if not _EXPOSED.fullmatch(char)), "")
    return f"holds `{excerpt(odd)}` (U+{ord(odd):04X})" if odd else "is too long"
