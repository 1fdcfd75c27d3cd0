"""`keel approve` and `keel deny`: the open questions, and one of them answered."""

from __future__ import annotations

import re

from keel.app.stores import Stores
from keel.app.tables import as_json, duration, fields_of
from keel.core.text import escape, plural
from keel.runtime import questions
from keel.runtime.model import ApprovalRecord, ApprovalState
from keel.store.ledger_sql import SqlLedger

_PLAIN = re.compile(r"[\w.-]+", re.ASCII)


def listed(stores: Stores, *, as_data: bool) -> str:
    """Return the open questions, oldest first.

    Args:
        stores: where they are.
        as_data: as JSON rather than as text.

    Raises:
        UsageError: if there is no store.
        StoreUnavailable: if it cannot be used.
    """
    found = stores.work(lambda ledger: ledger.pending())
    if as_data:
        return as_json([fields_of(record) for record in found])
    now = stores.clock.now()
    shown = "\n".join(_text(record, now) for record in found)
    return f"{shown}\n{plural(len(found), 'open question')}\n" if found else "no open questions\n"


def decided(stores: Stores, approval_id: str, *, approved: bool, by: str, comment: str, as_data: bool) -> str:
    """Answer a question, in the audit log first, and return what was answered.

    Raises:
        ApprovalError: if there is no such question, it has been answered, or its time is over.
        UsageError: if there is no store.
        StoreUnavailable: if it, or the audit log, cannot be used; the question is then as open as before.
    """

    async def decide(ledger: SqlLedger) -> ApprovalRecord:
        known = await ledger.approval(approval_id)
        answer = questions.decide(known, approval_id, approved=approved, by=by, comment=comment, now=stores.clock.now())
        asked = answer.request
        await stores.record(
            "approval_decided",
            approval=answer.id,
            decision=answer.state.value,
            by=by,
            comment=comment,
            tenant=asked.tenant,
            subject=asked.subject,
            run_id=asked.run_id,
            tool=asked.tool,
            site=asked.gate,
            arguments=asked.arguments_digest,
        )
        return await ledger.decide(approval_id, approved=approved, by=by, comment=comment)

    record = stores.work(decide)
    if as_data:
        return as_json(fields_of(record))
    said = "approved" if record.state is ApprovalState.APPROVED else "denied"
    return f"{said} {record.id} ({escape(record.request.tool or record.request.gate)}) by {escape(record.by)}\n"


def _text(record: ApprovalRecord, now: float) -> str:
    """Return one question for people: nothing of what is to be approved is cut."""
    asked = record.request
    limits = [limit for limit in (asked.expires_at, asked.answer_by) if limit is not None]
    until = f", expires in {duration(min(limits) - now)}" if limits else ""
    run = f", run {escape(asked.run_id)}" if asked.run_id else ""
    whose = f"for {escape(asked.subject)} of {escape(asked.tenant)}"
    lines = [
        f"{record.id}  {escape(asked.tool or 'gate ' + asked.gate)}",
        f"  asked {duration(now - record.asked_at)} ago {whose}{run}{until}",
        *([f"  {escape(asked.prompt)}"] if asked.prompt else []),
        *(f"  {line}" for line in _shown(record)),
    ]
    return "\n".join(lines) + "\n"


def _shown(record: ApprovalRecord) -> list[str]:
    show = record.request.show
    if show is None:
        return []
    if isinstance(show, dict) and set(show) == {"tool", "arguments"} and isinstance(show["arguments"], dict):
        show = show["arguments"]
    if not isinstance(show, dict):
        return [escape(as_json(show).rstrip("\n"))]
    return [f"{_name(str(name))} = {escape(as_json(value, indent=None).rstrip())}" for name, value in show.items()]


def _name(name: str) -> str:
    """Return an argument's name so that nothing in it passes for a value."""
    return name if _PLAIN.fullmatch(name) else escape(as_json(name, indent=None).rstrip())
