"""Whole flows run in unit tests, held to the lock."""

from __future__ import annotations

import asyncio
import contextlib
import unittest
from pathlib import Path
from typing import Any

import pytest

from keel import (
    Agent,
    Approval,
    ApprovalDenied,
    NoRuntime,
    Reasoner,
    ToolCallError,
    flow,
    gated,
    hedge,
    human_gate,
    mcp_tool,
    quorum,
    race,
    think,
    tool,
)
from keel.runtime.ports import NotSent
from keel.testing import FakeError, fakes
from tests.unit.runtime.projects import MANIFEST, make

pay = mcp_tool("bank", "pay")
find = mcp_tool("bank", "find")
note = mcp_tool("bank", "note")


@tool(effect="read", idempotent=True)
def look(ticket: str) -> dict[str, int]:
    """Look a ticket up by its number."""
    raise AssertionError("a faked tool does not run")


@flow
async def settle(ticket: str) -> str:
    hit = await look(ticket)
    ok = await human_gate(f"pay {hit['amount']} to {ticket}?", on_reject="return")
    if not ok:
        return str(ok.reason)
    await pay(payee=ticket, amount=hit["amount"])
    return "paid"


@flow
def settle_sync(ticket: str) -> str:
    hit = look(ticket)
    ok = human_gate(f"pay {hit['amount']} to {ticket}?", on_reject="return")
    if not ok:
        return str(ok.reason)
    pay(payee=ticket, amount=hit["amount"])
    return "paid"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    manifest = MANIFEST + 'reasoners: [judge]\nmodels: ["test:one"]\nscopes: [local]\nbudget: {tokens: 100}\n'
    return make(tmp_path_factory.mktemp("fakes") / "project", "", manifest=manifest).root


@pytest.fixture(autouse=True)
def inside(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)


ANSWERS: dict[str, Any] = {"look": {"amount": 5}, "bank/pay": lambda payee, amount: {"done": f"{payee} {amount}"}}


def test_an_async_flow() -> None:
    with fakes(ANSWERS, approvals=[True]) as seen:
        assert asyncio.run(settle("T-1")) == "paid"
    assert seen.called("bank/pay") == [{"payee": "T-1", "amount": 5}]
    assert [call.key for call in seen.calls] == ["look", "bank/pay"]
    assert [question.prompt for question in seen.questions] == ["pay 5 to T-1?"]
    assert [(entry.kind, entry.outcome) for entry in seen.trace] == [("call", "ok"), ("gate", "ok"), ("call", "ok")]


def test_a_sync_flow() -> None:
    with fakes(ANSWERS, approvals=[True]) as seen:
        assert settle_sync("T-1") == "paid"
    assert seen.called("bank/pay") == [{"payee": "T-1", "amount": 5}]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (False, "denied"),
        (Approval(), "denied"),
        (Approval(reason="timeout"), "timeout"),
        (lambda question: "pay 6" in question.prompt, "denied"),
    ],
)
def test_denials(answer: Any, reason: str) -> None:
    with fakes(ANSWERS, approvals=[answer]) as seen:
        assert settle_sync("T-1") == reason
    assert seen.called("bank/pay") == []


def test_an_approval_says_who(project: Path) -> None:
    with fakes({}, approvals=[Approval(approved=True, reason="approved", by="ann", comment="fine")]):
        found = human_gate("Really?")
    assert (found.by, found.comment, bool(found)) == ("ann", "fine", True)


def test_one_function_answers_every_question() -> None:
    with fakes({}, approvals=lambda question: True):
        assert human_gate("One?")
        assert human_gate("Two?")


def test_too_few_answers() -> None:
    with pytest.raises(FakeError, match=r"asks `pay 5 to T-1\?`, and `approvals` has no answer left"), fakes(ANSWERS):
        settle_sync("T-1")


def test_too_many_answers() -> None:
    left = "1 answer of `approvals` was never asked for"
    with pytest.raises(FakeError, match=left), fakes(ANSWERS, approvals=[True, True]):
        settle_sync("T-1")


def test_an_unknown_key() -> None:
    with pytest.raises(FakeError, match=r"no tool `bank/pya`: did you mean `bank/pay`\?"), fakes({"bank/pya": 1}):
        pass


def swallowing() -> None:
    with fakes({}), contextlib.suppress(Exception):
        find(name="x")


def test_a_tool_without_an_answer_fails_even_where_the_flow_swallows_it() -> None:
    with pytest.raises(FakeError, match="calls `bank/find`, which `fakes` has no answer for"):
        swallowing()


@pytest.mark.parametrize(
    ("arguments", "code"), [({"payee": "a"}, "invalid_arguments"), ({"payee": "a", "amount": "5"}, "invalid_arguments")]
)
def test_arguments_are_held_to_the_lock(arguments: dict[str, Any], code: str) -> None:
    with fakes(ANSWERS, approvals=[True]) as seen:
        human_gate("pay?")
        with pytest.raises(ToolCallError) as found:
            pay(**arguments)
    assert found.value.code == code
    assert not seen.calls


