"""Requests and answers cross pydantic-ai unchanged, without any provider."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic_ai import messages as said
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from keel.upstream.models import ProviderModels

TOOL = {"name": "bank__pay", "description": "Pay.", "parameters": {"type": "object", "properties": {}}}


def asked(request: dict[str, Any], response: said.ModelResponse) -> tuple[Any, list[Any], AgentInfo]:
    seen: list[Any] = []

    def answer(messages: list[said.ModelMessage], info: AgentInfo) -> said.ModelResponse:
        seen.append((messages, info))
        return response

    models = ProviderModels({"test:one": FunctionModel(answer)})
    found = asyncio.run(models.complete({"model": "test:one", **request}))
    ((messages, info),) = seen
    return found, messages, info


def test_a_talk_with_tool_calls() -> None:
    request = {
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Pay."},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "name": "bank__pay", "arguments": '{"x": 1}'}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
        ],
        "tools": [TOOL],
    }
    response = said.ModelResponse(
        parts=[said.TextPart("once more"), said.ToolCallPart("bank__pay", {"x": 2}, "c2")],
        usage=RequestUsage(input_tokens=7, output_tokens=5),
    )
    found, messages, info = asked(request, response)
    assert found["content"] == "once more"
    assert [(call["id"], call["name"], json.loads(call["arguments"])) for call in found["tool_calls"]] == [
        ("c2", "bank__pay", {"x": 2})
    ]
    assert found["tokens"] == 12
    assert [tool.name for tool in info.function_tools] == ["bank__pay"]
    first, second, third = messages
    assert [part.content for part in first.parts] == ["Be kind.", "Pay."]
    assert second.parts[0].args_as_dict() == {"x": 1}
    assert (third.parts[0].tool_name, third.parts[0].content) == ("bank__pay", "done")


def test_a_reply_schema_is_told_and_an_unknown_price_is_none() -> None:
    request = {"messages": [{"role": "system", "content": "Count."}], "reply_schema": {"type": "integer"}}
    found, messages, _ = asked(request, said.ModelResponse(parts=[said.TextPart("3")], model_name="nobody-knows"))
    assert '{"type": "integer"}' in messages[0].parts[0].content
    assert found["content"] == "3"
    assert found["cost_usd"] is None


def test_a_known_model_has_a_price() -> None:
    response = said.ModelResponse(
        parts=[said.TextPart("hi")],
        usage=RequestUsage(input_tokens=1_000_000, output_tokens=0),
        model_name="claude-haiku-4-5",
        provider_name="anthropic",
    )
    from keel.upstream.models import _cost

    assert _cost(response) == pytest.approx(1.0)
