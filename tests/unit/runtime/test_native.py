"""Native tools get the values that their hints name, and give JSON."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import threading
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from keel import tool
from keel.native.derive import derive
from keel.runtime.native import MAX_MESSAGE, Callee, InProcessTools, NotData, as_data
from keel.runtime.ports import AnswerLost, NotSent, Reply


class Size(Enum):
    SMALL = "small"


class Line(TypedDict):
    amount: int


@dataclasses.dataclass
class Day:
    on: dt.date


class Order(BaseModel):
    number: int = Field(alias="no")
    lines: list[Line] = []


def place(
    order: Order,
    day: Day,
    size: Size,
    share: Annotated[float, Field(ge=0)] = 1.0,
    *,
    kind: Literal["a", "b"] = "a",
    pair: tuple[int, str] = (1, "x"),
    note: str | None = None,
) -> Day:
    assert isinstance(order, Order)
    assert isinstance(day, Day)
    assert size is Size.SMALL
    assert isinstance(pair, tuple)
    return Day(day.on + dt.timedelta(days=order.number))


ARGUMENTS = {
    "order": {"no": 3, "lines": [{"amount": 5}]},
    "day": {"on": "2026-01-01"},
    "size": "small",
    "share": 0.5,
    "pair": [2, "y"],
}


def call(function: Any, arguments: dict[str, Any], timeout_s: float = 5) -> Reply:
    tools = InProcessTools({"t": function})
    return asyncio.run(tools.call("t", arguments, idempotency_key="k", timeout_s=timeout_s))


def test_json_becomes_values_and_the_result_json_again() -> None:
    assert call(place, ARGUMENTS) == Reply(data={"on": "2026-01-04"})
    assert Callee(place).result_value({"on": "2026-01-04"}) == Day(dt.date(2026, 1, 4))


def test_what_flow_code_passes_fits_the_derived_schema() -> None:
    import jsonschema_rs

    callee = Callee(place)
    given = callee.bound(
        (Order(no=3, lines=[Line(amount=5)]), Day(dt.date(2026, 1, 1)), Size.SMALL, 0.5), {"pair": (2, "y")}
    )
    data = callee.data(given)
    assert data == ARGUMENTS
    assert jsonschema_rs.is_valid(derive(place, "place")["inputSchema"], data)


def test_data_of_another_type_passes_through_for_the_schema_to_judge() -> None:
    assert Callee(place).data({"size": 7, "day": "tomorrow"}) == {"size": 7, "day": "tomorrow"}


@pytest.mark.parametrize("value", [object(), {1: object()}, lambda: 1])
def test_what_json_cannot_say_is_refused(value: Any) -> None:
    with pytest.raises(NotData):
        as_data(value)


def test_an_exception_is_a_failed_reply_with_a_bounded_message() -> None:
    def breaks() -> None:
        raise LookupError("x" * 10_000 + "\x1b[31m")

    found = call(breaks, {})
    assert (found.failed, found.code) == (True, "LookupError")
    assert len(found.message) <= MAX_MESSAGE


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("kind", [SystemExit, asyncio.CancelledError, MuteError])
def test_a_tool_that_exits_cancels_itself_or_has_no_words_only_fails(kind: type[BaseException]) -> None:
    def breaks() -> None:
        raise kind

    async def breaks_in_the_loop() -> None:
        raise kind

    for function in (breaks, breaks_in_the_loop):
        assert call(function, {}) == Reply(failed=True, code=kind.__name__, message="")


def test_a_call_that_is_cancelled_is_no_failure_of_the_tool() -> None:
    async def sleeps() -> None:
        await asyncio.sleep(60)

    async def cancelled() -> bool:
        tools = InProcessTools({"t": sleeps})
        task = asyncio.create_task(tools.call("t", {}, idempotency_key="k", timeout_s=60))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancelled())


def test_a_result_that_is_no_data_fails() -> None:
    def odd():  # type: ignore[no-untyped-def]
        return object()

    assert call(odd, {}).code == "NotData"


def test_async_runs_in_the_loop_and_sync_in_a_thread() -> None:
    async def there() -> str:
        return threading.current_thread().name

    def here() -> str:
        return threading.current_thread().name

    assert call(there, {}).data == threading.current_thread().name
    assert call(here, {}).data == "keel-tool"


def test_a_late_answer_is_lost() -> None:
    async def waits() -> None:
        await asyncio.sleep(5)

    release = threading.Event()

    def hangs() -> None:
        release.wait(5)

    with pytest.raises(AnswerLost):
        call(waits, {}, timeout_s=0.05)
    with pytest.raises(AnswerLost):
        call(hangs, {}, timeout_s=0.05)
    release.set()


def test_a_timeout_of_the_function_itself_is_its_failure() -> None:
    async def gives_up() -> None:
        raise TimeoutError("the other side is slow")

    assert call(gives_up, {}).code == "TimeoutError"


@tool(effect="read", idempotent=True)
def inner() -> int:
    """Give one."""
    return 1


def test_a_tool_makes_no_steps_in_its_own_body() -> None:
    def outer() -> int:
        return inner()

    async def outer_async() -> int:
        return await inner()

    for function in (outer, outer_async):
        found = call(function, {})
        assert found.failed
        assert "no gate sees them" in found.message


def test_values_that_do_not_fit_are_a_failure_not_a_crash() -> None:
    assert call(place, {**ARGUMENTS, "size": "vast"}).code == "ValidationError"


def test_an_unknown_tool_is_not_sent() -> None:
    tools = InProcessTools({})
    with pytest.raises(NotSent):
        asyncio.run(tools.call("x", {}, idempotency_key="", timeout_s=1))
    assert tools.endpoint("x") == ""
