"""Agents: a model works on a task with a closed list of tools, each call of which goes through the dispatcher."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from keel.authoring.flows import flow_mark
from keel.authoring.gates import GatedTool
from keel.authoring.models import Agent
from keel.authoring.port import AgentStep
from keel.core.finding import InputErrors
from keel.core.jsontext import JsonSyntaxError, parse_strict
from keel.core.model import Json, split_key
from keel.core.naming import exposed_name
from keel.core.text import excerpt
from keel.errors import ApprovalDenied, ToolCallError
from keel.runtime.model import ErrorCode, ToolCall, ToolResult
from keel.runtime.models import AskedCall, ModelReply, ModelRequest, ask, check_granted, prompt_of
from keel.runtime.native import NotData, as_data

if TYPE_CHECKING:
    from keel.runtime.flowport import FlowPort
    from keel.runtime.sites import Origin

_FATAL = frozenset({ErrorCode.BUDGET_EXCEEDED, ErrorCode.OUTCOME_UNKNOWN})
"""What ends an agent's run; every other failure is told to the model as data."""


@dataclass(frozen=True, slots=True)
class Offered:
    """One entry of an agent's tool list, as the model sees it."""

    name: str
    """Exposed name."""
    description: str
    parameters: Json
    call: Callable[[Mapping[str, Json], str], Awaitable[str]]
    """Takes arguments and the site of the agent's call; gives what the model reads of the result."""

    def value(self) -> dict[str, Json]:
        """Return what a provider is told."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}


async def run_agent(port: FlowPort, step: AgentStep, origin: Origin | None) -> Any:
    """Let an agent work on a task, and return its final answer.

    Args:
        port: the runtime of the flow that calls it.
        step: agent and task.
        origin: where it is called.

    Raises:
        ToolCallError: `not_granted`, `budget_exceeded`, or `tool_failed` if it has no answer after its rounds.
    """
    agent: Agent = step.agent
    await port.placed("agent", agent.name, origin)
    check_granted(port.session.bundle.manifest, None, agent.model, agent.scope)
    site = f"{port.site(origin)}/{agent.name}"
    with port.session.trace.step("agent", port.site(origin), agent.name):
        tools = _offered(port, agent)
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": agent.instructions},
            {"role": "user", "content": prompt_of(step.task, port.session.contexts.get(agent.scope))},
        ]
        for round_ in range(agent.max_rounds + 1):
            # After the last round of calls the model is shown no tools: it must answer.
            shown = tuple(tool.value() for tool in tools.values()) if round_ < agent.max_rounds else ()
            reply = await ask(port, ModelRequest(model=agent.model, messages=tuple(messages), tools=shown), site)
            if not reply.calls:
                return reply.content
            messages.append(_said(reply))
            for index, asked in enumerate(reply.calls):
                text = await _answered(tools if shown else {}, asked, f"{site}/{round_}/{index}")
                messages.append({"role": "tool", "tool_call_id": asked.id, "content": text})
    raise ToolCallError(f"agent `{excerpt(agent.name)}` gave no answer within {agent.max_rounds} rounds of calls")


def _said(reply: ModelReply) -> dict[str, Any]:
    calls = [{"id": item.id, "name": item.name, "arguments": item.arguments} for item in reply.calls]
    return {"role": "assistant", "content": reply.content, "tool_calls": calls}


async def _answered(tools: Mapping[str, Offered], asked: AskedCall, site: str) -> str:
    """Return what the model reads of one call; only what must end the run is raised."""
    tool = tools.get(asked.name)
    if tool is None:
        return _error(ErrorCode.UNKNOWN_TOOL.value, f"there is no tool `{excerpt(asked.name)}`")
    try:
        arguments = parse_strict(asked.arguments or "{}")
    except JsonSyntaxError:
        arguments = None
    if not isinstance(arguments, dict):
        return _error(ErrorCode.INVALID_ARGUMENTS.value, "the arguments are no JSON object")
    try:
        return await tool.call(arguments, site)
    except ApprovalDenied as error:
        return _error(ErrorCode.APPROVAL_REQUIRED.value, error.message)
    except ToolCallError as error:
        if error.code in {code.value for code in _FATAL}:
            raise
        return _error(error.code, error.message)


def _error(code: str, message: str, detail: Json = None) -> str:
    told: dict[str, Json] = {"code": code, "message": message}
    if detail is not None:
        told["detail"] = detail
    return json.dumps({"error": told}, ensure_ascii=False)


def _offered(port: FlowPort, agent: Agent) -> dict[str, Offered]:
    """Return the tools of an agent by exposed name.

    Raises:
        ToolCallError: `not_granted`, if the bundle does not admit one, or two would have one name.
    """
    found: dict[str, Offered] = {}
    for entry in agent.tools:
        offered = _entry(port, entry, agent.model.partition(":")[0])
        if offered.name in found:
            raise ToolCallError(
                f"agent `{excerpt(agent.name)}` has two tools that a model sees as `{excerpt(offered.name)}`",
                code=ErrorCode.NOT_GRANTED.value,
            )
        found[offered.name] = offered
    return found


def _entry(port: FlowPort, entry: Any, target: str) -> Offered:
    if flow_mark(entry) is not None:
        return _sub_flow(port, entry, target)
    gated = isinstance(entry, GatedTool)
    tool = entry.tool if isinstance(entry, GatedTool) else entry
    key: str = tool.key
    frozen = port.session.bundle.tools.get(key)
    if frozen is None or not port.session.bundle.admits(key):
        raise ToolCallError(f"the bundle does not admit `{excerpt(key)}`", code=ErrorCode.NOT_GRANTED.value)
    exact = gated or port.session.needs_approval(key)
    prompt = entry.prompt or "" if isinstance(entry, GatedTool) else ""

    async def call(arguments: Mapping[str, Json], site: str) -> str:
        session = port.session
        with (
            session.trace.step("call", site, key) as noted,
            session.journal.unit(site, [key, dict(arguments)]) as unit,
        ):
            made = ToolCall(call_id=unit.id, name=key, arguments=arguments, operation=unit.id, site=site)
            result = await port.calls.sent(made, None, gated=exact, prompt=prompt)
            noted.call_id, noted.replayed = unit.id, result.replayed
            noted.outcome = "ok" if result.error is None else result.error.code.value
            return _told(result)

    return Offered(_exposed(key, target), str(frozen.wire.get("description", "")), frozen.input_schema, call)


def _told(result: ToolResult) -> str:
    """Return what a model reads of a result: the bounded observation, or the error.

    Raises:
        ToolCallError: for an error that must end the run.
    """
    error = result.error
    if error is None:
        return result.observation.text if result.observation is not None else json.dumps(result.data)
    if error.code in _FATAL:
        raise ToolCallError(error.message, code=error.code.value, retryable=error.retryable)
    return _error(error.code.value, error.message, error.detail)


def _exposed(key: str, target: str) -> str:
    from keel.core.naming import NAME_RULES  # noqa: PLC0415 - one use

    server, tool = split_key(key)
    return exposed_name(server, tool, target if target in NAME_RULES else "openai")


def _sub_flow(port: FlowPort, function: Callable[..., Any], target: str) -> Offered:
    async def call(arguments: Mapping[str, Json], site: str) -> str:
        del site
        return _result_text(await _started(port, function, arguments))

    description = inspect.getdoc(function) or f"Flow `{function.__name__}`."
    return Offered(_exposed(function.__name__, target), description, _parameters(function), call)


async def _started(port: FlowPort, function: Callable[..., Any], arguments: Mapping[str, Json]) -> Any:
    """Run a flow that a model calls, as an entry of its own: nothing that was approved outside admits its calls."""
    from keel.runtime.flowrun import started  # noqa: PLC0415 - it imports what imports this

    loaded, plan = port.session.loaded, None
    if loaded is not None:
        plan = port.session.bundle.flows.get(loaded.name_of(function) or "")
        if plan is None:
            raise ToolCallError(f"`{function.__name__}` is no flow of the bundle", code=ErrorCode.NOT_GRANTED.value)
    callee = port.session.callee(function)
    try:
        callee.signature.bind(**arguments)
        values = callee.values(arguments)
    except (TypeError, ValidationError) as error:
        raise ToolCallError(excerpt(str(error), 300), code=ErrorCode.INVALID_ARGUMENTS.value) from error
    return await started(port.session, plan, function, values)


def _parameters(function: Callable[..., Any]) -> Json:
    """Return the input schema of a flow; parameters without hints take anything."""
    from keel.native.derive import derive  # noqa: PLC0415 - few agents hold flows

    try:
        return derive(function, function.__name__)["inputSchema"]
    except InputErrors:
        known = inspect.signature(function).parameters.values()
        required = [item.name for item in known if item.default is inspect.Parameter.empty]
        properties: dict[str, Json] = {item.name: {} for item in known}
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _result_text(value: Any) -> str:
    try:
        return json.dumps(as_data(value, "the result"), ensure_ascii=False)
    except NotData as error:
        raise ToolCallError(error.message, code=ErrorCode.INVALID_RESULT.value) from error
