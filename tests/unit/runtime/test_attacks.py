"""Attacks on the pipeline from beside it: objects that change, secrets at the edge of a cut, approvals of others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from keel.runtime.keys import arguments_digest
from keel.runtime.model import ApprovalRequest, ErrorCode, GateUse, ToolCall, TrustedContext
from keel.runtime.native import InProcessTools
from keel.runtime.ports import AnswerLost, PolicyRuling, Reply, Ruling
from tests.unit.runtime.world import World, world

SECRET = "s3cr3t-0123456789-abcdefghijklmnop"


class Meddling:
    """A policy that changes what it is asked about, and what the caller holds."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.held = held

    async def rule(self, call: ToolCall, trusted: TrustedContext) -> PolicyRuling:
        del trusted
        self.held["q"] = "of the caller's object"
        call.arguments["q"] = "of the policy's object"  # type: ignore[index]
        return PolicyRuling(Ruling.ALLOW)


def test_what_was_checked_is_sent_whatever_becomes_of_the_callers_objects() -> None:
    held = {"q": "checked"}
    made = world(policy=Meddling(held))
    assert asyncio.run(made.call("shop/note", arguments=held)).ok
    assert held["q"] != "checked"
    assert [item.arguments for item in made.upstream.sent] == [{"q": "checked"}]
    (admitted,) = asyncio.run(made.ledger.operations())
    assert admitted.arguments_digest == arguments_digest({"q": "checked"})


def test_what_was_approved_is_sent_though_the_object_changes_before_and_after_the_answer() -> None:
    async def main() -> None:
        held: dict[str, Any] = {"q": "shown"}
        made = world()
        asked = await made.call("shop/refund", arguments=held)
        assert asked.error is not None
        assert isinstance(asked.error.detail, dict)
        approval = str(asked.error.detail["approval"])
        held["q"] = "changed while somebody read"
        await made.ledger.decide(approval, approved=True, by="bob")
        other = await made.call("shop/refund", "c2", arguments=held)
        assert other.error is not None
        assert other.error.code is ErrorCode.APPROVAL_REQUIRED
        assert made.upstream.sent == []

        held["q"] = "shown"
        running = asyncio.ensure_future(made.call("shop/refund", "c3", arguments=held))
        await asyncio.sleep(0)
        held["q"] = "changed on its way"
        assert (await running).ok
        assert [item.arguments for item in made.upstream.sent] == [{"q": "shown"}]

    asyncio.run(main())


def test_arguments_that_hold_themselves_are_refused() -> None:
    held: dict[str, Any] = {}
    held["q"] = held
    made = world()
    result = asyncio.run(made.call("shop/note", arguments=held))
    assert result.error is not None
    assert result.error.code is ErrorCode.INVALID_ARGUMENTS
    assert made.upstream.sent == []


@pytest.mark.parametrize("before", range(1900, 2001, 7))
def test_no_part_of_a_secret_is_left_where_a_message_is_cut(before: int) -> None:
    words = "x" * before + SECRET
    for reply in (Reply(failed=True, message=words), AnswerLost(words), RuntimeError(words)):
        made = world(secrets=(SECRET,))
        made.upstream.answers["shop/note"] = reply
        assert_clean(made, asyncio.run(made.call("shop/note")))


@pytest.mark.parametrize("before", range(180, 310, 3))
def test_no_part_of_a_secret_is_left_where_a_misfit_is_cut(before: int) -> None:
    made = world(secrets=(SECRET,))
    made.upstream.answers["shop/strict"] = Reply(data={"no": "x" * before + SECRET})
    result = asyncio.run(made.call("shop/strict"))
    assert result.error is not None
    assert result.error.code is ErrorCode.INVALID_RESULT
    assert_clean(made, result)
    refused = asyncio.run(made.call("shop/note", "c2", arguments={"q": {"x" * before + SECRET: 1}}))
    assert refused.error is not None
    assert refused.error.code is ErrorCode.INVALID_ARGUMENTS
    assert_clean(made, refused)


@pytest.mark.parametrize("before", [400, 480, 490, 499])
def test_no_part_of_a_secret_is_left_of_an_exception(before: int) -> None:
    def lookup(q: str) -> str:
        raise ValueError("x" * before + SECRET + q)

    made = world(secrets=(SECRET,))
    made.native.answers["lookup"] = asyncio.run(
        InProcessTools({"lookup": lookup}).call("lookup", {"q": "x"}, idempotency_key="k", timeout_s=5)
    )
    assert_clean(made, asyncio.run(made.call("lookup")))


@pytest.mark.parametrize("secret", ["line\none-of-the-key", "tab\tand##[group]key", "zero\u200bwidth-of-the-key"])
def test_a_secret_that_escaping_changes_is_found_all_the_same(secret: str) -> None:
    made = world(secrets=(secret,))
    made.upstream.answers["shop/note"] = RuntimeError(f"the key is {secret}!")
    result = asyncio.run(made.call("shop/note"))
    assert result.error is not None
    assert "of-the-key" not in result.error.message
    assert "group" not in result.error.message
    assert "the key is \u2039secret\u203a!" in result.error.message


def assert_clean(made: World, result: Any) -> None:
    """Assert that no eight characters of the secret stand anywhere."""
    everything = f"{result!r} {made.audit.events!r} {asyncio.run(made.ledger.operations())!r}"
    parts = [SECRET[start : start + 8] for start in range(len(SECRET) - 7)]
    assert [part for part in parts if part in everything] == []


def test_a_gates_approval_serves_nobody_else(gate_approval: tuple[World, str]) -> None:
    made, approval = gate_approval
    use = GateUse(approval_id=approval, use="site")
    for trusted in (
        TrustedContext(tenant="other", run_id="run-1"),
        TrustedContext(subject="mallory", run_id="run-1"),
        TrustedContext(run_id="run-2"),
    ):
        result = asyncio.run(made.call("shop/refund", trusted=trusted, gate_use=use))
        assert result.error is not None
        assert result.error.code is ErrorCode.APPROVAL_REQUIRED
    assert made.upstream.sent == []
    assert asyncio.run(made.call("shop/refund", gate_use=use)).ok
    again = asyncio.run(made.call("shop/refund", "c2", gate_use=use))
    assert again.error is not None
    assert again.error.code is ErrorCode.APPROVAL_REQUIRED


@pytest.fixture
def gate_approval() -> tuple[World, str]:
    """Return a world, and the approval of a gate of its run."""
    made = world()
    request = ApprovalRequest(tenant="local", subject="local", run_id="run-1", prompt="refund?", gate="f@a.py:1:1")
    record = asyncio.run(made.ledger.ask(request))
    asyncio.run(made.ledger.decide(record.id, approved=True, by="bob"))
    return made, record.id


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"q": 1}, {"q": 1.0}, True),
        ({"q": 0}, {"q": -0.0}, True),
        ({"q": True}, {"q": 1}, False),
        ({"q": "1"}, {"q": 1}, False),
        ({"q": None}, {}, False),
        ({"q": "é"}, {"q": "e\u0301"}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"q": ["a", "b"]}, {"q": ["a,b"]}, False),
        ({"q": 2**53}, {"q": 2**53 + 1}, False),
        ({"q": 0.1 + 0.2}, {"q": 0.3}, False),
    ],
)
def test_equal_data_and_nothing_else_has_an_equal_digest(one: Any, other: Any, *, same: bool) -> None:
    assert (arguments_digest(one) == arguments_digest(other)) is same
