"""What every ledger does, whatever database holds it: one suite over SQLite and a real PostgreSQL server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.ports import FixedClock
from tests.unit.store.conftest import Open

from keel.errors import KeelError
from keel.runtime.model import (
    Admission,
    Admitted,
    ApprovalRequest,
    ApprovalState,
    Decision,
    GateUse,
    OperationState,
)
from keel.runtime.ports import StoreUnavailable
from keel.store import transactions
from keel.store.ledger_sql import SqlLedger
from keel.store.ledgers import open_ledger
from keel.store.tables import Tables

run = asyncio.run


def admission(key: str = "k", **fields: Any) -> Admission:
    """Return the admission of one operation, its call id derived from its key."""
    plain = {
        "call_id": f"call-{key}", "tool": "bank/pay", "definition": "k1:d", "arguments_digest": "k1:a",
        "tenant": "acme", "subject": "ann", "run_id": "r1",
    }  # fmt: skip
    return Admission(key=key, **{**plain, **fields})


def exact(**fields: Any) -> ApprovalRequest:
    """Return the question about one exact call."""
    plain = {"tenant": "acme", "subject": "ann", "tool": "bank/pay", "definition": "k1:d", "arguments_digest": "k1:a"}
    return ApprovalRequest(**{**plain, **fields})


def gate(**fields: Any) -> ApprovalRequest:
    """Return the question of one gate."""
    plain = {"tenant": "acme", "subject": "ann", "run_id": "r1", "gate": "pay@flow.py:3:4", "prompt": "pay 5?"}
    return ApprovalRequest(**{**plain, **fields})


def admit(ledger: SqlLedger, key: str = "k", **fields: Any) -> Admitted:
    return run(ledger.admit(admission(key, **fields)))


def execute(ledger: SqlLedger, key: str = "k", state: OperationState = OperationState.SUCCEEDED, result: Any = None):
    run(ledger.executing(key))
    run(ledger.settle(key, state, result))


def approved(ledger: SqlLedger, request: ApprovalRequest) -> str:
    """Ask and approve; return the id."""
    asked = run(ledger.ask(request))
    run(ledger.decide(asked.id, approved=True, by="bob"))
    return asked.id


def at_gate(approval: str, place: str) -> GateUse:
    return GateUse(approval_id=approval, use=place)


def refused(code: str) -> Any:
    return pytest.raises(KeelError, check=lambda error: error.code == code)


class TestOperations:
    def test_one_is_admitted_executed_and_recorded(self, ledger: SqlLedger, opened: Open) -> None:
        assert admit(ledger) == Admitted(decision=Decision.ADMITTED)
        execute(ledger, result={"id": 7, "text": "\0 \ud800 ☃"})
        for held in (ledger, opened()):
            again = admit(held, call_id="another")
            assert (again.decision, again.result) == (Decision.RECORDED, {"id": 7, "text": "\0 \ud800 ☃"})
            for call_id in ("call-k", "another"):
                found = run(held.recorded(call_id, tenant="acme", subject="ann"))
                assert found is not None
                assert (found.key, found.state, found.attempt) == ("k", OperationState.SUCCEEDED, 1)

    def test_a_second_one_waits_while_the_first_is_at_work(self, ledger: SqlLedger, opened: Open) -> None:
        admit(ledger)
        other = opened()
        assert admit(other).decision is Decision.IN_PROGRESS
        run(ledger.executing("k"))
        assert admit(other).decision is Decision.IN_PROGRESS

    @pytest.mark.parametrize("state", [state for state in OperationState if state.final and "reconciled" not in state])
    def test_final_ones_are_never_admitted_again(
        self, ledger: SqlLedger, clock: FixedClock, state: OperationState
    ) -> None:
        admit(ledger)
        execute(ledger, state=state, result=1)
        clock.advance(1e9)
        assert admit(ledger).decision is Decision.RECORDED
        with refused("operation-state"):
            run(ledger.executing("k"))
        with refused("operation-state"):
            run(ledger.settle("k", OperationState.FAILED_SAFE_TO_RETRY))

    def test_one_that_failed_safely_is_admitted_again(self, ledger: SqlLedger) -> None:
        admit(ledger)
        execute(ledger, state=OperationState.FAILED_SAFE_TO_RETRY)
        assert (admit(ledger).attempt, run(ledger.operation("k")).state) == (2, OperationState.RESERVED)  # type: ignore[union-attr]

    def test_one_abandoned_before_it_was_sent_is_taken_over(self, ledger: SqlLedger, clock: FixedClock) -> None:
        admit(ledger, lease_s=10)
        clock.advance(9.9)
        assert admit(ledger).decision is Decision.IN_PROGRESS
        clock.advance(0.2)
        assert admit(ledger) == Admitted(decision=Decision.ADMITTED, attempt=2)

    def test_one_that_was_taken_over_is_no_longer_the_first_ones_to_send(
        self, ledger: SqlLedger, clock: FixedClock
    ) -> None:
        first = admit(ledger, lease_s=10).attempt
        clock.advance(11)
        second = admit(ledger).attempt
        with refused("operation-state"):
            run(ledger.executing("k", attempt=first))
        with refused("operation-state"):
            run(ledger.settle("k", OperationState.FAILED_SAFE_TO_RETRY, attempt=first))
        run(ledger.executing("k", attempt=second))
        with refused("operation-state"):  # nor can it be sent twice by one
            run(ledger.executing("k", attempt=second))

    def test_one_abandoned_while_executing_is_unknown_and_blocks(self, ledger: SqlLedger, clock: FixedClock) -> None:
        admit(ledger, lease_s=10)
        clock.advance(9)
        run(ledger.executing("k"))  # the lease counts from here
        clock.advance(9)
        assert admit(ledger).decision is Decision.IN_PROGRESS
        clock.advance(2)
        for _ in range(2):
            assert admit(ledger).decision is Decision.OUTCOME_UNKNOWN
        clock.advance(1e9)
        assert admit(ledger).decision is Decision.OUTCOME_UNKNOWN

    def test_a_repeatable_one_is_tried_again(self, ledger: SqlLedger, clock: FixedClock) -> None:
        admit(ledger, lease_s=10, repeatable=True)
        run(ledger.executing("k"))
        clock.advance(11)
        assert admit(ledger, repeatable=True) == Admitted(decision=Decision.ADMITTED, attempt=2)
        run(ledger.executing("k", attempt=2))
        run(ledger.settle("k", OperationState.OUTCOME_UNKNOWN, attempt=2))
        assert admit(ledger, repeatable=True).attempt == 3

    def test_a_contract_that_was_loosened_later_does_not_make_a_lost_call_repeatable(
        self, ledger: SqlLedger, clock: FixedClock
    ) -> None:
        admit(ledger, lease_s=10)
        run(ledger.executing("k"))
        clock.advance(11)
        assert admit(ledger, repeatable=True).decision is Decision.OUTCOME_UNKNOWN

    def test_an_answer_that_comes_after_all_is_taken(self, ledger: SqlLedger, clock: FixedClock) -> None:
        admit(ledger, lease_s=10)
        run(ledger.executing("k", attempt=1))
        clock.advance(11)
        assert [item.key for item in run(ledger.unknown())] == ["k"]
        with refused("operation-state"):
            run(ledger.settle("k", OperationState.FAILED_SAFE_TO_RETRY, attempt=1))
        run(ledger.settle("k", OperationState.SUCCEEDED, "late", attempt=1))
        assert admit(ledger).result == "late"

    def test_saying_the_same_again_changes_nothing(self, ledger: SqlLedger, clock: FixedClock) -> None:
        admit(ledger)
        execute(ledger, result=[1])
        before = run(ledger.operation("k"))
        clock.advance(5)
        run(ledger.settle("k", OperationState.SUCCEEDED, [1]))
        assert run(ledger.operation("k")) == before
        with refused("operation-state"):
            run(ledger.settle("k", OperationState.SUCCEEDED, [2]))

    def test_what_was_not_admitted_cannot_be_executed_or_settled(self, ledger: SqlLedger) -> None:
        for key in ("nothing", "\ud800", "a\0b"):
            with refused("operation-state"):
                run(ledger.executing(key))
            with refused("operation-state"):
                run(ledger.settle(key, OperationState.SUCCEEDED))
            assert run(ledger.operation(key)) is None
            assert run(ledger.recorded(key)) is None

    def test_a_call_id_makes_one_operation(self, ledger: SqlLedger) -> None:
        admit(ledger)
        with refused("operation-state"):
            admit(ledger, "other", call_id="call-k")
        assert run(ledger.operation("other")) is None

    def test_a_key_stands_for_one_call(self, ledger: SqlLedger) -> None:
        admit(ledger)
        for change in ({"tenant": "evil"}, {"subject": "eve"}, {"tool": "bank/wipe"}, {"arguments_digest": "k1:b"}):
            with refused("operation-state"):
                admit(ledger, call_id="new", **change)

    @pytest.mark.parametrize("name", ["key", "call_id", "tool", "tenant", "subject", "run_id"])
    @pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
    def test_names_that_no_database_holds_are_refused(self, ledger: SqlLedger, name: str, bad: str) -> None:
        with refused("operation-state"):
            run(ledger.admit(replace(admission(), **{name: bad})))
        assert run(ledger.operations()) == ()

    def test_tenants_and_subjects_see_nothing_of_each_other(self, ledger: SqlLedger) -> None:
        admit(ledger, call_id="1")
        execute(ledger, result="acme's")
        assert run(ledger.recorded("1", tenant="other", subject="ann")) is None
        assert run(ledger.recorded("1", tenant="acme", subject="eve")) is None
        assert run(ledger.recorded("1")) is None
        assert admit(ledger, "k2", call_id="1", tenant="other").decision is Decision.ADMITTED

    def test_unknown_ones_are_listed_oldest_first(self, ledger: SqlLedger, clock: FixedClock) -> None:
        for key in ("b", "a", "c"):
            admit(ledger, key, lease_s=10)
            run(ledger.executing(key))
            clock.advance(1)
        run(ledger.settle("a", OperationState.OUTCOME_UNKNOWN))
        assert [item.key for item in run(ledger.unknown())] == ["a"]
        clock.advance(100)
        assert [item.key for item in run(ledger.unknown())] == ["a", "b", "c"]

    def test_an_unknown_one_is_settled_either_way(self, ledger: SqlLedger) -> None:
        for key, state, decision in (
            ("a", OperationState.RECONCILED_SUCCEEDED, Decision.RECORDED),
            ("b", OperationState.RECONCILED_NOT_APPLIED, Decision.ADMITTED),
        ):
            admit(ledger, key)
            execute(ledger, key, OperationState.OUTCOME_UNKNOWN)
            run(ledger.settle(key, state))
            assert admit(ledger, key).decision is decision


class TestGates:
    def test_one_use_for_each_place(self, ledger: SqlLedger) -> None:
        approval = approved(ledger, gate())
        for key, place, decision in (
            ("a", "s1", Decision.ADMITTED),
            ("b", "s1", Decision.APPROVAL_USED),
            ("b", "s2", Decision.ADMITTED),
        ):
            given = admit(ledger, key, gate_use=at_gate(approval, place))
            assert given.decision is decision
            assert given.approval is not None
        found = run(ledger.approval(approval))
        assert found is not None
        assert (found.uses, found.by, found.state) == (2, "bob", ApprovalState.APPROVED)

    def test_the_same_operation_uses_it_again(self, ledger: SqlLedger, clock: FixedClock) -> None:
        use = at_gate(approved(ledger, gate()), "s1")
        admit(ledger, gate_use=use)
        execute(ledger, state=OperationState.FAILED_SAFE_TO_RETRY)
        assert admit(ledger, gate_use=use).attempt == 2
        clock.advance(1e6)  # abandoned
        assert admit(ledger, gate_use=use).attempt == 3
        execute(ledger)
        assert admit(ledger, gate_use=use).decision is Decision.RECORDED
        assert run(ledger.approval(use.approval_id)).uses == 1  # type: ignore[union-attr]

    @pytest.mark.parametrize("change", [{"tenant": "other"}, {"run_id": "r2"}])
    def test_it_holds_for_its_own_tenant_and_run_only(self, ledger: SqlLedger, change: dict[str, str]) -> None:
        use = at_gate(approved(ledger, gate()), "s1")
        given = admit(ledger, gate_use=use, **change)
        assert (given.decision, given.approval) == (Decision.APPROVAL_REQUIRED, None)
        assert run(ledger.operation("k")) is None

    def test_nothing_is_admitted_by_what_is_no_approved_gate(self, ledger: SqlLedger, clock: FixedClock) -> None:
        pending = run(ledger.ask(gate(occurrence="1"))).id
        denied = run(ledger.ask(gate(occurrence="2"))).id
        run(ledger.decide(denied, approved=False, by="bob", comment="no"))
        late = approved(ledger, gate(occurrence="3", expires_at=clock.now() + 5))
        of_a_call = approved(ledger, exact(run_id="r1"))
        clock.advance(6)
        for approval, decision in (
            (pending, Decision.APPROVAL_REQUIRED),
            (denied, Decision.APPROVAL_DENIED),
            (late, Decision.APPROVAL_REQUIRED),
            (of_a_call, Decision.APPROVAL_REQUIRED),
            ("nothing", Decision.APPROVAL_REQUIRED),
            ("a\0\ud800", Decision.APPROVAL_REQUIRED),
        ):
            assert admit(ledger, gate_use=at_gate(approval, "s1")).decision is decision
        assert run(ledger.operations()) == ()

    def test_the_time_to_answer_does_not_end_what_was_approved(self, ledger: SqlLedger, clock: FixedClock) -> None:
        request = gate(answer_by=clock.now() + 5)
        approval = approved(ledger, request)
        clock.advance(6)
        assert admit(ledger, gate_use=at_gate(approval, "s1")).decision is Decision.ADMITTED
        late = run(ledger.ask(replace(request, occurrence="2"))).id
        assert run(ledger.approval(late)).state is ApprovalState.EXPIRED  # type: ignore[union-attr]

    def test_the_same_question_is_asked_once(self, ledger: SqlLedger, opened: Open) -> None:
        first = run(ledger.ask(gate()))
        assert run(opened().ask(gate())) == first
        approved_ = run(ledger.decide(first.id, approved=True, by="bob"))
        assert run(ledger.ask(gate())) == approved_
        for change in (
            {"tenant": "t"}, {"subject": "s"}, {"run_id": "r"}, {"gate": "g"}, {"occurrence": "2"}, {"prompt": "pay 6?"},
            {"show": [6]},
        ):  # fmt: skip
            assert run(ledger.ask(gate(**change))).id != first.id

    def test_a_denied_or_expired_question_is_asked_again(self, ledger: SqlLedger, clock: FixedClock) -> None:
        first = run(ledger.ask(gate(expires_at=clock.now() + 5))).id
        clock.advance(6)
        second = run(ledger.ask(gate())).id
        run(ledger.decide(second, approved=False, by="bob"))
        third = run(ledger.ask(gate())).id
        assert len({first, second, third}) == 3


class TestExactCalls:
    def test_asked_approved_and_used_once(self, ledger: SqlLedger) -> None:
        asked = admit(ledger, exact=exact(show={"amount": 5}))
        assert asked.decision is Decision.APPROVAL_REQUIRED
        assert asked.approval is not None
        assert asked.approval.request.show == {"amount": 5}
        assert admit(ledger, exact=exact()).approval == asked.approval  # nobody is asked twice
        run(ledger.decide(asked.approval.id, approved=True, by="bob"))
        given = admit(ledger, exact=exact())
        assert given.decision is Decision.ADMITTED
        assert given.approval is not None
        assert (given.approval.id, given.approval.by, given.approval.uses) == (asked.approval.id, "bob", 1)
        execute(ledger)
        again = admit(ledger, "k2", exact=exact())
        assert again.decision is Decision.APPROVAL_REQUIRED
        assert again.approval is not None
        assert again.approval.id != asked.approval.id

    @pytest.mark.parametrize(
        "change",
        [
            {"tenant": "t"},
            {"subject": "s"},
            {"tool": "bank/wipe"},
            {"definition": "k1:e"},
            {"arguments_digest": "k1:b"},
        ],
    )
    def test_it_holds_for_that_call_only(self, ledger: SqlLedger, change: dict[str, str]) -> None:
        approval = approved(ledger, exact())
        other = admit(ledger, "k2", exact=exact(**change), **change)
        assert other.decision is Decision.APPROVAL_REQUIRED
        assert other.approval is not None
        assert other.approval.id != approval
        assert admit(ledger, exact=exact()).decision is Decision.ADMITTED

    def test_a_retry_of_the_operation_uses_it_again(self, ledger: SqlLedger) -> None:
        approval = approved(ledger, exact())
        admit(ledger, exact=exact())
        execute(ledger, state=OperationState.FAILED_SAFE_TO_RETRY)
        retried = admit(ledger, exact=exact())
        assert (retried.decision, retried.attempt) == (Decision.ADMITTED, 2)
        assert retried.approval is not None
        assert (retried.approval.id, retried.approval.uses) == (approval, 1)

    def test_a_retry_with_another_definition_needs_another_approval(self, ledger: SqlLedger) -> None:
        approved(ledger, exact())
        admit(ledger, exact=exact())
        execute(ledger, state=OperationState.FAILED_SAFE_TO_RETRY)
        changed = {"definition": "k1:e"}
        assert admit(ledger, exact=exact(**changed), **changed).decision is Decision.APPROVAL_REQUIRED
        assert run(ledger.operation("k")).state is OperationState.FAILED_SAFE_TO_RETRY  # type: ignore[union-attr]

    def test_a_denial_is_told_once(self, ledger: SqlLedger) -> None:
        asked = admit(ledger, exact=exact()).approval
        assert asked is not None
        run(ledger.decide(asked.id, approved=False, by="bob", comment="too much"))
        denied = admit(ledger, exact=exact())
        assert denied.decision is Decision.APPROVAL_DENIED
        assert denied.approval is not None
        assert (denied.approval.by, denied.approval.comment) == ("bob", "too much")
        assert admit(ledger, exact=exact()).decision is Decision.APPROVAL_REQUIRED

    @pytest.mark.parametrize("answered", [False, True])
    def test_one_that_expired_is_asked_again(self, ledger: SqlLedger, clock: FixedClock, answered: bool) -> None:
        request = exact(expires_at=clock.now() + 5)
        first = approved(ledger, request) if answered else run(ledger.ask(request)).id
        clock.advance(6)
        again = admit(ledger, exact=replace(request, expires_at=clock.now() + 5))
        assert again.decision is Decision.APPROVAL_REQUIRED
        assert again.approval is not None
        assert again.approval.id != first

    def test_a_gate_that_covers_the_call_is_enough(self, ledger: SqlLedger) -> None:
        use = at_gate(approved(ledger, gate()), "s1")
        assert admit(ledger, gate_use=use, exact=exact()).decision is Decision.ADMITTED
        assert run(ledger.pending()) == ()


class TestAnswers:
    def test_open_questions_are_listed_oldest_first(self, ledger: SqlLedger, clock: FixedClock) -> None:
        first = run(ledger.ask(gate(occurrence="1")))
        clock.advance(1)
        second = run(ledger.ask(exact(show={"a": "\0\ud800"})))
        run(ledger.ask(gate(occurrence="2", expires_at=clock.now() + 5)))
        run(ledger.decide(run(ledger.ask(gate(occurrence="3"))).id, approved=False, by="bob"))
        clock.advance(6)
        assert run(ledger.pending()) == (first, second)

    def test_an_answer_stands(self, ledger: SqlLedger, opened: Open, clock: FixedClock) -> None:
        asked = run(ledger.ask(gate(expires_at=clock.now() + 5)))
        run(ledger.decide(asked.id, approved=False, by="bob"))
        other = opened()
        with refused("approval-decided"):
            run(other.decide(asked.id, approved=True, by="eve"))
        clock.advance(6)
        found = run(other.approval(asked.id))
        assert found is not None
        assert (found.state, found.by, found.decided_at) == (ApprovalState.DENIED, "bob", clock.now() - 6)

    def test_answers_that_cannot_be_taken(self, ledger: SqlLedger, clock: FixedClock) -> None:
        asked = run(ledger.ask(gate(expires_at=clock.now() + 5)))
        for name in ("nothing", "", "a\0b", "\ud800"):
            with refused("approval-unknown"):
                run(ledger.decide(name, approved=True, by="bob"))
            assert run(ledger.approval(name)) is None
        clock.advance(5)
        with refused("approval-expired"):
            run(ledger.decide(asked.id, approved=True, by="bob"))

    def test_of_many_answers_at_once_one_is_taken(self, ledger: SqlLedger) -> None:
        asked = run(ledger.ask(gate()))

        async def everybody() -> list[object]:
            answers = [ledger.decide(asked.id, approved=bool(at % 2), by=str(at)) for at in range(20)]
            return await asyncio.gather(*answers, return_exceptions=True)

        taken = [answer for answer in run(everybody()) if not isinstance(answer, Exception)]
        assert len(taken) == 1
        assert run(ledger.approval(asked.id)) == taken[0]


class TestPruning:
    def test_only_what_is_over_and_old_goes(self, ledger: SqlLedger, clock: FixedClock) -> None:
        wanted = {
            "s": OperationState.SUCCEEDED,
            "r": OperationState.REJECTED,
            "f": OperationState.FAILED_SAFE_TO_RETRY,
            "u": OperationState.OUTCOME_UNKNOWN,
        }
        for key, state in wanted.items():
            admit(ledger, key)
            execute(ledger, key, state)
        admit(ledger, "open")
        used = approved(ledger, gate(occurrence="used"))
        admit(ledger, "gated", gate_use=at_gate(used, "s1"))
        waiting = run(ledger.ask(gate(occurrence="waiting"))).id
        over = run(ledger.ask(gate(occurrence="over", expires_at=clock.now() + 1))).id
        clock.advance(10)
        admit(ledger, "young")
        execute(ledger, "young")
        pruned = run(ledger.prune(clock.now() - 5))
        assert (pruned.operations, pruned.approvals) == (2, 2)
        assert {item.key for item in run(ledger.operations())} == {"f", "u", "open", "gated", "young"}
        assert run(ledger.recorded("call-s", tenant="acme", subject="ann")) is None
        assert [run(ledger.approval(item)) is None for item in (used, waiting, over)] == [True, False, True]
        assert admit(ledger, "new", gate_use=at_gate(used, "s2")).decision is Decision.APPROVAL_REQUIRED
        assert admit(ledger, "s").attempt == 1


class TestTogether:
    def test_of_fifty_tasks_in_several_ledgers_one_is_admitted(self, opened: Open) -> None:
        ledgers = [opened() for _ in range(3)]

        async def everybody() -> list[Admitted]:
            return await asyncio.gather(*(ledgers[at % 3].admit(admission(call_id=f"c{at}")) for at in range(50)))

        decisions = Counter(item.decision for item in run(everybody()))
        assert decisions == {Decision.ADMITTED: 1, Decision.IN_PROGRESS: 49}

    def test_of_fifty_threads_one_uses_the_approval(self, ledger: SqlLedger) -> None:
        use = at_gate(approved(ledger, gate()), "s1")

        def one(at: int) -> Decision:
            return admit(ledger, f"k{at}", gate_use=use).decision

        with ThreadPoolExecutor(50) as pool:
            decisions = Counter(pool.map(one, range(50)))
        assert decisions == {Decision.ADMITTED: 1, Decision.APPROVAL_USED: 49}

    def test_round_after_round_one_of_several_uses_the_approval_and_one_answer_is_taken(
        self, ledger: SqlLedger, opened: Open
    ) -> None:
        ledgers = (ledger, opened())

        async def rounds() -> list[tuple[list[object], list[object]]]:
            done = []
            for at in range(40):
                asked = await ledger.ask(gate(occurrence=f"{at}"))
                answers = [ledgers[who % 2].decide(asked.id, approved=True, by=f"{who}") for who in range(6)]
                taken = await asyncio.gather(*answers, return_exceptions=True)
                calls = [
                    ledgers[who % 2].admit(admission(f"k{at}-{who}", gate_use=at_gate(asked.id, "s1")))
                    for who in range(6)
                ]
                done.append((taken, await asyncio.gather(*calls, return_exceptions=True)))
            return done

        for taken, calls in run(rounds()):
            codes = sorted(getattr(item, "code", "taken") for item in taken)
            assert codes == [*["approval-decided"] * 5, "taken"]
            assert Counter(getattr(item, "decision", item) for item in calls) == {
                Decision.ADMITTED: 1,
                Decision.APPROVAL_USED: 5,
            }

    def test_of_equal_questions_asked_at_once_one_is_recorded(self, ledger: SqlLedger, opened: Open) -> None:
        other = opened()

        async def everybody() -> set[str]:
            asked = [(ledger, other)[at % 2].admit(admission(f"k{at}", exact=exact())) for at in range(30)]
            return {item.approval.id for item in await asyncio.gather(*asked) if item.approval}

        assert len(run(everybody())) == 1
        assert len(run(ledger.pending())) == 1

    def test_of_a_call_id_used_for_many_keys_at_once_one_operation_is_made(
        self, ledger: SqlLedger, opened: Open
    ) -> None:
        other = opened()

        async def everybody() -> list[object]:
            calls = [(ledger, other)[at % 2].admit(admission(f"k{at}", call_id="same")) for at in range(30)]
            return await asyncio.gather(*calls, return_exceptions=True)

        done = run(everybody())
        assert sum(isinstance(item, Admitted) for item in done) == 1
        assert {item.code for item in done if isinstance(item, KeelError)} == {"operation-state"}
        assert len(run(ledger.operations())) == 1

    def test_of_several_processes_one_is_admitted(self, url: str, ledger: SqlLedger) -> None:
        program = (
            "import asyncio, sys\n"
            "from tests.unit.store.test_ledger import admission\n"
            "from tests.fakes.ports import FixedClock\n"
            "from keel.store.ledgers import open_ledger\n"
            "with open_ledger(sys.argv[1], FixedClock()) as ledger:\n"
            "    sys.stdin.readline()\n"
            "    async def main():\n"
            "        calls = [ledger.admit(admission(f'k{at}', call_id=f'{sys.argv[2]}-{at}')) for at in range(20)]\n"
            "        return await asyncio.gather(*calls)\n"
            "    print(*[item.decision for item in asyncio.run(main())])\n"
        )
        children = [
            subprocess.Popen(
                [sys.executable, "-c", program, url, str(at)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for at in range(4)
        ]
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        decisions = [child.communicate(timeout=60)[0].split() for child in children]
        assert [sorted(each) for each in zip(*decisions, strict=True)] == [
            ["admitted", "in_progress", "in_progress", "in_progress"]
        ] * 20
        assert len(run(ledger.operations())) == 20


def test_one_failure_does_not_undo_its_neighbours(ledger: SqlLedger) -> None:
    async def several() -> list[object]:
        calls = [ledger.admit(admission(f"k{at}", call_id=f"c{at // 2}")) for at in range(20)]
        return await asyncio.gather(*calls, return_exceptions=True)

    done = run(several())
    assert sum(isinstance(item, Admitted) for item in done) == 10
    assert len(run(ledger.operations())) == 10


def test_what_fails_after_it_wrote_leaves_nothing(ledger: SqlLedger) -> None:
    def writes_and_fails(tables: Tables) -> None:
        transactions.admit(tables, admission("failed"), lambda: 1.0)
        raise ZeroDivisionError

    async def several() -> list[object]:
        works = [ledger.admit(admission("before")), ledger._write(writes_and_fails), ledger.admit(admission("after"))]
        return await asyncio.gather(*works, return_exceptions=True)

    done = run(several())
    assert isinstance(done[1], ZeroDivisionError)
    assert {item.key for item in run(ledger.operations())} == {"before", "after"}


def test_a_caller_that_gave_up_leaves_a_reservation_that_is_taken_over(ledger: SqlLedger, clock: FixedClock) -> None:
    async def gives_up() -> None:
        task = asyncio.create_task(ledger.admit(admission(lease_s=1)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(gives_up())
    deadline = time.monotonic() + 0.2  # what no thread had begun is never done
    while not run(ledger.operations()) and time.monotonic() < deadline:
        time.sleep(0.01)
    clock.advance(2)
    assert admit(ledger).decision is Decision.ADMITTED


def test_a_closed_store_says_so(ledger: SqlLedger) -> None:
    ledger.close()
    with pytest.raises(StoreUnavailable):
        admit(ledger)
    ledger.close()


@pytest.mark.parametrize("bad", ["mysql://host/db", "http://x"])
def test_urls_of_other_kinds_are_refused(bad: str, clock: FixedClock) -> None:
    with refused("usage"):
        open_ledger(bad, clock)
