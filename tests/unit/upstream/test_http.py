"""Live sessions over HTTP: a fault of one request stays with it, and no credential leaves the origin."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from keel.core.finding import NotChecked
from keel.runtime.ports import AnswerLost, NotSent, Reply
from tests.fakes import workshop
from tests.unit.upstream.shop import Caller, http, run

FORMS = pytest.mark.parametrize(
    "form", [{"modern": modern, "sse": sse} for modern in (False, True) for sse in (False, True)], ids=str
)


@contextmanager
def serving(**form: Any) -> Iterator[Any]:
    hall = workshop.http_workshop(**form)
    try:
        yield hall
    finally:
        hall.shutdown()
        hall.server_close()


@FORMS
def test_answers_come_in_every_form_of_the_transport(form: dict[str, bool]) -> None:
    async def main(call: Caller) -> None:
        surface = await call.pool.surface("w")
        assert not isinstance(surface, NotChecked)
        assert "echo" in {tool["name"] for tool in surface.tools}
        assert await call("echo", text="hi") == Reply(data={"text": "hi"})
        assert (await call("refuse")).code == "-32602"
        replies = await asyncio.gather(*(call("echo", text=str(index), delay=0.2) for index in range(200)))
        assert [reply.data["text"] for reply in replies] == [str(index) for index in range(200)]

    with serving(**form) as hall:
        run(http(hall), main)
        assert hall.calls[0]["_meta"]["keel/idempotency-key"] == "key-1"


@FORMS
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("status 401", NotSent), ("status 403", NotSent), ("status 429", NotSent), ("status 404", NotSent),
        ("status 500", AnswerLost), ("status 502", AnswerLost), ("status 503", AnswerLost), ("cut", AnswerLost),
    ],
)  # fmt: skip
def test_a_refusal_ran_nothing_and_a_breakdown_may_have(form: dict[str, bool], text: str, kind: type) -> None:
    async def main(call: Caller) -> None:
        beside = asyncio.create_task(call("echo", text="beside", delay=0.5))
        error = await call.error("say", text=text)
        assert isinstance(error, kind), error
        assert (await beside).data == {"text": "beside"}
        assert (await call("echo", text="after")).data == {"text": "after"}

    with serving(**form) as hall:
        run(http(hall), main)


@FORMS
def test_an_answer_beyond_the_limit_is_not_read_to_its_end(form: dict[str, bool]) -> None:
    async def main(call: Caller) -> None:
        error = await call.error("flood", size=50 << 20)
        assert isinstance(error, AnswerLost)
        assert "more than 64 KiB" in error.message
        assert (await call("echo", text="after")).data == {"text": "after"}

    with serving(**form) as hall:
        run(http(hall), main, limit=64 << 10)


@FORMS
def test_a_deadline_loses_the_answer_and_not_the_session(form: dict[str, bool]) -> None:
    async def main(call: Caller) -> None:
        assert isinstance(await call.error("echo", 0.4, text="late", delay=1), AnswerLost)
        assert (await call("echo", text="after")).data == {"text": "after"}

    with serving(**form) as hall:
        run(http(hall), main)


def test_an_endpoint_where_nobody_listens_was_sent_nothing() -> None:
    async def main(call: Caller) -> None:
        error = await call.error("echo", 5, text="x")
        assert isinstance(error, NotSent)
        assert "cannot be reached" in error.message

    with serving() as hall:
        gone = http(hall)
    run(gone, main)


def test_a_server_that_went_away_between_two_calls_was_sent_nothing() -> None:
    async def main(call: Caller) -> None:
        await call("echo", text="x")
        hall.shutdown()
        hall.server_close()
        await asyncio.sleep(0.1)
        # The open connection may still be answered by its thread; a new one is refused.
        errors = await asyncio.gather(
            *(call.error("say", 5, text="x", delay=0) for _ in range(5)), return_exceptions=True
        )
        assert all(isinstance(error, NotSent | AnswerLost | AssertionError) for error in errors)
        assert any(isinstance(error, NotSent) for error in errors)

    with serving() as hall:
        run(http(hall), main)


def test_headers_are_resolved_for_each_request_and_a_rotated_secret_is_used_at_once() -> None:
    tokens = ["token-one-123"]

    async def main(call: Caller) -> None:
        await call("echo", text="x")
        tokens[0] = "token-two-456"
        await call("echo", text="x")

    with serving() as hall:
        launch = http(hall)
        run(lambda: replace(launch, headers={"authorization": f"Bearer {tokens[0]}"}, secrets=(tokens[0],)), main)
        sent = [headers.get("authorization") for headers in hall.seen]
    assert sent[0] == "Bearer token-one-123"
    assert sent[-1] == "Bearer token-two-456"
    assert set(sent) == {"Bearer token-one-123", "Bearer token-two-456"}


def test_a_redirect_to_another_origin_is_not_followed() -> None:
    async def main(call: Caller) -> None:
        error = await call.error("echo", 5, text="x")
        assert isinstance(error, NotSent)
        assert "was not followed" in error.message

    with serving() as other:
        place = f"http://127.0.0.1:{other.server_address[1]}/mcp"
        with serving(elsewhere=place) as hall:
            run(replace(http(hall), headers={"authorization": "Bearer s3cret-token"}), main)
            assert hall.seen
        assert other.seen == []


def test_a_port_that_takes_connections_and_says_nothing_costs_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:

        async def main(call: Caller) -> None:
            assert isinstance(await call.error("echo", 0.6, text="x"), NotSent)

        with serving() as hall:
            launch = replace(http(hall), url=f"http://127.0.0.1:{silent.getsockname()[1]}/mcp")
        run(launch, main)
