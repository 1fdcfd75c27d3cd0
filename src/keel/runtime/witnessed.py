"""Questions of a run with their trace in the audit log: what was asked, and who answered what."""

from __future__ import annotations

from dataclasses import dataclass

from keel.core.digest import digest
from keel.core.model import Json
from keel.runtime.model import ApprovalRecord, ApprovalRequest, ApprovalState
from keel.runtime.ports import ApprovalStore, AuditLog


@dataclass(frozen=True)
class WitnessedApprovals:
    """An approval store that writes to the audit log first: what cannot be recorded is neither asked nor decided."""

    store: ApprovalStore
    audit: AuditLog

    async def ask(self, request: ApprovalRequest) -> ApprovalRecord:
        """Record a question; as `ApprovalStore.ask`."""
        await self.audit.append(_event("approval_asked", request, shown=digest([request.prompt, request.show])))
        return await self.store.ask(request)

    async def approval(self, approval_id: str) -> ApprovalRecord | None:
        """Return a question as it stands."""
        return await self.store.approval(approval_id)

    async def pending(self) -> tuple[ApprovalRecord, ...]:
        """Return the open questions."""
        return await self.store.pending()

    async def decide(self, approval_id: str, *, approved: bool, by: str, comment: str = "") -> ApprovalRecord:
        """Answer a question; as `ApprovalStore.decide`."""
        known = await self.store.approval(approval_id)
        if known is not None and known.state is ApprovalState.PENDING:
            decision = ApprovalState.APPROVED if approved else ApprovalState.DENIED
            told = {"approval": approval_id, "decision": decision.value, "by": by, "comment": comment}
            await self.audit.append(_event("approval_decided", known.request, **told))
        return await self.store.decide(approval_id, approved=approved, by=by, comment=comment)


def _event(name: str, request: ApprovalRequest, **facts: Json) -> dict[str, Json]:
    told = {
        "tenant": request.tenant,
        "subject": request.subject,
        "run_id": request.run_id,
        "tool": request.tool,
        "site": request.gate,
        "arguments": request.arguments_digest,
        **facts,
    }
    return {"event": name, **{key: value for key, value in told.items() if value}}
