"""What a ledger does in one transaction, whatever database holds it: lock, read, ask the state machine, write."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace

from keel.core.model import Json
from keel.core.text import excerpt
from keel.runtime import questions, states
from keel.runtime.model import (
    Admission,
    Admitted,
    ApprovalRecord,
    ApprovalRequest,
    ApprovalState,
    Decision,
    GateUse,
    Operation,
    OperationState,
)
from keel.runtime.states import Held, OperationStateError
from keel.store.tables import Tables

Now = Callable[[], float]
"""Seconds since the epoch, asked once every lock is held."""

_ID_BYTES = 6
"""Twelve characters, for people to type."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_EXACT = ""
"""The place at which the approval of an exact call is used: there is only one."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed."""

    operations: int
    approvals: int


def admit(tables: Tables, admission: Admission, now: Now) -> Admitted:
    """Consume the approval and reserve the operation, both or neither; see `Ledger.admit`."""
    _storable(admission)
    tables.lock(f"operation {admission.key}")
    held, at = tables.operation(admission.key), now()
    verdict = states.admit(held, admission, at)
    _same_call(tables, admission)
    if verdict.decision is not Decision.ADMITTED:
        if verdict.held is not held:
            tables.put_operation(verdict.held)
        return _answer(verdict.decision, verdict.held.operation)
    decision, approval = _approved(tables, admission, at)
    if decision is not Decision.ADMITTED:
        attempt = verdict.held.operation.attempt
        return Admitted(decision=decision, attempt=attempt, approval=approval)
    tables.put_operation(verdict.held)
    return _answer(Decision.ADMITTED, verdict.held.operation, approval)


def _answer(decision: Decision, operation: Operation, approval: ApprovalRecord | None = None) -> Admitted:
    return Admitted(decision=decision, attempt=operation.attempt, result=operation.result, approval=approval)


def _same_call(tables: Tables, admission: Admission) -> None:
    """Refuse a call id that has made another operation: its recorded result would answer another question."""
    bound = tables.call_key(admission.tenant, admission.subject, admission.call_id, admission.key)
    if bound != admission.key:
        raise OperationStateError(
            f"the call id `{excerpt(admission.call_id)}` has already made another operation",
            hint="give every call an id of its own",
        )


def _storable(admission: Admission) -> None:
    """Refuse names that a database cannot hold, before one of them answers with an error of its own."""
    for name in ("key", "call_id", "tool", "tenant", "subject", "run_id", "definition", "arguments_digest"):
        _text(name, getattr(admission, name))
    if admission.gate_use is not None:
        _text("use", admission.gate_use.use)


def storable(*names: str) -> bool:
    """Tell whether a database can hold these names; no record has others."""
    return all(name.isascii() or not _SURROGATE.search(name) for name in names) and "\0" not in "".join(names)


def _text(name: str, value: str) -> None:
    if not storable(value):
        raise OperationStateError(
            f"{name} `{excerpt(value)}` holds a character that no store can hold", hint="use printable text"
        )


def _approved(tables: Tables, admission: Admission, now: float) -> tuple[Decision, ApprovalRecord | None]:
    if admission.gate_use is not None:
        return _gate(tables, admission, admission.gate_use, now)
    if admission.exact is not None:
        return _exact(tables, admission.exact, admission.key, now)
    return Decision.ADMITTED, None


def _gate(tables: Tables, admission: Admission, use: GateUse, now: float) -> tuple[Decision, ApprovalRecord | None]:
    if not storable(use.approval_id):
        return Decision.APPROVAL_REQUIRED, None
    tables.lock(f"approval {use.approval_id}")
    found = tables.approval(use.approval_id)
    whose = {"tenant": admission.tenant, "subject": admission.subject, "run_id": admission.run_id}
    if found is None or not questions.opens_gate(found, **whose):
        return Decision.APPROVAL_REQUIRED, None
    record = questions.standing(found, now)
    if record.state is ApprovalState.DENIED:
        return Decision.APPROVAL_DENIED, record
    if record.state is not ApprovalState.APPROVED:
        return Decision.APPROVAL_REQUIRED, record
    user = tables.user(record.id, use.use)
    if user is None:
        return Decision.ADMITTED, _used(tables, record, use.use, admission.key)
    return (Decision.ADMITTED if user == admission.key else Decision.APPROVAL_USED), record


