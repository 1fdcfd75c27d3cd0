"""What is not known is enquired about, one by one, and settled."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from keel.runtime.model import Operation, OperationState
from keel.runtime.reconcile import Reconciled, reconcile
from keel.runtime.refusal import read_record
from keel.store.ledger_sqlite import SqliteLedger
from tests.fakes.ports import FixedClock
from tests.unit.store.test_ledger import admission

run = asyncio.run


@pytest.fixture
def ledger(tmp_path: Path):
    """Yield a ledger in which `a` to `d` were sent and never answered."""
    clock = FixedClock()
    with SqliteLedger.open(tmp_path / "state", clock) as ledger:
        for key in "abcd":
            run(ledger.admit(admission(key, lease_s=10)))
            run(ledger.executing(key))
            clock.advance(1)
        clock.advance(10)
        yield ledger


def states(ledger: SqliteLedger) -> dict[str, str]:
    return {item.key: str(item.state) for item in run(ledger.operations())}


def test_what_is_found_out_is_settled_and_the_rest_stays(ledger: SqliteLedger) -> None:
    asked = []

    async def enquire(operation: Operation) -> Reconciled | None:
        asked.append(operation.key)
        return {"a": Reconciled(applied=True, result={"error": {}}), "b": Reconciled(applied=False)}.get(operation.key)

    left = run(reconcile(ledger, enquire))
    assert (asked, [item.key for item in left]) == (list("abcd"), ["c", "d"])
    assert states(ledger) == {
        "a": "reconciled_succeeded", "b": "reconciled_not_applied", "c": "outcome_unknown", "d": "outcome_unknown",
    }  # fmt: skip
    assert read_record(run(ledger.admit(admission("a"))).result) == ({"error": {}}, None)
    assert run(ledger.admit(admission("b"))).attempt == 2


def test_an_enquiry_that_fails_keeps_no_other_from_being_made(ledger: SqliteLedger) -> None:
    async def enquire(operation: Operation) -> Reconciled | None:
        if operation.key in "ac":
            raise RuntimeError(operation.key)
        return Reconciled(applied=True)

    with pytest.raises(ExceptionGroup) as caught:
        run(reconcile(ledger, enquire))
    assert [str(error) for error in caught.value.exceptions] == ["a", "c"]
    assert {key for key, state in states(ledger).items() if state == "outcome_unknown"} == {"a", "c"}


def test_an_answer_that_came_meanwhile_stands(ledger: SqliteLedger) -> None:
    async def enquire(operation: Operation) -> Reconciled | None:
        await ledger.settle(operation.key, OperationState.SUCCEEDED, "its own", attempt=1)
        return Reconciled(applied=False)

    assert run(reconcile(ledger, enquire)) == ()
    assert set(states(ledger).values()) == {"succeeded"}