def test_results_are_held_to_the_lock() -> None:
    with fakes({"bank/find": {"number": "seven"}}), pytest.raises(ToolCallError) as found:
        find(name="x")
    assert found.value.code == "invalid_result"


def test_a_dangerous_call_needs_a_gate() -> None:
    with fakes(ANSWERS), pytest.raises(ToolCallError) as found:
        pay(payee="a", amount=1)
    assert found.value.code == "approval_required"


def test_gated_tools_ask_with_their_arguments() -> None:
    with fakes(ANSWERS, approvals=[True, False]) as seen:
        gated(pay)(payee="a", amount=1)
        with pytest.raises(ApprovalDenied):
            gated(pay)(payee="b", amount=1)
    assert [question.tool for question in seen.questions] == ["bank/pay", "bank/pay"]
    assert seen.called("bank/pay") == [{"payee": "a", "amount": 1}]


def test_failures_and_retries() -> None:
    tries = iter([NotSent("down"), ToolCallError("late", code="timeout"), {"number": 3}])

    def answer(name: str) -> Any:
        found = next(tries)
        if isinstance(found, Exception):
            raise found
        return found

    with fakes({"bank/find": answer, "bank/note": ValueError("full"), "bank/pay": {}}) as seen:
        assert find.options(retries=2)(name="x") == {"number": 3}
        with pytest.raises(ToolCallError, match="full"):
            note(text="y")
        with pytest.raises(ToolCallError, match="must not be sent again"):
            pay.options(retries=1)(payee="a", amount=1)
    assert len({call.idempotency_key for call in seen.calls if call.key == "bank/find"}) == 1


def test_groups_of_both_kinds() -> None:
    async def answer(name: str) -> dict[str, int]:
        await asyncio.sleep(5 if name == "slow" else 0)
        return {"number": len(name)}

    async def main() -> Any:
        return await race(find(name="slow"), find(name="ab"))

    with fakes({"bank/find": answer}):
        assert asyncio.run(main()) == {"number": 2}
        assert hedge(lambda: find(name="slow"), lambda: find(name="abc"), after_ms=10) == {"number": 3}
        assert quorum(lambda: find(name="a"), lambda: find(name="slow"), lambda: find(name="ccc"), k=2) == [
            {"number": 1},
            {"number": 3},
        ]


def test_a_fake_may_wait_for_the_test() -> None:
    async def main() -> Any:
        go = asyncio.Event()

        async def answer(name: str) -> dict[str, int]:
            await go.wait()
            return {"number": 1}

        with fakes({"bank/find": answer}):
            task = asyncio.create_task(find(name="x"))
            await asyncio.sleep(0.01)
            assert not task.done()
            go.set()
            return await task

    assert asyncio.run(main()) == {"number": 1}


judge = Reasoner("judge", "test:one", "Judge.", reply=int)
clerk = Agent("clerk", "test:one", "Work.", tools=[find, gated(pay)])


def test_models_answer_in_order() -> None:
    asked = {"tool_calls": [{"id": "1", "name": "bank__find", "arguments": {"name": "x"}}]}
    with fakes({"bank/find": {"number": 9}}, models=["no number", "7", asked, "found"]) as seen:
        assert think(judge, {"a": 1}) == 7
        assert clerk("Find x.") == "found"
    assert seen.called("bank/find") == [{"name": "x"}]
    assert [entry.kind for entry in seen.trace] == ["think", "call", "agent"]


@flow(entry=False)
def delegated(task: str) -> str:
    """Hand a task to the clerk."""
    return str(clerk(task))


def test_agents_hand_work_to_agents_through_flows() -> None:
    asked = {"tool_calls": [{"id": "1", "name": "delegated", "arguments": '{"task": "x"}'}]}
    boss = Agent("boss", "test:one", "Lead.", tools=[delegated])
    with fakes({}, models=[asked, "worked", "thanks"]) as seen:
        assert boss("Go.") == "thanks"
    assert [(entry.kind, entry.name) for entry in seen.trace] == [("agent", "clerk"), ("agent", "boss")]


def test_outside_there_is_no_runtime() -> None:
    with fakes({}):
        pass
    with pytest.raises(NoRuntime):
        pay(payee="a", amount=1)


def test_a_project_can_be_given(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with fakes(ANSWERS, approvals=[False], project=project):
        assert settle_sync("x") == "denied"


class WithUnittest(unittest.IsolatedAsyncioTestCase):
    async def test_async(self) -> None:
        with fakes(ANSWERS, approvals=[True]) as seen:
            assert await settle("T-2") == "paid"
        assert len(seen.calls) == 2

    async def test_parallel(self) -> None:
        with fakes(ANSWERS, approvals=[True, True]) as seen:
            assert await asyncio.gather(settle("a"), settle("b")) == ["paid", "paid"]
        assert len(seen.called("bank/pay")) == 2
