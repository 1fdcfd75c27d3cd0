"""Live sessions with processes: many calls over one, each fault its own, what was sent is known, nothing is left."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from keel.core.finding import NotChecked
from keel.core.launch import Failure, Launch
from keel.core.model import Transport
from keel.core.redact import Redactor
from keel.runtime.ports import AnswerLost, Drifted, NotSent, Reply
from tests.unit.upstream.shop import LEGACY, MODERN, Caller, events, run, running, stdio

ERAS = pytest.mark.parametrize("protocol", [LEGACY, MODERN])


@ERAS
def test_answers_become_replies(protocol: str) -> None:
    async def main(call: Caller) -> None:
        assert await call("echo", text="hi") == Reply(data={"text": "hi"})
        assert await call("say", text="hi") == Reply(data=[{"type": "text", "text": "hi"}])
        assert await call("fail", text="no") == Reply(
            data={"code": "not_found"}, failed=True, code="not_found", message="no"
        )
        assert await call("refuse") == Reply(failed=True, code="-32602", message="no such thing")

    run(stdio(protocol=protocol), main)


@ERAS
def test_the_idempotency_key_travels_in_meta_and_nothing_else_does(tmp_path: Path, protocol: str) -> None:
    journal = tmp_path / "journal"
    run(stdio(journal, protocol=protocol), lambda call: call("echo", text="hi"))
    (called,) = events(journal, "called")
    own = {name: value for name, value in called["meta"].items() if not name.startswith("io.modelcontextprotocol/")}
    assert own == {"keel/idempotency-key": "key-1"}
    assert called["arguments"] == {"text": "hi"}


@ERAS
def test_500_calls_share_one_session_and_nothing_is_lost_or_mixed(tmp_path: Path, protocol: str) -> None:
    journal = tmp_path / "journal"

    async def main(call: Caller) -> list[Reply]:
        return await asyncio.gather(*(call("echo", text=str(index), delay=(index % 7) / 10) for index in range(500)))

    replies = run(stdio(journal, protocol=protocol), main)
    assert [reply.data for reply in replies] == [{"text": str(index)} for index in range(500)]
    assert len(events(journal, "started")) == 1
    assert len(events(journal, "called")) == 500


@ERAS
def test_a_deadline_cancels_the_call_and_a_late_answer_disturbs_nobody(tmp_path: Path, protocol: str) -> None:
    journal = tmp_path / "journal"

    async def main(call: Caller) -> None:
        begun = time.monotonic()
        error = await call.error("echo", 0.5, text="late", delay=1.0)
        assert time.monotonic() - begun < 0.9
        assert isinstance(error, AnswerLost)
        assert (await call("echo", text="next", delay=1.0)).data == {"text": "next"}

    run(stdio(journal, protocol=protocol), main)
    assert any(isinstance(item["cancelled"], int) for item in events(journal, "cancelled"))


def test_a_server_that_dies_loses_the_calls_that_were_sent_and_is_started_for_the_next(tmp_path: Path) -> None:
    journal = tmp_path / "journal"

    async def main(call: Caller) -> None:
        sent = [asyncio.create_task(call.error("say", text="x", delay=10)) for _ in range(20)]
        while not (journal.exists() and len(events(journal, "called")) == 20):  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.02)
        errors = [await call.error("die"), *await asyncio.gather(*sent)]
        assert {type(error) for error in errors} == {AnswerLost}
        assert "was ended by signal 9" in errors[0].message
        assert await call("echo", text="back") == Reply(data={"text": "back"})

    run(stdio(journal), main)
    assert len(events(journal, "started")) == 2


def test_a_server_that_cannot_be_started_was_sent_nothing() -> None:
    async def main(call: Caller) -> None:
        error = await call.error("echo", text="x")
        assert isinstance(error, NotSent)
        assert "command not found" in error.message

    run(Launch("w", Transport.STDIO, argv=("no-such-program-of-keel",), env={"PATH": "/nowhere"}), main)


def test_a_call_whose_session_does_not_open_in_time_was_sent_nothing() -> None:
    silent = Launch("w", Transport.STDIO, argv=("sleep", "60"), env={"PATH": "/usr/bin:/bin"}, protocol=LEGACY)

    async def main(call: Caller) -> None:
        error = await call.error("echo", 0.5, text="x")
        assert isinstance(error, NotSent)

    run(silent, main)


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("flood", {"size": 2 << 20}, "more than 1 MiB"),
        ("flood", {"size": 50 << 20}, "more than 1 MiB"),
        ("deep", {"size": 300}, "nesting is deeper"),
        ("deep", {"size": 50_000}, "nesting is deeper"),
        ("garbage", {}, "cannot be read"),
    ],
)
def test_an_answer_that_cannot_be_used_costs_its_own_call_only(tool: str, arguments: dict[str, Any], says: str) -> None:
    async def main(call: Caller) -> None:
        beside = asyncio.create_task(call("echo", text="beside", delay=1.5))
        await call("echo", text="warm")
        error = await call.error(tool, **arguments)
        assert isinstance(error, AnswerLost)
        assert says in error.message
        assert (await beside).data == {"text": "beside"}

    run(stdio(), main, limit=1 << 20)


@ERAS
def test_a_changed_list_stops_calls_until_it_was_read_again(protocol: str) -> None:
    heard: list[str] = []

    async def main(call: Caller) -> None:
        call.pool.on_change(heard.append)
        await call.pool.surface("w")
        await asyncio.sleep(0.3)  # the subscription of the 2026 era is opened beside
        await call("change")
        assert heard[0] == "w"
        assert isinstance(await call.error("echo", text="x"), Drifted)
        surface = await call.pool.surface("w")
        assert not isinstance(surface, NotChecked)
        assert (await call("echo", text="x")).data == {"text": "x"}

    run(stdio(protocol=protocol), main)


def test_a_restarted_server_is_read_before_it_is_called() -> None:
    heard: list[str] = []

    async def main(call: Caller) -> None:
        call.pool.on_change(heard.append)
        await call.pool.surface("w")
        await call.error("die")
        assert heard == ["w"]
        assert "started again" in (await call.error("echo", text="x")).message
        await call.pool.surface("w")
        assert (await call("echo", text="x")).data == {"text": "x"}

    run(stdio(), main)


def test_calls_go_on_while_the_list_is_read() -> None:
    async def main(call: Caller) -> None:
        await call.pool.surface("w")
        results = await asyncio.gather(
            *(call("echo", text=str(index), delay=0.2) for index in range(50)),
            *(call.pool.surface("w") for _ in range(5)),
        )
        assert [item.data["text"] for item in results[:50]] == [str(index) for index in range(50)]
        assert len({len(item.tools) for item in results[50:]}) == 1

    run(stdio(), main)


def test_secrets_are_resolved_when_a_session_opens_and_kept_out_of_every_message(tmp_path: Path) -> None:
    redactor = Redactor()
    values = iter(["first-secret-value", "other-secret-value", "other-secret-value"])

    def resolve() -> Launch:
        launch = stdio()
        secret = next(values)
        env = {**launch.env, "WORKSHOP_KEY": secret}
        return Launch(**{**{name: getattr(launch, name) for name in ("name", "transport", "argv", "timeout_s", "protocol")}, "env": env, "secrets": (secret,)})  # fmt: skip

    async def main(call: Caller) -> None:
        for _ in range(2):
            reply = await call("leak")
            assert reply.message == "the key is ‹secret›"
            await call.error("die")

    run(resolve, main, redactor=redactor)
    assert redactor.clean("first-secret-value other-secret-value") == "‹secret› ‹secret›"


def test_what_is_missing_in_a_launch_is_said_and_nothing_is_started() -> None:
    gap = NotChecked("w", "missing-variable", "`w`: `env.K` needs secret `k`, which has no source", "set it")

    async def main(call: Caller) -> None:
        error = await call.error("echo", text="x")
        assert isinstance(error, NotSent)
        assert (error.message, error.hint) == (gap.why, gap.next)
        assert await call.pool.surface("w") == gap

    run(lambda: Failure("w", gap), main)


def test_nothing_is_left_of_a_server_and_its_children(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    pids: list[int] = []

    async def main(call: Caller) -> None:
        reply = await call("stray")
        pids.append(int(reply.data[0]["text"]))

    begun = time.monotonic()
    run(stdio(journal, "--stubborn"), main)
    pids += [item["started"] for item in events(journal, "started")]
    assert not any(map(running, pids))
    assert time.monotonic() - begun < 15


def test_an_interrupted_call_leaves_nothing_either(tmp_path: Path) -> None:
    journal = tmp_path / "journal"

    async def main(call: Caller) -> None:
        task = asyncio.create_task(call("deaf"))
        while not (journal.exists() and events(journal, "called")):  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await call("echo", text="x")).data == {"text": "x"}

    run(stdio(journal), main)
    assert events(journal, "cancelled")
    assert not any(running(item["started"]) for item in events(journal, "started"))


def test_a_surface_file_can_be_compared_and_not_called(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text('{"initialize": {}, "tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}')

    async def main(call: Caller) -> None:
        surface = await call.pool.surface("w")
        assert not isinstance(surface, NotChecked)
        assert [tool["name"] for tool in surface.tools] == ["echo"]
        assert isinstance(await call.error("echo"), NotSent)

    run(Launch("w", Transport.SURFACE, surface=file), main)
