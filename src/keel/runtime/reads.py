"""A record of reads in this process alone: a call id still gives its result, and nothing outlives the process."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

from keel.core.model import Json
from keel.runtime.model import Admission, Admitted, Decision, Operation, OperationState

MOST = 4096
"""Results that are remembered; the oldest is forgotten first."""


class ReadRecords:
    """Stands in for the ledger where repeating is harmless and nobody has to approve.

    A restarted process asks again, which the contract of a read allows.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._operations: OrderedDict[str, Operation] = OrderedDict()
        self._calls: dict[tuple[str, str, str], str] = {}

    async def recorded(self, call_id: str, *, tenant: str, subject: str) -> Operation | None:
        """Return the operation that a call id made."""
        return self._operations.get(self._calls.get((tenant, subject, call_id), ""))

    async def admit(self, admission: Admission) -> Admitted:
        """Reserve an operation, or return its result."""
        known = self._operations.get(admission.key)
        if known is not None and known.state.final:
            return Admitted(decision=Decision.RECORDED, attempt=known.attempt, result=known.result)
        attempt = known.attempt + 1 if known is not None else 1
        self._calls[admission.tenant, admission.subject, admission.call_id] = admission.key
        self._operations[admission.key] = admission.reserved(attempt)
        if len(self._operations) > self._most:
            _, oldest = self._operations.popitem(last=False)
            self._calls.pop((oldest.tenant, oldest.subject, oldest.call_id), None)
        return Admitted(decision=Decision.ADMITTED, attempt=attempt)

    async def executing(self, key: str, *, attempt: int | None = None) -> None:
        """Record nothing: a read that is lost is read again."""

    async def settle(self, key: str, state: OperationState, result: Json = None, *, attempt: int | None = None) -> None:
        """Remember how the operation ended."""
        del attempt
        known = self._operations.get(key)
        if known is not None:
            self._operations[key] = replace(known, state=state, result=result)
