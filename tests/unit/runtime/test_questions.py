"""When two questions are the same, how one stands, and which answers are taken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keel.runtime.model import ApprovalRecord, ApprovalRequest, ApprovalState
from keel.runtime.questions import ApprovalError, decide, identity, opens_gate, standing

GATE = ApprovalRequest(tenant="t", subject="s", run_id="r", gate="g", prompt="pay 5?", show={"amount": 5})
EXACT = ApprovalRequest(tenant="t", subject="s", tool="pay", definition="d", arguments_digest="a", show={"amount": 5})


@pytest.mark.parametrize("request_", [GATE, EXACT])
@pytest.mark.parametrize(
    "name", ["tenant", "subject", "run_id", "gate", "definition", "arguments_digest", "occurrence"]
)
def test_another_binding_is_another_question(request_: ApprovalRequest, name: str) -> None:
    assert identity(replace(request_, **{name: "other"})) != identity(request_)


def test_a_gate_is_what_it_shows_and_a_call_is_its_digests() -> None:
    for change in ({"prompt": "pay 6?"}, {"show": {"amount": 6}}):
        assert identity(replace(GATE, **change)) != identity(GATE)
        assert identity(replace(EXACT, **change)) == identity(EXACT)
    for request in (GATE, EXACT):
        assert identity(replace(request, expires_at=5.0, answer_by=5.0)) == identity(request)


@pytest.mark.parametrize(
    ("state", "limits", "expected"),
    [
        ("pending", {}, "pending"),
        ("pending", {"expires_at": 10.0}, "expired"),
        ("pending", {"expires_at": 10.1}, "pending"),
        ("pending", {"answer_by": 10.0}, "expired"),
        ("approved", {"answer_by": 1.0}, "approved"),
        ("approved", {"expires_at": 10.0}, "expired"),
        ("denied", {"expires_at": 1.0, "answer_by": 1.0}, "denied"),
    ],
)
def test_how_a_question_stands(state: str, limits: dict[str, Any], expected: str) -> None:
    record = ApprovalRecord(id="i", request=replace(GATE, **limits), state=ApprovalState(state))
    assert standing(record, 10.0).state == expected


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (None, "approval-unknown"),
        (ApprovalRecord(id="i", request=GATE, state=ApprovalState.APPROVED, by="eve\x1b"), "approval-decided"),
        (ApprovalRecord(id="i", request=GATE, state=ApprovalState.DENIED), "approval-decided"),
        (ApprovalRecord(id="i", request=replace(GATE, answer_by=10.0)), "approval-expired"),
    ],
)
def test_answers_that_are_not_taken(record: ApprovalRecord | None, code: str) -> None:
    with pytest.raises(ApprovalError) as caught:
        decide(record, "i\x1b[31m", approved=True, by="bob", comment="", now=10.0)
    assert caught.value.code == code
    assert caught.value.message.isprintable()
    assert caught.value.hint


@pytest.mark.parametrize(("approved", "state"), [(True, ApprovalState.APPROVED), (False, ApprovalState.DENIED)])
def test_an_answer_is_kept_with_who_gave_it(approved: bool, state: ApprovalState) -> None:
    record = decide(ApprovalRecord(id="i", request=GATE), "i", approved=approved, by="bob", comment="fine", now=10.0)
    assert (record.state, record.by, record.comment, record.decided_at) == (state, "bob", "fine", 10.0)


def test_only_a_gate_of_that_tenant_and_run_opens() -> None:
    assert opens_gate(ApprovalRecord(id="i", request=GATE), tenant="t", subject="s", run_id="r")
    assert not opens_gate(ApprovalRecord(id="i", request=GATE), tenant="u", subject="s", run_id="r")
    assert not opens_gate(ApprovalRecord(id="i", request=GATE), tenant="t", subject="u", run_id="r")
    assert not opens_gate(ApprovalRecord(id="i", request=GATE), tenant="t", subject="s", run_id="q")
    assert not opens_gate(ApprovalRecord(id="i", request=EXACT), tenant="t", subject="s", run_id="")
    assert not opens_gate(None, tenant="t", subject="s", run_id="r")
