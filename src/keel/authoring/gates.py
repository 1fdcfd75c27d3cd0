"""Human gates: a question of its own (`human_gate`), or one bound to a call (`gated`)."""

from __future__ import annotations

from typing import Any, Generic, Literal, ParamSpec, overload

from keel.authoring.options import InvalidOption, check_choice, check_seconds, check_text
from keel.authoring.port import GatedStep, GateStep, ToolStep, required
from keel.authoring.tools import McpTool, Tool

P = ParamSpec("P")


def human_gate(
    prompt: str,
    *,
    show: Any = None,
    timeout_s: float | None = None,
    on_reject: Literal["raise", "return"] = "raise",
) -> Any:
    """Ask a person, and go on only as they decide.

    Args:
        prompt: what is asked; it should name the tool or show the values of the call that it is to cover.
        show: JSON data to put beside the prompt.
        timeout_s: seconds to wait; no answer in time counts as a denial.
        on_reject: `raise` raises `ApprovalDenied` on a denial; `return` gives a false `Approval`.

    Returns:
        An `Approval`; inside a running event loop an awaitable of it.

    Raises:
        NoRuntime: outside a runtime.
        InvalidOption: if an option is out of its set.
    """
    check_text("prompt", prompt)
    check_seconds("timeout_s", timeout_s)
    check_choice("on_reject", on_reject, ("raise", "return"))
    return required("`human_gate`").gate(GateStep(prompt, show, timeout_s, on_reject))


class GatedTool(Generic[P]):
    """A tool whose every call first asks a person with the tool and its exact arguments."""

    def __init__(self, tool: Tool[P, Any] | McpTool, prompt: str | None = None) -> None:
        self.tool = tool
        self.prompt = prompt

    @property
    def key(self) -> str:
        """The key of the tool behind the gate."""
        return self.tool.key

    def options(
        self, *, retries: int | None = None, timeout_s: float | None = None, label: str | None = None
    ) -> GatedTool[P]:
        """Return the same gated tool with step options for the call.

        Args:
            retries: how often the approved call may be sent again after it failed.
            timeout_s: seconds until the call fails with `timeout`; the person's time does not count.
            label: what reports and traces call the step.

        Raises:
            InvalidOption: if a value is out of range.
        """
        return GatedTool(self.tool.options(retries=retries, timeout_s=timeout_s, label=label), self.prompt)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Ask with exactly these arguments, then call.

        Raises:
            NoRuntime: outside a runtime.
        """
        function = self.tool.fn if isinstance(self.tool, Tool) else None
        if function is None and args:
            raise InvalidOption(f"arguments of `{self.key}` are given by name: it is a tool of an MCP server")
        call = ToolStep(self.key, args, kwargs, self.tool.step, function)
        return required(f"`gated({self.key})`").call_gated(GatedStep(call, self.prompt))

    def __repr__(self) -> str:
        return f"<gated tool {self.key}>"


@overload
def gated(tool: Tool[P, Any], prompt: str | None = ...) -> GatedTool[P]: ...
@overload
def gated(tool: McpTool, prompt: str | None = ...) -> GatedTool[...]: ...


def gated(tool: Tool[..., Any] | McpTool, prompt: str | None = None) -> GatedTool[...]:
    """Put a human gate in front of every call of a tool, bound to the exact arguments of that call.

    Args:
        tool: a native tool or a reference to an MCP tool.
        prompt: what is asked beside tool and arguments; default the tool's name.

    Raises:
        InvalidOption: if `tool` is neither, or the prompt is empty.
    """
    if not isinstance(tool, Tool | McpTool):
        raise InvalidOption(
            f"`gated` takes a tool, not a `{type(tool).__name__}`",
            hint="pass the tool itself and call the result: `gated(refund)(charge_id=…)`",
        )
    if prompt is not None:
        check_text("prompt", prompt)
    return GatedTool(tool, prompt)
