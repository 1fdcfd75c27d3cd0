"""Settling operations whose outcome is not known, by asking whoever knows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from keel.core.model import Json
from keel.runtime.model import Operation, OperationState
from keel.runtime.ports import Ledger
from keel.runtime.refusal import recorded_data
from keel.runtime.states import OperationStateError


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What an enquiry found out about one operation."""

    applied: bool
    """Whether the effect happened; what did not may be admitted again."""
    result: Json = None
    """Returned to later calls of the operation that was applied."""

    @property
    def state(self) -> OperationState:
        """Where it settles the operation."""
        return OperationState.RECONCILED_SUCCEEDED if self.applied else OperationState.RECONCILED_NOT_APPLIED

    @property
    def record(self) -> Json:
        """What the ledger keeps of it."""
        return recorded_data(self.result) if self.applied else None


Reconciler = Callable[[Operation], Awaitable[Reconciled | None]]
"""Finds out what became of an operation, such as by asking the service for its idempotency key; None: still unknown."""


async def reconcile(ledger: Ledger, reconciler: Reconciler) -> tuple[Operation, ...]:
    """Ask about every operation whose outcome is unknown and settle those that are found out.

    One enquiry that fails keeps no other from being made.

    Args:
        ledger: holds the operations.
        reconciler: asked one by one, oldest first.

    Returns:
        Those that are still unknown.

    Raises:
        ExceptionGroup: what the enquiries raised, once all have been made.
        StoreUnavailable: if the store cannot be asked or written.
    """
    left, failures = [], []
    for operation in await ledger.unknown():
        try:
            found = await reconciler(operation)
        except Exception as error:  # noqa: BLE001 - the enquiry is the host's code; raised below
            failures.append(error)
            found = None
        if found is None:
            left.append(operation)
        else:
            # Where its own answer came meanwhile, or somebody else settled it, there is nothing left to say.
            with suppress(OperationStateError):
                await ledger.settle(operation.key, found.state, found.record, attempt=operation.attempt)
    if failures:
        raise ExceptionGroup("some operations could not be enquired about", failures)
    return tuple(left)
