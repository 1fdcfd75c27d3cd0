"""The state machine of operations with effects: what leads where, and what becomes of one that was begun before.

Pure: a store locks a record, asks here what becomes of it, and stores the answer. The states are those of an
idempotency reservation, with the one that no retry can settle, `outcome_unknown`, kept apart from failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from keel.core.model import Json
from keel.core.text import excerpt
from keel.errors import KeelError
from keel.runtime.model import Admission, Decision, Operation, OperationState

_S = OperationState

LEADS_TO: Mapping[OperationState, frozenset[OperationState]] = MappingProxyType(
    {
        _S.RESERVED: frozenset({_S.EXECUTING, _S.FAILED_SAFE_TO_RETRY}),
        _S.EXECUTING: frozenset({_S.SUCCEEDED, _S.REJECTED, _S.FAILED_SAFE_TO_RETRY, _S.OUTCOME_UNKNOWN}),
        # An answer that comes after all is better than anybody's enquiry; a failure is not: it may be a failure to ask.
        _S.OUTCOME_UNKNOWN: frozenset({_S.RECONCILED_SUCCEEDED, _S.RECONCILED_NOT_APPLIED, _S.SUCCEEDED, _S.REJECTED}),
        _S.SUCCEEDED: frozenset(),
        _S.REJECTED: frozenset(),
        _S.RECONCILED_SUCCEEDED: frozenset(),
        _S.FAILED_SAFE_TO_RETRY: frozenset({_S.RESERVED}),
        _S.RECONCILED_NOT_APPLIED: frozenset({_S.RESERVED}),
    }
)
"""State to the states it leads to. Beside these only an admission moves an operation: see `admit`."""


class OperationStateError(KeelError):
    """An operation that is told to go where its state does not lead, or by someone whose it no longer is."""

    code = "operation-state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An operation with what only its ledger needs to know."""

    operation: Operation
    definition: str = ""
    """Definition digest of the tool at the latest attempt."""
    repeatable: bool = False
    """Whether the contract has said at every attempt that sending it again is harmless."""
    lease_s: float = 60.0
    lease_until: float = 0.0
    """Seconds since the epoch after which an unfinished attempt counts as abandoned."""

    @property
    def state(self) -> OperationState:
        """Where the operation stands."""
        return self.operation.state


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an admission makes of an operation."""

    decision: Decision
    held: Held
    """The operation as it is to be stored; for `ADMITTED` only once its approval holds too."""


def admit(held: Held | None, admission: Admission, now: float) -> Verdict:
    """Decide what an admission makes of the operation of its key, approvals aside.

    Args:
        held: the operation as stored; None if there is none.
        admission: what is asked for.
        now: seconds since the epoch.

    Raises:
        OperationStateError: if the stored operation is another tenant's, subject's or tool's, or of other arguments.
    """
    if held is None:
        return Verdict(Decision.ADMITTED, _reserved(admission, 1, now, repeatable=admission.repeatable))
    _same_operation(held.operation, admission)
    held = observed(held, now)
    if held.state.final:
        return Verdict(Decision.RECORDED, held)
    repeatable = held.repeatable and admission.repeatable
    if held.state is OperationState.OUTCOME_UNKNOWN and not repeatable:
        return Verdict(Decision.OUTCOME_UNKNOWN, held)
    if held.state in _UNFINISHED and not abandoned(held, now):
        return Verdict(Decision.IN_PROGRESS, held)
    return Verdict(Decision.ADMITTED, _reserved(admission, held.operation.attempt + 1, now, repeatable=repeatable))


_UNFINISHED = frozenset({OperationState.RESERVED, OperationState.EXECUTING})


def abandoned(held: Held, now: float) -> bool:
    """Tell whether an unfinished attempt has outlived its lease: whoever made it is gone, or will be refused."""
    return held.state in _UNFINISHED and now >= held.lease_until


def observed(held: Held, now: float) -> Held:
    """Return an operation as it stands now: abandoned while executing, its outcome is unknown.

    An abandoned `reserved` one stays as it is: nothing was sent, and whoever comes next takes it over.
    """
    if held.state is OperationState.EXECUTING and abandoned(held, now):
        return _moved(held, OperationState.OUTCOME_UNKNOWN, None, now)
    return held


def begin(held: Held | None, key: str, attempt: int | None, now: float) -> Held:
    """Move an admitted operation to `executing`; its lease counts from here.

    Raises:
        OperationStateError: if there is no such operation, somebody else has taken it over, or it is not `reserved`.
    """
    held = _own(held, key, attempt)
    if OperationState.EXECUTING not in LEADS_TO[held.state]:
        raise _refused(held, OperationState.EXECUTING)
    return replace(_moved(held, OperationState.EXECUTING, None, now), lease_until=now + held.lease_s)


def settle(held: Held | None, key: str, state: OperationState, result: Json, attempt: int | None, now: float) -> Held:
    """Move an operation to the state in which it ended.

    Saying the same again changes nothing, so that one whose confirmation was lost may be repeated.

    Raises:
        OperationStateError: if there is no such operation, somebody else has taken it over, or its state does not
            lead there.
    """
    held = _own(held, key, attempt)
    if held.state is state and held.operation.result == result:
        return held
    if state in (OperationState.RESERVED, OperationState.EXECUTING) or state not in LEADS_TO[held.state]:
        raise _refused(held, state)
    return _moved(held, state, result, now)


def _reserved(admission: Admission, attempt: int, now: float, *, repeatable: bool) -> Held:
    return Held(
        operation=admission.reserved(attempt, now),
        definition=admission.definition,
        repeatable=repeatable,
        lease_s=admission.lease_s,
        lease_until=now + admission.lease_s,
    )


def _moved(held: Held, state: OperationState, result: Json, now: float) -> Held:
    return replace(held, operation=replace(held.operation, state=state, result=result, changed_at=now))


def _same_operation(operation: Operation, admission: Admission) -> None:
    """Refuse a key that stands for something else; it is a digest of all of these, so that only a fault gets here."""
    for name in ("tenant", "subject", "tool", "arguments_digest"):
        if getattr(operation, name) != getattr(admission, name):
            raise OperationStateError(
                f"the key `{excerpt(admission.key)}` already stands for another operation: its {name} differs",
                hint="derive keys from tenant, subject, operation, tool and arguments",
            )


def _own(held: Held | None, key: str, attempt: int | None) -> Held:
    if held is None:
        raise OperationStateError(
            f"there is no operation `{excerpt(key)}`", hint="`keel audit operations` lists the operations"
        )
    if attempt is not None and attempt != held.operation.attempt:
        raise OperationStateError(
            f"attempt {attempt} of operation `{excerpt(key)}` was abandoned, and attempt {held.operation.attempt} "
            "has taken its place",
            hint="give the call a longer deadline",
        )
    return held


def _refused(held: Held, state: OperationState) -> OperationStateError:
    return OperationStateError(
        f"operation `{excerpt(held.operation.key)}` is `{held.state}`, which does not lead to `{state}`",
        hint="see `keel audit operations`",
    )
