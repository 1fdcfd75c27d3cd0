"""The seam between flows and the runtime: which steps exist, and the port that executes them.

A runtime installs itself with `running(port)` in the context in which it calls a flow. Every authoring name then
hands its step to that port; a context variable, so that concurrent runs and their tasks never see each other's.

**What a port returns**: inside a running event loop an awaitable of the result, elsewhere the result itself
(`inside_loop()` tells which). A port checks nothing of what the options already check, and raises `ToolCallError`
for a failed call and `ApprovalDenied` for a denial where `on_reject` is `"raise"`.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from keel.authoring.options import StepOptions
from keel.errors import NoRuntime


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One call of a native tool or of an MCP tool."""

    key: str
    """Tool key: `lookup_ticket`, or `server/tool`."""
    args: tuple[Any, ...] = ()
    """Positional arguments; always empty for MCP tools."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    options: StepOptions = field(default_factory=StepOptions)
    function: Callable[..., Any] | None = None
    """The undecorated function of a native tool; None for an MCP tool."""


@dataclass(frozen=True, slots=True)
class GateStep:
    """One question to a person; the result is an `Approval`."""

    prompt: str
    show: Any = None
    """JSON data shown beside the prompt."""
    timeout_s: float | None = None
    on_reject: str = "raise"
    """`raise` or `return`."""


@dataclass(frozen=True, slots=True)
class GatedStep:
    """A question with a tool and its exact arguments, then the call; the result is the call's."""

    call: ToolStep
    prompt: str | None = None
    """None asks with the tool's name."""


class Group(StrEnum):
    """How the branches of a group end."""

    RACE = "race"
    HEDGE = "hedge"
    QUORUM = "quorum"


@dataclass(frozen=True, slots=True)
class GroupStep:
    """Branches that run side by side: un-awaited calls, or callables without parameters in a sync flow."""

    kind: Group
    branches: tuple[Awaitable[Any] | Callable[[], Any], ...]
    after_ms: float | None = None
    """Milliseconds before each further branch of a hedge starts."""
    k: int | None = None
    """How many successes a quorum needs."""


@dataclass(frozen=True, slots=True)
class ThinkStep:
    """One structured answer of a model; no tools."""

    reasoner: Any
    """The `Reasoner`."""
    value: Any
    scope: str = "local"


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One run of an agent over its tool list."""

    agent: Any
    """The `Agent`."""
    task: Any


class RuntimePort(Protocol):
    """What executes the steps of a flow; see the module's text for what the methods return."""

    def call_tool(self, step: ToolStep) -> Any:
        """Execute one tool call."""
        ...

    def gate(self, step: GateStep) -> Any:
        """Ask a person; gives an `Approval`."""
        ...

    def call_gated(self, step: GatedStep) -> Any:
        """Ask a person with the exact call, then execute it."""
        ...

    def group(self, step: GroupStep) -> Any:
        """Run branches side by side: the first success, or for a quorum the k values in branch order."""
        ...

    def think(self, step: ThinkStep) -> Any:
        """Ask a model for one answer of the reasoner's reply type."""
        ...

    def run_agent(self, step: AgentStep) -> Any:
        """Run an agent to its final answer."""
        ...


_ACTIVE: ContextVar[RuntimePort | None] = ContextVar("keel_runtime", default=None)


def active() -> RuntimePort | None:
    """Return the runtime of the current context, or None in plain Python."""
    return _ACTIVE.get()


def required(what: str) -> RuntimePort:
    """Return the runtime of the current context.

    Args:
        what: the step that needs it, for the message.

    Raises:
        NoRuntime: in plain Python, saying how to run the flow.
    """
    port = _ACTIVE.get()
    if port is None:
        raise NoRuntime(
            f"{what} needs a keel runtime, and none is active here",
            hint="run the flow with `keel run`, or in a unit test with `keel.testing.fakes`; "
            "outside both only native tools can be called",
        )
    return port


@contextmanager
def running(port: RuntimePort) -> Iterator[None]:
    """Make a runtime the active one of the current context, and the previous one again at the end."""
    token = _ACTIVE.set(port)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def inside_loop() -> bool:
    """Tell whether the caller runs inside an asyncio event loop, so that a step gives an awaitable."""
    # A loop can only run where asyncio is loaded; loading it for the question would cost every plain script.
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
