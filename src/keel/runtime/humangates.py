"""Human gates at run time: a question in the store, its answer, and what a yes admits."""

from __future__ import annotations

from keel.authoring.approval import Approval
from keel.authoring.port import GateStep
from keel.core.canonical import CanonicalError
from keel.core.digest import digest
from keel.core.model import Json
from keel.core.text import escape, excerpt
from keel.errors import ApprovalDenied, ToolCallError
from keel.runtime.gategrants import GateGrant, GateGrants
from keel.runtime.journal import Unit
from keel.runtime.model import ApprovalRecord, ApprovalRequest, ApprovalState, ErrorCode
from keel.runtime.native import NotData, as_data
from keel.runtime.refusal import scrubbed
from keel.runtime.session import Session
from keel.runtime.shown import Shown


async def asked(
    session: Session, grants: GateGrants, step: GateStep, *, place: str, site: str, shown: Shown
) -> Approval:
    """Ask a person, and remember what a yes admits.

    Args:
        session: the run.
        grants: the passed gates of the flow.
        step: the question.
        place: where it is asked, `file:line:column`; empty where places are not known.
        site: the same with the flow's name.
        shown: what the person sees.

    Raises:
        ApprovalDenied: if nobody approves and the gate says `on_reject="raise"`.
        ToolCallError: `invalid_arguments`, if what is shown is no data.
        StoreUnavailable: if the question cannot be recorded.
    """
    show = _data(step)
    with (
        session.trace.step("gate", site, "human_gate") as noted,
        session.journal.unit(site, [step.prompt, show]) as unit,
    ):
        record = await session.approvals.ask(_request(session, step, show, site, unit))
        noted.call_id = record.id
        record = await session.approver.decided(record, session.approvals)
        approval = approval_of(record)
        if approval.approved:
            grants.add(GateGrant(record.id, place, shown))
        else:
            noted.outcome = approval.reason
            if step.on_reject == "raise":
                raise denied(record)
        return approval


def _data(step: GateStep) -> Json:
    try:
        show = as_data(step.show, "show")
        digest([step.prompt, show])
    except (NotData, CanonicalError) as error:
        raise ToolCallError(
            f"what a gate shows must be data: {error.message}", code=ErrorCode.INVALID_ARGUMENTS.value
        ) from error
    return show


def _request(session: Session, step: GateStep, show: Json, site: str, unit: Unit) -> ApprovalRequest:
    redactor = session.dispatcher.redactor
    return ApprovalRequest(
        tenant=session.trusted.tenant,
        subject=session.trusted.subject,
        run_id=session.trusted.run_id,
        prompt=escaped(redactor.clean(step.prompt)),
        show=scrubbed(show, redactor),
        gate=site or "human_gate",
        occurrence=unit.id,
        answer_by=None if step.timeout_s is None else session.clock.now() + step.timeout_s,
    )


def escaped(text: str) -> str:
    """Return text for people, line by line, with everything visible that could deceive."""
    return "\n".join(escape(line) for line in text.split("\n"))


def approval_of(record: ApprovalRecord) -> Approval:
    """Return what a flow learns of a decided question."""
    if record.state is ApprovalState.APPROVED:
        return Approval(approved=True, reason="approved", by=record.by, comment=record.comment)
    reason = "denied" if record.state is ApprovalState.DENIED else "timeout"
    return Approval(approved=False, reason=reason, by=record.by, comment=record.comment)


def denied(record: ApprovalRecord) -> ApprovalDenied:
    """Return the error of a question that nobody approved."""
    what = f"`{excerpt(record.request.gate or record.request.tool)}`"
    if record.state is not ApprovalState.DENIED:
        return ApprovalDenied(f"nobody answered in time whether {what} may go on")
    who = f" by `{excerpt(record.by)}`" if record.by else ""
    said = f": {excerpt(record.comment, 200)}" if record.comment else ""
    return ApprovalDenied(f"{what} was denied{who}{said}")
