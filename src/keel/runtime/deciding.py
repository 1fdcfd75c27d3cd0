"""What is asked of the ledger before a call, and what its answer means where it is not yes."""

from __future__ import annotations

from keel.core.model import FrozenTool, Json
from keel.core.redact import Redactor
from keel.core.text import escape, excerpt
from keel.runtime import grants
from keel.runtime.asking import Ask
from keel.runtime.bundle import Bundle
from keel.runtime.limits import Limits
from keel.runtime.model import Admission, Admitted, ApprovalRequest, ApprovalState, Decision, ErrorCode
from keel.runtime.ports import Clock, StoreUnavailable
from keel.runtime.refusal import Refused, scrubbed


def admission(
    ask: Ask, tool: FrozenTool, left_s: float, *, bundle: Bundle, limits: Limits, clock: Clock, redactor: Redactor
) -> Admission:
    """Return what the ledger is to decide in one transaction.

    A call that needs a person's yes uses the approval of the gate that covers it; where there is none, or exactness
    is asked for, the approval is of this tool with these arguments.
    """
    needed = ask.exact or grants.needs_approval(bundle, tool)
    covered = needed and not ask.exact and ask.gate_use is not None
    expires_at = clock.now() + limits.approval_ttl_s
    return Admission(
        key=ask.key,
        call_id=ask.call.call_id,
        tool=tool.key,
        definition=tool.digest,
        arguments_digest=ask.arguments or "",
        tenant=ask.trusted.tenant,
        subject=ask.trusted.subject,
        run_id=ask.trusted.run_id,
        repeatable=tool.contract.retryable,
        lease_s=max(left_s, 0.0) + limits.lease_grace_s,
        gate_use=ask.gate_use if covered else None,
        exact=_question(ask, tool, expires_at, redactor) if needed and not covered else None,
    )


def _question(ask: Ask, tool: FrozenTool, expires_at: float, redactor: Redactor) -> ApprovalRequest:
    shown: Json = {"tool": tool.key, "arguments": dict(ask.call.arguments)}
    return ApprovalRequest(
        tenant=ask.trusted.tenant,
        subject=ask.trusted.subject,
        run_id=ask.trusted.run_id,
        prompt=redactor.clean(escape(ask.prompt or f"call `{tool.key}`?")),
        show=scrubbed(shown, redactor),
        tool=tool.key,
        definition=tool.digest,
        arguments_digest=ask.arguments or "",
        occurrence=ask.call.site,
        expires_at=expires_at,
    )


def undecided(ask: Ask, tool: FrozenTool, admitted: Admitted) -> Refused:
    """Return why the ledger does not let a call pass."""
    name, record = excerpt(tool.key), admitted.approval
    if admitted.decision is Decision.IN_PROGRESS:
        return in_progress(ask)
    if admitted.decision is Decision.OUTCOME_UNKNOWN:
        message = f"an earlier call of `{name}` was sent and its outcome is not known; reconcile it first"
        return Refused(ErrorCode.OUTCOME_UNKNOWN, message, detail={"operation": ask.key})
    detail: dict[str, Json] = {}
    if record is not None:
        detail = {"approval": record.id, "state": record.state.value}
    if admitted.decision is Decision.APPROVAL_DENIED:
        by = f" by `{excerpt(record.by)}`" if record is not None and record.by else ""
        return Refused(ErrorCode.APPROVAL_REQUIRED, f"the approval of `{name}` was denied{by}", detail=detail)
    if admitted.decision is Decision.APPROVAL_USED:
        message = f"the approval that was named for `{name}` has admitted another call already"
        return Refused(ErrorCode.APPROVAL_REQUIRED, message, detail={**detail, "state": "used"})
    message = f"a person has to approve `{name}` first"
    if record is not None and record.state is ApprovalState.PENDING:
        message += f": `keel approve {record.id}`"
    return Refused(ErrorCode.APPROVAL_REQUIRED, message, detail=detail or None)


def other_call(ask: Ask) -> Refused:
    """Return the refusal of a call id that stands for something else."""
    message = f"call id `{excerpt(ask.call.call_id)}` already stands for another call"
    return Refused(ErrorCode.INVALID_ARGUMENTS, message, detail={"code": "call_id_reused"})


def in_progress(ask: Ask) -> Refused:
    """Return the refusal of an operation that somebody else executes."""
    message = f"the operation of call `{excerpt(ask.call.call_id)}` is being executed elsewhere"
    return Refused(ErrorCode.TOOL_FAILED, message, retryable=True, detail={"code": "in_progress"})


def unavailable(error: StoreUnavailable, code: str) -> Refused:
    """Return the refusal of a call that could not be recorded.

    Args:
        error: what went wrong.
        code: `store_unavailable` or `audit_unavailable`.
    """
    message = f"nothing was executed, because keel could not record it: {escape(error.message)}"
    return Refused(ErrorCode.TOOL_FAILED, message, retryable=True, detail={"code": code})
