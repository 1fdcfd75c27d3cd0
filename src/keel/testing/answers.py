"""Tools that answer as a test says."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keel.core.finding import NotChecked
from keel.core.model import Json, Surface
from keel.core.text import did_you_mean, excerpt
from keel.errors import ToolCallError
from keel.runtime.native import NotData, as_data
from keel.runtime.ports import AnswerLost, NotSent, Reply
from keel.testing.errors import FakeError

_LOST = frozenset({"timeout", "outcome_unknown"})


@dataclass(frozen=True, slots=True)
class FakeCall:
    """One call that reached a fake."""

    key: str
    arguments: Mapping[str, Json]
    """As the tool would get them: validated data."""
    idempotency_key: str
    """The same for retries of one call."""


@dataclass
class FakeTools:
    """`Upstream` of a test: one answer, or one function, by tool key."""

    answers: Mapping[str, Any]
    fail: Callable[[str], FakeError]
    """Notes what is wrong with the test and gives the error to raise."""
    calls: list[FakeCall] = field(default_factory=list)

    def check(self, key: str) -> None:
        """Refuse a tool that the test does not fake.

        Raises:
            FakeError: naming it.
        """
        if key not in self.answers:
            guess = did_you_mean(key, self.answers)
            hint = f" ({guess})" if guess else ""
            raise self.fail(f"the flow calls `{excerpt(key)}`, which `fakes` has no answer for{hint}")

    async def answer(self, key: str, arguments: Mapping[str, Json], idempotency_key: str) -> Reply:
        """Answer one call.

        Raises:
            NotSent: if the fake raises one.
            AnswerLost: if the fake raises one, or a `ToolCallError` of a lost answer.
        """
        self.check(key)
        self.calls.append(FakeCall(key, copy.deepcopy(dict(arguments)), idempotency_key))
        answer = self.answers[key]
        try:
            value = await _value(answer, arguments)
            return Reply(data=as_data(value, f"the fake result of {key}"))
        except (NotSent, AnswerLost, FakeError):
            raise
        except ToolCallError as error:
            if error.code in _LOST:
                raise AnswerLost(error.message) from error
            return Reply(failed=True, code=error.code, message=error.message)
        except NotData as error:
            raise self.fail(error.message) from error
        except Exception as error:  # noqa: BLE001 - a fake may raise what its tool would
            return Reply(failed=True, code=type(error).__name__, message=str(error))

    async def call(
        self, server: str, tool: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float
    ) -> Reply:
        """Answer a call of an MCP tool."""
        del timeout_s
        return await self.answer(f"{server}/{tool}", arguments, idempotency_key)

    async def surface(self, server: str) -> Surface | NotChecked:
        """Return that nobody is asked."""
        return NotChecked(server, "attended", "tests ask no server")

    def on_change(self, heard: Callable[[str], None]) -> None:
        """Tell nobody of anything."""
        del heard

    def endpoint(self, server: str) -> str:
        """Return no address."""
        del server
        return ""


async def _value(answer: Any, arguments: Mapping[str, Json]) -> Any:
    if isinstance(answer, BaseException):
        raise answer
    value = answer(**arguments) if callable(answer) else answer
    return await value if inspect.isawaitable(value) else value


@dataclass(frozen=True)
class FakeNatives:
    """The same answers as `NativeTools`."""

    tools: FakeTools

    async def call(self, key: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float) -> Reply:
        """Answer a call of a native tool."""
        del timeout_s
        return await self.tools.answer(key, arguments, idempotency_key)

    def endpoint(self, key: str) -> str:
        """Return no address."""
        del key
        return ""
