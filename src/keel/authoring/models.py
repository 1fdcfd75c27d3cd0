"""Steps that ask a model: `Reasoner` with `think`, and `Agent`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from keel.authoring.flows import flow_mark
from keel.authoring.gates import GatedTool
from keel.authoring.options import InvalidOption, check_text
from keel.authoring.port import AgentStep, ThinkStep, required
from keel.authoring.tools import McpTool, Tool
from keel.core.text import excerpt


@dataclass(frozen=True, slots=True)
class Reasoner:
    """A model that gives one structured answer and holds no tools.

    Raises:
        InvalidOption: if a text is empty.
    """

    name: str
    """What the manifest's `reasoners` lists."""
    model: str
    """`provider:model`, as the manifest's `models` lists it."""
    system: str
    """Instructions to the model."""
    reply: Any = str
    """Type of the answer, described to the model as JSON Schema and validated."""

    def __post_init__(self) -> None:
        for option in ("name", "model", "system"):
            check_text(f"Reasoner.{option}", getattr(self, option))


def think(reasoner: Reasoner, value: Any, *, scope: str = "local") -> Any:
    """Ask a reasoner for one answer about a value.

    Args:
        reasoner: who answers.
        value: JSON data to think about.
        scope: how much session context the reasoner may read, as the manifest's `scopes` lists it.

    Returns:
        The answer, of the reasoner's `reply` type; inside a running event loop an awaitable of it.

    Raises:
        NoRuntime: outside a runtime.
        InvalidOption: if `reasoner` is no `Reasoner`, or the scope is empty.
    """
    if not isinstance(reasoner, Reasoner):
        raise InvalidOption(f"`think` takes a `Reasoner`, not a `{type(reasoner).__name__}`")
    check_text("scope", scope)
    return required(f"`think` with reasoner `{excerpt(reasoner.name)}`").think(ThinkStep(reasoner, value, scope))


@dataclass(frozen=True, slots=True)
class Agent:
    """A model that works on a task with a closed list of tools, called like a tool.

    Raises:
        InvalidOption: if a text is empty, an entry of `tools` is no tool, or `max_rounds` is not positive.
    """

    name: str
    """What the manifest's `reasoners` lists."""
    model: str
    """`provider:model`, as the manifest's `models` lists it."""
    instructions: str
    """Instructions to the model."""
    tools: Sequence[Any] = ()
    """Native tools, MCP references, `gated(…)` ones, and flows; another agent comes in through a flow that calls it."""
    skills: Sequence[str] = ()
    """Names of skills that the agent may load."""
    scope: str = "local"
    """How much session context the agent may read, as the manifest's `scopes` lists it."""
    max_rounds: int = field(default=8)
    """Rounds of tool calls after which the agent must answer."""

    def __post_init__(self) -> None:
        for option in ("name", "model", "instructions", "scope"):
            check_text(f"Agent.{option}", getattr(self, option))
        if isinstance(self.tools, str) or isinstance(self.skills, str):
            raise InvalidOption(f"`tools` and `skills` of agent `{excerpt(self.name)}` are lists")
        object.__setattr__(self, "tools", tuple(self.tools))
        object.__setattr__(self, "skills", tuple(self.skills))
        for entry in self.tools:
            if isinstance(entry, Agent):
                raise InvalidOption(
                    f"`tools` of agent `{excerpt(self.name)}` holds agent `{excerpt(entry.name)}`",
                    hint="call the agent in a flow of its own, `@flow(entry=False)`, and list that flow",
                )
            if not isinstance(entry, Tool | McpTool | GatedTool) and flow_mark(entry) is None:
                raise InvalidOption(
                    f"`tools` of agent `{excerpt(self.name)}` holds a `{type(entry).__name__}`, which is no tool",
                    hint="decorate the function with `@tool`, or reference it with `mcp_tool`",
                )
        for skill in self.skills:
            check_text("skills", skill)
        rounds = self.max_rounds
        if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
            raise InvalidOption(f"`max_rounds` must be a whole number from 1, not `{excerpt(repr(rounds))}`")

    def __call__(self, task: Any, /) -> Any:
        """Let the agent work on a task (JSON data); gives its final answer.

        Raises:
            NoRuntime: outside a runtime.
        """
        return required(f"agent `{excerpt(self.name)}`").run_agent(AgentStep(self, task))
