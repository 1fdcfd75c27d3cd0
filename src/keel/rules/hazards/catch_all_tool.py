"""Tools that run any other operation by name."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.hazards.shared import free_string, hazard_meta
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.lazy import lazy
from keel.rules.view import Parameter

_NAMING = frozenset(
    {
        "tool",
        "tool_name",
        "action",
        "action_name",
        "method",
        "method_name",
        "operation",
        "operation_name",
        "operation_id",
    }
    | {"function", "function_name", "endpoint", "api", "api_name", "command_name", "procedure", "service_method", "op"}
)
_PASSED = frozenset(
    {
        "arguments",
        "args",
        "params",
        "parameters",
        "payload",
        "body",
        "input",
        "inputs",
        "kwargs",
        "data",
        "arguments_json",
    }
)


_ANYTHING = lazy(
    r"\b(?:run|runs|execute|executes|call|calls|invoke|invokes|perform|performs)\b[^.]{0,20}\bany (?:\w{1,20} )?"
    r"(?:tool|action|operation|endpoint|method|function|api call)\b"
)


class CatchAllTool(Rule):
    """Finds an operation's name as a free string beside an open object of arguments."""

    meta = hazard_meta(
        "catch-all-tool",
        "one tool runs any operation by name",
        "Grants, gates and reviews speak of tools; behind this one stands everything, present and future.",
        "offer the operations as tools of their own, or name them in an `enum`",
        '{"properties": {"tool_name": {"type": "string"}, "arguments": {"type": "object"}}}',
        "SAFE-T1104 Over-Privileged Tool Abuse",
        "OWASP MCP02:2025 Privilege Escalation via Scope Creep",
        "CWE-250",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding at the argument that names the operation."""
        top = [parameter for parameter in tool.parameters if parameter.top]
        passes = any(item.joined in _PASSED and _is_open(item) for item in top)
        if not passes and not _ANYTHING.search(tool.about):
            return
        for parameter in top:
            if parameter.joined in _NAMING and free_string(parameter):
                yield self.finding(
                    tool, parameter.pointer, f"`{excerpt(parameter.name)}` names any operation, with any arguments"
                )


def _is_open(parameter: Parameter) -> bool:
    if "object" in parameter.types or not parameter.types:
        return not parameter.get("properties") and parameter.get("additionalProperties") is not False
    return "json" in parameter.about and free_string(parameter)
