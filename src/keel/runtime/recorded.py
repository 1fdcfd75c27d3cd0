"""Answers of models as durable units: a run that starts again gets the answer that it acted on before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from keel.core.digest import digest
from keel.core.model import Json
from keel.runtime.model import Admission, Decision, OperationState
from keel.runtime.refusal import scrubbed

if TYPE_CHECKING:
    from keel.runtime.session import Session

LEASE_S = 600.0
"""Seconds that an answer is waited for before another attempt takes its place in the ledger."""


async def recorded(session: Session, site: str, what: Json, work: Callable[[], Awaitable[Json]]) -> Json:
    """Return the recorded result of a unit, or do its work and record it.

    The work has no effect outside: where somebody else is at it, or a process died at it, it is done once more.

    Raises:
        StoreUnavailable: if the ledger cannot be asked.
    """
    with session.journal.unit(site, what) as unit:
        ledger = session.ledger
        key = f"model:{digest([session.trusted.tenant, session.trusted.subject, unit.id])}"
        admitted = await ledger.admit(
            Admission(
                key=key,
                call_id=key,
                tool="model",
                definition="",
                arguments_digest=digest(what),
                tenant=session.trusted.tenant,
                subject=session.trusted.subject,
                run_id=session.trusted.run_id,
                repeatable=True,
                lease_s=LEASE_S,
            )
        )
        if admitted.decision is Decision.RECORDED:
            return admitted.result
        if admitted.decision is not Decision.ADMITTED:
            return await work()
        await ledger.executing(key, attempt=admitted.attempt)
        try:
            result = scrubbed(await work(), session.dispatcher.redactor)
        except BaseException:
            await ledger.settle(key, OperationState.FAILED_SAFE_TO_RETRY, attempt=admitted.attempt)
            raise
        await ledger.settle(key, OperationState.SUCCEEDED, result, attempt=admitted.attempt)
        return result
