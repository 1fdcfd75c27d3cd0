"""Native tools (`@tool`) and references to MCP tools (`mcp_tool`)."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

from keel.authoring.options import (
    EffectName,
    InvalidOption,
    StepOptions,
    check_flag,
    check_native_name,
    check_server_name,
    check_text,
    effect_of,
)
from keel.authoring.port import ToolStep, active, inside_loop, required
from keel.core.model import NativeDeclaration
from keel.core.text import excerpt

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")

STEP_KEYWORDS = ("retries", "timeout_s")
"""Options that a native tool takes as keywords, unless its signature has a parameter of that name."""


class Tool(Generic[P, R_co]):
    """A native tool: a function of the project that a flow calls as a step and a model may call.

    Called inside a running event loop it gives an awaitable, elsewhere the value, whether the function is `def` or
    `async def`; this is why the type of a call is `Any`, while its arguments are checked by the function's own
    signature. `.fn` is the undecorated function with its exact types.
    """

    def __init__(
        self,
        function: Callable[P, R_co],
        *,
        name: str,
        declaration: NativeDeclaration,
        step: StepOptions | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.fn = function
        self.name = name
        self.declaration = declaration
        self.step = step or StepOptions()
        self._step_keywords = tuple(option for option in STEP_KEYWORDS if option not in _parameters(function))

    @property
    def key(self) -> str:
        """The tool key; for a native tool its name."""
        return self.name

    def options(
        self, *, retries: int | None = None, timeout_s: float | None = None, label: str | None = None
    ) -> Tool[P, R_co]:
        """Return the same tool with step options; given ones replace earlier ones.

        Args:
            retries: how often the same call may be sent again after it failed.
            timeout_s: seconds until the step fails with `timeout`.
            label: what reports and traces call the step.

        Raises:
            InvalidOption: if a value is out of range.
        """
        merged = self.step.merged(retries, timeout_s, label)
        return Tool(self.fn, name=self.name, declaration=self.declaration, step=merged)

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    @overload
    def __call__(self, *args: Any, retries: int, timeout_s: float = ..., **kwargs: Any) -> Any: ...
    @overload
    def __call__(self, *args: Any, timeout_s: float, **kwargs: Any) -> Any: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the tool as a step: through the runtime, or outside one as the function it is."""
        given = {option: kwargs.pop(option) for option in self._step_keywords if option in kwargs}
        step = self.step.merged(**given)
        port = active()
        if port is not None:
            return port.call_tool(ToolStep(self.name, args, kwargs, step, self.fn))
        return _plain_call(self.fn, args, kwargs)

    def __repr__(self) -> str:
        return f"<native tool {self.name}>"


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    # From the code, not `inspect.signature`, which would evaluate annotations that may only exist for type checkers.
    code: types.CodeType = inspect.unwrap(function).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _plain_call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if inside_loop():
        if inspect.iscoroutinefunction(function):
            return function(*args, **kwargs)
        later: Any = _later(function, args, kwargs)
        later.__qualname__ = function.__qualname__  # what Python's warning names when the call is never awaited
        return later
    if not inspect.iscoroutinefunction(function):
        return function(*args, **kwargs)
    import asyncio  # noqa: PLC0415 - not paid for by modules that only define tools

    return asyncio.run(function(*args, **kwargs))


async def _later(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *, effect: EffectName = ..., idempotent: bool = ..., name: str | None = ...
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    effect: EffectName = "write",
    idempotent: bool = False,
    name: str | None = None,
) -> Any:
    """Declare a function as a native tool, bare (`@tool`) or with options (`@tool(effect="read")`).

    Args:
        function: the function, `def` or `async def`.
        effect: `read`, `write`, `external` or `dangerous`; the manifest's aliases are understood.
        idempotent: whether the same call may be repeated without further effect.
        name: the tool's name; default the function's.

    Raises:
        InvalidOption: if an option is out of its set, or what is decorated is not a plain function.
        ReservedName: if the name is reserved or holds `/`.
    """
    check_flag("idempotent", idempotent)
    declaration = NativeDeclaration(effect_of(effect), idempotent)
    if name is not None:
        check_native_name(name)

    def decorate(target: Callable[..., Any]) -> Tool[..., Any]:
        _check_function(target)
        chosen = target.__name__ if name is None else name
        check_native_name(chosen)
        return Tool(target, name=chosen, declaration=declaration)

    return decorate if function is None else decorate(function)


def _check_function(target: object) -> None:
    if isinstance(target, str):
        raise InvalidOption(
            f"`@tool` takes its name as a keyword, not `{excerpt(repr(target))}` as a positional argument",
            hint=f"write `@tool(name={target!r})`",
        )
    if not inspect.isfunction(target):
        kind = type(target).__name__
        raise InvalidOption(
            f"`@tool` decorates a plain function, not a `{kind}`",
            hint="put `@tool` directly above `def`, below `@staticmethod` or other decorators",
        )
    if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
        raise InvalidOption(
            f"`{target.__name__}` is a generator, and a tool gives one result", hint="return a list instead of yielding"
        )


class McpTool:
    """A reference to a tool of an MCP server; every keyword of a call is an argument of the tool."""

    def __init__(self, server: str, name: str, step: StepOptions | None = None) -> None:
        self.server = server
        self.name = name
        self.step = step or StepOptions()

    @property
    def key(self) -> str:
        """The tool key, `server/tool`."""
        return f"{self.server}/{self.name}"

    def options(
        self, *, retries: int | None = None, timeout_s: float | None = None, label: str | None = None
    ) -> McpTool:
        """Return the same reference with step options; given ones replace earlier ones.

        Args:
            retries: how often the same call may be sent again after it failed.
            timeout_s: seconds until the step fails with `timeout`.
            label: what reports and traces call the step.

        Raises:
            InvalidOption: if a value is out of range.
        """
        return McpTool(self.server, self.name, self.step.merged(retries, timeout_s, label))

    def __call__(self, /, **arguments: Any) -> Any:
        """Call the tool as a step; arguments are data, checked against the frozen input schema.

        Raises:
            NoRuntime: outside a runtime.
        """
        return required(f"`{self.key}`").call_tool(ToolStep(self.key, (), arguments, self.step))

    def __repr__(self) -> str:
        return f"<mcp tool {self.key}>"


def mcp_tool(server: str, tool: str, /) -> McpTool:
    """Name a tool of an MCP server, to be called like a function in flows; nothing is contacted.

    Args:
        server: the server's name in the manifest or an MCP client configuration.
        tool: the tool's name as the server spells it.

    Raises:
        InvalidOption: if a name is empty, or the server's is outside the grammar.
    """
    check_server_name(server)
    check_text("tool", tool)
    return McpTool(server, tool)