def _exact(tables: Tables, request: ApprovalRequest, key: str, now: float) -> tuple[Decision, ApprovalRecord | None]:
    identity = questions.identity(request)
    tables.lock(f"question {identity}")
    earlier = tables.used_by(key, identity)
    if earlier is not None and questions.standing(earlier, now).state is ApprovalState.APPROVED:
        return Decision.ADMITTED, earlier
    record = _standing(tables, identity, now)
    if record is None or record.state is ApprovalState.EXPIRED:
        return Decision.APPROVAL_REQUIRED, _asked(tables, request, identity, now)
    if record.state is ApprovalState.PENDING:
        return Decision.APPROVAL_REQUIRED, record
    tables.spend(record.id)
    if record.state is ApprovalState.DENIED:
        return Decision.APPROVAL_DENIED, record
    return Decision.ADMITTED, _used(tables, record, _EXACT, key)


def _used(tables: Tables, record: ApprovalRecord, place: str, key: str) -> ApprovalRecord:
    tables.use(record.id, place, key)
    return replace(record, uses=record.uses + 1)


def _standing(tables: Tables, identity: str, now: float) -> ApprovalRecord | None:
    """Return the latest of equal questions, locked against its answer."""
    found = tables.latest(identity)
    if found is None:
        return None
    tables.lock(f"approval {found.id}")
    found = tables.approval(found.id)
    return questions.standing(found, now) if found is not None else None


def _asked(tables: Tables, request: ApprovalRequest, identity: str, now: float) -> ApprovalRecord:
    record = ApprovalRecord(id=secrets.token_hex(_ID_BYTES), request=request, asked_at=now)
    tables.add_approval(record, identity)
    return record


def ask(tables: Tables, request: ApprovalRequest, now: Now) -> ApprovalRecord:
    """Record a question, or return the one that is the same already; see `ApprovalStore.ask`."""
    identity = questions.identity(request)
    tables.lock(f"question {identity}")
    at = now()
    record = _standing(tables, identity, at)
    if record is None or record.state in (ApprovalState.DENIED, ApprovalState.EXPIRED):
        return _asked(tables, request, identity, at)
    return record


def decide(tables: Tables, approval_id: str, now: Now, *, approved: bool, by: str, comment: str) -> ApprovalRecord:
    """Answer an open question; see `ApprovalStore.decide`."""
    _text("by", by)
    _text("comment", comment)
    record = None
    if storable(approval_id):
        tables.lock(f"approval {approval_id}")
        record = tables.approval(approval_id)
    answered = questions.decide(record, approval_id, approved=approved, by=by, comment=comment, now=now())
    tables.put_answer(answered)
    return answered


def begin(tables: Tables, key: str, attempt: int | None, now: Now) -> None:
    """Move an admitted operation to `executing`."""
    held = _locked(tables, key)
    tables.put_operation(states.begin(held, key, attempt, now()))


def settle(
    tables: Tables, key: str, state: OperationState, result: Json, *, attempt: int | None, now: Now
) -> Operation:
    """Move an operation to the state in which it ended, and return it."""
    held = _locked(tables, key)
    settled = states.settle(held, key, state, result, attempt, now())
    if settled is not held:
        tables.put_operation(settled)
    return settled.operation


def _locked(tables: Tables, key: str) -> Held | None:
    if not storable(key):
        return None
    tables.lock(f"operation {key}")
    return tables.operation(key)


def unknown(tables: Tables, now: Now) -> tuple[Operation, ...]:
    """Mark abandoned operations, and return all whose outcome is not known, oldest first."""
    for held in tables.operations((OperationState.EXECUTING,)):
        # Only what looks abandoned is locked, and looked at again: it may have been settled meanwhile.
        if states.abandoned(held, now()):
            current = _locked(tables, held.operation.key)
            marked = current and states.observed(current, now())
            if marked is not None and marked is not current:
                tables.put_operation(marked)
    return tuple(held.operation for held in tables.operations((OperationState.OUTCOME_UNKNOWN,)))


def prune(tables: Tables, before: float) -> Pruned:
    """Remove final operations and answered or expired questions that are older than a time.

    A call of a removed operation that comes again is a new one. What is unfinished, unknown, or may be tried again
    stays, however old, and so does a question that can still be answered.
    """
    final = tuple(state for state in OperationState if state.final)
    operations = tables.forget_operations(final, before)
    old = [record for state in ApprovalState for record in tables.approvals(state) if _is_over(record, before)]
    for record in old:
        tables.forget_approval(record.id)
    return Pruned(operations, len(old))


def _is_over(record: ApprovalRecord, before: float) -> bool:
    if record.decided_at is not None:
        return record.decided_at < before
    return questions.standing(record, before).state is ApprovalState.EXPIRED
