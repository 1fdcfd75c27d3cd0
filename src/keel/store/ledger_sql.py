"""The ledger's port over transactions, for every backend that can run one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from keel.core.model import Json
from keel.runtime import questions
from keel.runtime.model import (
    Admission,
    Admitted,
    ApprovalRecord,
    ApprovalRequest,
    ApprovalState,
    Operation,
    OperationState,
)
from keel.runtime.ports import Clock, Ledger
from keel.store import transactions
from keel.store.tables import Tables
from keel.store.transactions import Pruned

T = TypeVar("T")


class SqlLedger(Ledger, ABC):
    """Approvals and operations in a database; decisions are made by `keel.runtime.states` and `questions`."""

    def __init__(self, clock: Clock) -> None:
        self._now = clock.now

    @abstractmethod
    async def _write(self, work: Callable[[Tables], T], *, durable: bool = True) -> T:
        """Run work in one transaction that keeps out others on the same names.

        Args:
            work: called with the tables; what it raises undoes the transaction.
            durable: whether the transaction must survive a loss of power before this returns; otherwise a later
                durable one makes it so. It always survives the end of the process.

        Raises:
            StoreUnavailable: if the database cannot be used.
        """

    @abstractmethod
    async def _read(self, work: Callable[[Tables], T]) -> T:
        """Run work that changes nothing.

        Raises:
            StoreUnavailable: if the database cannot be used.
        """

    @abstractmethod
    def close(self) -> None:
        """Finish what was begun and let go of the database."""

    async def recorded(self, call_id: str, *, tenant: str = "local", subject: str = "local") -> Operation | None:
        """Return the operation that a call id made, or None; see `Ledger.recorded`."""
        if not transactions.storable(call_id, tenant, subject):
            return None
        held = await self._read(lambda tables: tables.called(tenant, subject, call_id))
        return held.operation if held is not None else None

    async def admit(self, admission: Admission) -> Admitted:
        """Consume the approval and reserve the operation, both or neither; see `Ledger.admit`.

        The reservation need not survive a loss of power by itself: nothing is sent before `executing`, which is
        durable, and makes durable what came before it.
        """
        return await self._write(lambda tables: transactions.admit(tables, admission, self._now), durable=False)

    async def executing(self, key: str, *, attempt: int | None = None) -> None:
        """Record durably that the call is about to be sent; see `Ledger.executing`."""
        await self._write(lambda tables: transactions.begin(tables, key, attempt, self._now))

    async def settle(self, key: str, state: OperationState, result: Json = None, *, attempt: int | None = None) -> None:
        """Record how an operation ended; see `Ledger.settle`."""
        await self._write(
            lambda tables: transactions.settle(tables, key, state, result, attempt=attempt, now=self._now)
        )

    async def unknown(self) -> tuple[Operation, ...]:
        """Return the operations whose outcome is not known, oldest first; see `Ledger.unknown`."""
        return await self._write(lambda tables: transactions.unknown(tables, self._now))

    async def operation(self, key: str) -> Operation | None:
        """Return the operation of a key, or None.

        Raises:
            StoreUnavailable: if the store cannot be asked.
        """
        if not transactions.storable(key):
            return None
        held = await self._read(lambda tables: tables.operation(key))
        return held.operation if held is not None else None

    async def operations(self, states: Sequence[OperationState] = ()) -> tuple[Operation, ...]:
        """Return the operations in some states, or all of them, oldest change first.

        Raises:
            StoreUnavailable: if the store cannot be asked.
        """
        held = await self._read(lambda tables: tables.operations(states))
        return tuple(item.operation for item in held)

    async def ask(self, request: ApprovalRequest) -> ApprovalRecord:
        """Record a question, or return the one that is the same already; see `ApprovalStore.ask`."""
        return await self._write(lambda tables: transactions.ask(tables, request, self._now))

    async def approval(self, approval_id: str) -> ApprovalRecord | None:
        """Return a question as it stands; see `ApprovalStore.approval`."""
        if not transactions.storable(approval_id):
            return None
        found = await self._read(lambda tables: tables.approval(approval_id))
        return questions.standing(found, self._now()) if found is not None else None

    async def pending(self) -> tuple[ApprovalRecord, ...]:
        """Return the open questions, oldest first; see `ApprovalStore.pending`."""
        found = await self._read(lambda tables: tables.approvals(ApprovalState.PENDING))
        now = self._now()
        return tuple(item for item in found if questions.standing(item, now).state is ApprovalState.PENDING)

    async def decide(self, approval_id: str, *, approved: bool, by: str, comment: str = "") -> ApprovalRecord:
        """Answer an open question; see `ApprovalStore.decide`."""
        return await self._write(
            lambda tables: transactions.decide(
                tables, approval_id, self._now, approved=approved, by=by, comment=comment
            )
        )

    async def prune(self, before: float) -> Pruned:
        """Remove final operations and decided questions older than a time, in seconds since the epoch.

        A call of a removed operation that is delivered once more would be executed once more: keep them for longer
        than anything may be redelivered.

        Raises:
            StoreUnavailable: if the store cannot be written.
        """
        return await self._write(lambda tables: transactions.prune(tables, before))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
