"""The table of states, and what an admission makes of each of them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.runtime.model import Admission, Decision, Operation, OperationState
from keel.runtime.states import LEADS_TO, Held, OperationStateError, abandoned, admit, begin, observed, settle

S = OperationState
WORDS: Mapping[str, str] = {
    "reserved": "executing failed_safe_to_retry",
    "executing": "succeeded rejected failed_safe_to_retry outcome_unknown",
    "outcome_unknown": "reconciled_succeeded reconciled_not_applied succeeded rejected",
    "succeeded": "",
    "rejected": "",
    "reconciled_succeeded": "",
    "failed_safe_to_retry": "reserved",
    "reconciled_not_applied": "reserved",
}
"""The table once more, as the documentation has it."""


def held(state: OperationState, *, repeatable: bool = False, attempt: int = 1, lease_until: float = 100.0) -> Held:
    operation = Operation(
        key="k", call_id="c", tool="t", state=state, tenant="a", subject="b", arguments_digest="d", attempt=attempt
    )
    return Held(operation=operation, repeatable=repeatable, lease_s=60.0, lease_until=lease_until)


def asked(*, repeatable: bool = False) -> Admission:
    return Admission(
        key="k", call_id="c", tool="t", definition="x", arguments_digest="d", tenant="a", subject="b",
        repeatable=repeatable,
    )  # fmt: skip


def test_the_table() -> None:
    assert {str(state): {*map(str, following)} for state, following in LEADS_TO.items()} == {
        state: set(following.split()) for state, following in WORDS.items()
    }
    assert set(LEADS_TO) == set(OperationState)


def test_final_states_lead_nowhere() -> None:
    for state, following in LEADS_TO.items():
        assert state.final == (not following)


@pytest.mark.parametrize(
    ("state", "repeatable", "late", "decision"),
    [
        (S.RESERVED, False, False, Decision.IN_PROGRESS),
        (S.RESERVED, False, True, Decision.ADMITTED),
        (S.EXECUTING, False, False, Decision.IN_PROGRESS),
        (S.EXECUTING, True, False, Decision.IN_PROGRESS),
        (S.EXECUTING, False, True, Decision.OUTCOME_UNKNOWN),
        (S.EXECUTING, True, True, Decision.ADMITTED),
        (S.OUTCOME_UNKNOWN, False, False, Decision.OUTCOME_UNKNOWN),
        (S.OUTCOME_UNKNOWN, True, False, Decision.ADMITTED),
        (S.SUCCEEDED, True, True, Decision.RECORDED),
        (S.REJECTED, True, True, Decision.RECORDED),
        (S.RECONCILED_SUCCEEDED, True, True, Decision.RECORDED),
        (S.FAILED_SAFE_TO_RETRY, False, False, Decision.ADMITTED),
        (S.RECONCILED_NOT_APPLIED, False, False, Decision.ADMITTED),
    ],
)
def test_what_an_admission_makes_of_each(
    state: OperationState, repeatable: bool, late: bool, decision: Decision
) -> None:
    verdict = admit(held(state, repeatable=repeatable), asked(repeatable=repeatable), 101.0 if late else 99.0)
    assert verdict.decision is decision
    if decision is Decision.ADMITTED:
        assert (verdict.held.state, verdict.held.operation.attempt) == (S.RESERVED, 2)
    elif decision is Decision.OUTCOME_UNKNOWN:
        assert verdict.held.state is S.OUTCOME_UNKNOWN
    else:
        assert verdict.held.state is state


def test_a_new_one_is_reserved_for_its_lease() -> None:
    verdict = admit(None, asked(), 10.0)
    assert (verdict.decision, verdict.held.state, verdict.held.lease_until) == (Decision.ADMITTED, S.RESERVED, 70.0)
    assert begin(verdict.held, "k", 1, 50.0).lease_until == 110.0


@given(st.sampled_from(OperationState), st.sampled_from(OperationState), st.sampled_from([None, 1, 2]))
def test_settling_follows_the_table(state: OperationState, wanted: OperationState, attempt: int | None) -> None:
    allowed = wanted in LEADS_TO[state] and wanted not in (S.RESERVED, S.EXECUTING)
    if attempt != 2 and (allowed or wanted is state):
        settled = settle(held(state), "k", wanted, None, attempt, 5.0)
        assert (settled.state, settled.operation.attempt) == (wanted, 1)
    else:
        with pytest.raises(OperationStateError):
            settle(held(state), "k", wanted, None, attempt, 5.0)


@given(st.sampled_from(OperationState))
def test_only_a_reserved_one_begins(state: OperationState) -> None:
    if state is S.RESERVED:
        assert begin(held(state), "k", None, 1.0).state is S.EXECUTING
    else:
        with pytest.raises(OperationStateError):
            begin(held(state), "k", None, 1.0)


@given(st.sampled_from(OperationState), st.booleans())
def test_what_is_abandoned_while_executing_is_unknown(state: OperationState, late: bool) -> None:
    now = 100.0 if late else 99.9
    assert abandoned(held(state), now) == (late and state in (S.RESERVED, S.EXECUTING))
    expected = S.OUTCOME_UNKNOWN if late and state is S.EXECUTING else state
    assert observed(held(state), now).state is expected


def test_nothing_comes_of_nothing() -> None:
    with pytest.raises(OperationStateError, match="no operation"):
        begin(None, "k", None, 1.0)
    with pytest.raises(OperationStateError, match="no operation"):
        settle(None, "k", S.SUCCEEDED, None, None, 1.0)
