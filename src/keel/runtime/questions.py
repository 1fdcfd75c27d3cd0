"""Questions to people: when two are the same one, how one stands now, and what an answer makes of it."""

from __future__ import annotations

from dataclasses import replace

from keel.core.digest import digest
from keel.core.text import escape, excerpt
from keel.errors import ExitCode, KeelError
from keel.runtime.model import ApprovalRecord, ApprovalRequest, ApprovalState


class ApprovalError(KeelError):
    """An answer that cannot be taken: `approval-unknown`, `approval-decided` or `approval-expired`."""

    code = "approval-unknown"

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message, hint=hint, code=code)
        if code is not None:  # there is such a question: the command line was right, and the answer came too late
            self.exit_code = ExitCode.FINDINGS


def identity(request: ApprovalRequest) -> str:
    """Return what two equal questions share, as a digest.

    An exact call is its tool, definition and arguments. A gate is its site and what is shown there: an answer to
    other words or other data is an answer to another question, even where a flow asks at the same place again.
    """
    shown = "" if request.tool else digest([request.prompt, request.show])
    return digest(
        [
            *(request.tenant, request.subject, request.run_id, request.gate, request.tool),
            *(request.definition, request.arguments_digest, request.occurrence, shown),
        ]
    )


def standing(record: ApprovalRecord, now: float) -> ApprovalRecord:
    """Return a question as it stands at a time: one that was not denied expires.

    An approval, too, admits nothing after `expires_at`; `answer_by` ends only the time to answer.
    """
    request = record.request
    pending = record.state is ApprovalState.PENDING
    limits = (request.expires_at, request.answer_by) if pending else (request.expires_at,)
    over = any(limit is not None and now >= limit for limit in limits)
    if over and record.state in (ApprovalState.PENDING, ApprovalState.APPROVED):
        return replace(record, state=ApprovalState.EXPIRED)
    return record


def decide(
    record: ApprovalRecord | None, approval_id: str, *, approved: bool, by: str, comment: str, now: float
) -> ApprovalRecord:
    """Return a question with its answer.

    Raises:
        ApprovalError: if there is no such question, it has been answered, or its time is over.
    """
    if record is None:
        raise ApprovalError(
            f"there is no approval `{excerpt(approval_id)}` in this store",
            hint="`keel approve` lists the open ones; `--store` names another store",
        )
    if record.state in (ApprovalState.APPROVED, ApprovalState.DENIED):
        raise ApprovalError(
            f"`{record.id}` was already {record.state} by {escape(record.by)}",
            hint="`keel approve` lists the open ones",
            code="approval-decided",
        )
    if standing(record, now).state is ApprovalState.EXPIRED:
        raise ApprovalError(
            f"the time to answer `{record.id}` is over",
            hint="repeat the call, which asks again",
            code="approval-expired",
        )
    state = ApprovalState.APPROVED if approved else ApprovalState.DENIED
    return replace(record, state=state, by=by, comment=comment, decided_at=now)


def opens_gate(record: ApprovalRecord | None, *, tenant: str, subject: str, run_id: str) -> bool:
    """Tell whether a question is a gate's of that tenant, subject and run; another's is as good as none."""
    return (
        record is not None
        and bool(record.request.gate)
        and record.request.tenant == tenant
        and record.request.subject == subject
        and record.request.run_id == run_id
    )
