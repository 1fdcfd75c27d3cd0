"""Model providers through pydantic-ai, which speaks to each in its own protocol and knows their prices.

Only its direct requests are used: loop, tools, validation and budget are keel's own. It is the extra
`keel-toolchain[models]`, and is loaded on the first request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from keel.errors import UsageError

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model

DEFAULT_TIMEOUT_S = 120.0
"""Seconds for one request to a provider."""


class ProviderModels:
    """`Models` of the run time over pydantic-ai; keys come from the environment variables that each provider names.

    Args:
        models: for tests and own deployments, a pydantic-ai model by the name that flows use; others are inferred
            from `provider:model`.
        timeout_s: seconds for one request.
    """

    def __init__(self, models: Mapping[str, Model] | None = None, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        self.models = dict(models or {})
        self.timeout_s = timeout_s

    async def complete(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send one request, in the shapes of `keel.runtime.models`.

        Raises:
            UsageError: if the extra is not installed.
        """
        try:
            from pydantic_ai.direct import model_request  # noqa: PLC0415 - an extra, and slow to load
            from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415
            from pydantic_ai.settings import ModelSettings  # noqa: PLC0415
            from pydantic_ai.tools import ToolDefinition  # noqa: PLC0415
        except ImportError as error:
            raise UsageError(
                "models cannot be asked: `pydantic-ai-slim` is not installed",
                hint="install `keel-toolchain[models]` and the provider's extra, such as `pydantic-ai-slim[anthropic]`",
            ) from error
        tools = [
            ToolDefinition(
                name=tool["name"], description=tool.get("description"), parameters_json_schema=dict(tool["parameters"])
            )
            for tool in request.get("tools", ())
        ]
        response = await model_request(
            self.models.get(request["model"], request["model"]),
            _messages(request),
            model_settings=ModelSettings(timeout=self.timeout_s),
            model_request_parameters=ModelRequestParameters(function_tools=tools),
        )
        return _answer(response)


def _messages(request: Mapping[str, Any]) -> list[ModelMessage]:
    from pydantic_ai import messages as said  # noqa: PLC0415 - an extra

    found: list[ModelMessage] = []
    names: dict[str, str] = {}
    for message in request["messages"]:
        content = message.get("content") or ""
        if message["role"] == "assistant":
            calls = message.get("tool_calls", ())
            names |= {call["id"]: call["name"] for call in calls}
            parts: list[Any] = [said.TextPart(content)] if content else []
            parts += [said.ToolCallPart(call["name"], call["arguments"], call["id"]) for call in calls]
            found.append(said.ModelResponse(parts=parts))
            continue
        if message["role"] == "system":
            part: Any = said.SystemPromptPart(content + _wanted(request.get("reply_schema")))
        elif message["role"] == "tool":
            at = message["tool_call_id"]
            part = said.ToolReturnPart(names.get(at, ""), content, at)
        else:
            part = said.UserPromptPart(content)
        if found and isinstance(found[-1], said.ModelRequest):
            found[-1] = said.ModelRequest(parts=[*found[-1].parts, part])
        else:
            found.append(said.ModelRequest(parts=[part]))
    return found


def _wanted(schema: Any) -> str:
    """Return what tells a model the shape of its answer; not every provider has another way."""
    if schema is None:
        return ""
    return f"\n\nAnswer with one JSON value and nothing else. It must fit this JSON Schema:\n{json.dumps(schema)}"


def _answer(response: ModelResponse) -> dict[str, Any]:
    calls = [
        {"id": call.tool_call_id, "name": call.tool_name, "arguments": call.args_as_json_str()}
        for call in response.tool_calls
    ]
    usage = response.usage
    return {
        "content": response.text or "",
        "tool_calls": calls,
        "tokens": usage.input_tokens + usage.output_tokens,
        "cost_usd": _cost(response),
    }


def _cost(response: ModelResponse) -> float | None:
    try:
        return float(response.cost().total_price)
    except (AssertionError, LookupError, ValueError):
        return None  # no price is known for the model, or it reported no usage
