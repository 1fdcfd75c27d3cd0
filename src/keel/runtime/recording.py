"""Records how calls ended: at once where possible, later where not, and never not at all while the process lives."""

from __future__ import annotations

import asyncio
from typing import TypeAlias

from keel.core.model import Json
from keel.core.text import escape
from keel.errors import KeelError
from keel.runtime.asking import Ask
from keel.runtime.model import OperationState, ToolResult
from keel.runtime.ports import Ledger, StoreUnavailable
from keel.runtime.reads import ReadRecords
from keel.runtime.refusal import recorded_data, recorded_error
from keel.runtime.sending import Ended

Record: TypeAlias = Ledger | ReadRecords

PAUSES_S = (0.05, 0.2)
"""Seconds between attempts to record an ending; after the last one it is owed."""


class Recorder:
    """Settles operations; what the ledger cannot take is owed and paid before the next call."""

    def __init__(self) -> None:
        self._owed: dict[str, tuple[Record, OperationState, Json, int]] = {}
        self._background: set[asyncio.Task[None]] = set()

    async def settle(
        self, ask: Ask, record: Record, ended: Ended, attempt: int, result: ToolResult, *, durable: bool
    ) -> None:
        """Record how a call ended, even if the caller leaves meanwhile: settling twice says the same.

        Args:
            ask: the call.
            record: where its operation stands.
            ended: how it ended.
            attempt: as admitted.
            result: what its caller gets.
            durable: whether the audit event waits for the disk.
        """
        try:
            await self._settle(ask, record, ended, attempt, result, durable=durable)
        except asyncio.CancelledError:
            settling = asyncio.ensure_future(self._settle(ask, record, ended, attempt, result, durable=durable))
            self._background.add(settling)
            settling.add_done_callback(self._background.discard)
            await asyncio.shield(settling)
            raise

    async def _settle(
        self, ask: Ask, record: Record, ended: Ended, attempt: int, result: ToolResult, *, durable: bool
    ) -> None:
        kept = recorded_data(ended.data) if result.error is None else recorded_error(result.error)
        try:
            await self._kept(record, ask.key, ended.state, kept, attempt)
        except StoreUnavailable:
            self._owed[ask.key] = (record, ended.state, kept, attempt)
            ask.notes.append("the ledger could not be written after the call; its ending is kept in memory")
        except KeelError as error:
            ask.notes.append(f"the ledger did not take the ending: {escape(error.message)}")
        ask.trail.note(
            "settled",
            state=ended.state.value,
            code=result.error.code.value if result.error else None,
            result=result.observation.digest if result.observation else None,
        )
        try:
            await ask.trail.write(durable=durable)
        except StoreUnavailable:
            ask.notes.append("the audit log could not be written after the call")

    async def _kept(self, record: Record, key: str, state: OperationState, kept: Json, attempt: int) -> None:
        for pause in PAUSES_S:
            try:
                await record.settle(key, state, kept, attempt=attempt)
            except StoreUnavailable:
                await asyncio.sleep(pause)
            else:
                return
        await record.settle(key, state, kept, attempt=attempt)

    async def pay(self) -> None:
        """Record the endings that the ledger could not take before."""
        for key, (record, state, kept, attempt) in list(self._owed.items()):
            try:
                await record.settle(key, state, kept, attempt=attempt)
            except StoreUnavailable:
                return
            except KeelError:  # it was reconciled or taken over meanwhile, which is as good
                pass
            self._owed.pop(key, None)
