"""Requests to model providers and their answers as values, and the step that asks for one structured answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from keel.authoring.models import Reasoner
from keel.authoring.port import ThinkStep
from keel.core.model import Json, Manifest
from keel.core.text import excerpt
from keel.errors import KeelError, ToolCallError
from keel.runtime.budget import BudgetError
from keel.runtime.model import ErrorCode
from keel.runtime.native import adapter_of, as_data
from keel.runtime.recorded import recorded

if TYPE_CHECKING:
    from keel.runtime.flowport import FlowPort
    from keel.runtime.ports import Models
    from keel.runtime.sites import Origin

MAX_ASKS = 3
"""How often a reasoner is asked for one answer that fits its type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What a provider is asked; `value()` is what `Models.complete` gets."""

    model: str
    """`provider:model`."""
    messages: tuple[Mapping[str, Any], ...]
    """In the order of the talk: `role` (`system`, `user`, `assistant`, `tool`), `content`; of an assistant
    `tool_calls` as in an answer; of a tool `tool_call_id`."""
    tools: tuple[Mapping[str, Any], ...] = ()
    """`name`, `description`, `parameters` (JSON Schema)."""
    reply_schema: Json = None
    """JSON Schema of the answer; None for text."""

    def value(self) -> dict[str, Any]:
        """Return the request as data."""
        found: dict[str, Any] = {"model": self.model, "messages": [dict(item) for item in self.messages]}
        if self.tools:
            found["tools"] = [dict(item) for item in self.tools]
        if self.reply_schema is not None:
            found["reply_schema"] = self.reply_schema
        return found


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call that a model asks for."""

    id: str
    name: str
    """Exposed name."""
    arguments: str
    """JSON text, as the model wrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What a provider answered."""

    content: str = ""
    calls: tuple[AskedCall, ...] = ()
    tokens: int = 0
    """Tokens of request and answer together."""
    cost_usd: float | None = None
    """US dollars; None where the provider's library knows no price."""

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> ModelReply:
        """Read what `Models.complete` gave: `content`, `tool_calls` (`id`, `name`, `arguments`), `tokens`, `cost_usd`.

        Raises:
            ToolCallError: `invalid_result`, if it has another shape.
        """
        try:
            calls = tuple(
                AskedCall(str(item["id"]), str(item["name"]), _text(item.get("arguments", "{}")))
                for item in value.get("tool_calls") or ()
            )
            return cls(
                content=str(value.get("content") or ""),
                calls=calls,
                tokens=int(value.get("tokens") or 0),
                cost_usd=None if value.get("cost_usd") is None else float(value["cost_usd"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ToolCallError(
                "the model's answer has a shape that keel does not know", code=ErrorCode.INVALID_RESULT.value
            ) from error


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def check_granted(manifest: Manifest, name: str | None, model: str, scope: str) -> None:
    """Refuse a reasoner, model or scope that the manifest does not list; an agent has no name among `reasoners`.

    Raises:
        ToolCallError: `not_granted`.
    """
    for what, value, allowed in (
        ("reasoners", name, manifest.reasoners),
        ("models", model, manifest.models),
        ("scopes", scope, manifest.scopes),
    ):
        if value is not None and allowed is not None and value not in allowed:
            raise ToolCallError(
                f"`{excerpt(value)}` is not in the manifest's `{what}`", code=ErrorCode.NOT_GRANTED.value
            )


async def ask(port: FlowPort, request: ModelRequest, site: str) -> ModelReply:
    """Send one request, as a durable unit, and charge what it cost.

    Raises:
        ToolCallError: `tool_failed`, if there is no provider or it fails; `budget_exceeded`.
    """
    session = port.session
    models = session.models
    if models is None:
        raise ToolCallError(
            f"model `{excerpt(request.model)}` cannot be asked: this run has no model provider",
            hint="install `keel-toolchain[models]`, or pass `models=` to `keel.runtime.run`",
        )

    try:
        session.state.check()
    except BudgetError as error:
        raise ToolCallError(str(error), code=ErrorCode.BUDGET_EXCEEDED.value) from error
    reply = ModelReply.of(await recorded(session, site, request.value(), partial(_completed, models, request)))
    budget = session.bundle.manifest.budget
    if reply.cost_usd is None and budget is not None and budget.cost_usd is not None:
        raise ToolCallError(
            f"what `{excerpt(request.model)}` costs is not known, and the manifest bounds the cost of a run",
            code=ErrorCode.BUDGET_EXCEEDED.value,
            hint="use a model whose price the provider's library knows, or bound `tokens` instead of `cost_usd`",
        )
    session.state.charge(tokens=reply.tokens, cost_usd=reply.cost_usd or 0.0)
    return reply


async def _completed(models: Models, request: ModelRequest) -> Json:
    try:
        return dict(await models.complete(request.value()))
    except ToolCallError:
        raise
    except KeelError as error:
        raise ToolCallError(error.message, hint=error.hint) from error
    except Exception as error:  # a provider's library may raise anything
        raise ToolCallError(
            f"model `{excerpt(request.model)}` failed: {excerpt(f'{type(error).__name__}: {error}', 300)}",
            retryable=True,
        ) from error


async def thought(port: FlowPort, step: ThinkStep, origin: Origin | None) -> Any:
    """Ask a reasoner until its answer fits its type, at most `MAX_ASKS` times.

    Raises:
        ToolCallError: `not_granted`, `tool_failed`, `budget_exceeded`, or `invalid_result` if no answer fits.
    """
    reasoner: Reasoner = step.reasoner
    session = port.session
    await port.placed("think", reasoner.name, origin)
    check_granted(session.bundle.manifest, reasoner.name, reasoner.model, step.scope)
    adapter = None if reasoner.reply is str else _adapter(reasoner)
    schema = adapter.json_schema() if adapter is not None else None
    messages: list[Mapping[str, Any]] = [
        {"role": "system", "content": reasoner.system},
        {"role": "user", "content": prompt_of(step.value, session.contexts.get(step.scope))},
    ]
    site = port.site(origin)
    with session.trace.step("think", site, reasoner.name):
        for _ in range(MAX_ASKS):
            request = ModelRequest(model=reasoner.model, messages=tuple(messages), reply_schema=schema)
            reply = await ask(port, request, site)
            if adapter is None:
                return reply.content
            try:
                return adapter.validate_json(_unfenced(reply.content))
            except ValidationError as error:
                messages.append({"role": "assistant", "content": reply.content})
                wrong = f"This does not fit the schema: {error}. Answer again, with JSON alone."
                messages.append({"role": "user", "content": wrong})
    raise ToolCallError(
        f"reasoner `{excerpt(reasoner.name)}` gave no answer that fits its type in {MAX_ASKS} asks",
        code=ErrorCode.INVALID_RESULT.value,
        retryable=True,
    )


def _adapter(reasoner: Reasoner) -> TypeAdapter[Any]:
    found = adapter_of(reasoner.reply)
    if found is None:
        raise ToolCallError(
            f"`reply` of reasoner `{excerpt(reasoner.name)}` has no JSON Schema",
            hint="use a type that pydantic can describe, such as a `TypedDict` or a model",
        )
    return found


def prompt_of(value: Any, context: Json = None) -> str:
    """Return what a model reads of a value, and of the session as far as its scope goes."""
    data = as_data(value)
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    if context is None:
        return text
    return f"{text}\n\nContext:\n{json.dumps(context, ensure_ascii=False)}"


def _unfenced(text: str) -> str:
    """Return an answer without the code fence that some models put around JSON."""
    found = text.strip()
    if found.startswith("```") and found.endswith("```") and "\n" in found:
        return found[found.index("\n") + 1 : -3]
    return found


@dataclass
class FakeModels:
    """Answers from a list, in order, for tests; keeps what it was asked."""

    answers: list[Any]
    """Text, or a whole answer as `ModelReply.of` reads it."""
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    async def complete(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the next answer.

        Raises:
            ToolCallError: if there is none left.
        """
        self.asked.append(request)
        if not self.answers:
            raise ToolCallError(f"no answer is left for model `{excerpt(str(request.get('model')))}`")
        answer = self.answers.pop(0)
        return answer if isinstance(answer, Mapping) else {"content": answer, "tokens": 0}
