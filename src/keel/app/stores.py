"""Where a project's store and audit log lie, and the store opened for one command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from keel.core.model import Json
from keel.runtime.clock import SystemClock
from keel.runtime.ports import Clock
from keel.store.audit import AuditFile
from keel.store.ledger_sql import SqlLedger
from keel.store.ledgers import open_ledger
from keel.store.private import AUDIT, STORE
from keel.store.project import project_root

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stores:
    """What a command works on."""

    store: str
    """Path or URL of the ledger."""
    audit: Path
    clock: Clock

    @classmethod
    def of(cls, store: str, audit: str, project: Path | None = None) -> Stores:
        """Return the stores that a command line names; the defaults lie below the project, or else right here.

        Args:
            store: path or URL of the ledger, or empty.
            audit: path of the audit log, or empty.
            project: the project's folder; None looks for it from the working directory up.
        """
        working = Path.cwd()
        root = project or project_root(working) or working
        return cls(store or str(root / STORE), Path(audit) if audit else root / AUDIT, SystemClock())

    def work(self, doing: Callable[[SqlLedger], Awaitable[T]]) -> T:
        """Open the ledger, which must exist, and do something with it.

        Raises:
            UsageError: if there is none.
            StoreUnavailable: if it cannot be used.
        """

        async def run() -> T:
            return await doing(ledger)

        with open_ledger(self.store, self.clock, create=False) as ledger:
            return asyncio.run(run())

    async def record(self, event: str, **facts: Json) -> None:
        """Append what a person is about to decide to the audit log; what cannot be recorded is not decided.

        Raises:
            StoreUnavailable: if it cannot be written.
        """
        told = {name: value for name, value in facts.items() if value not in (None, "")}
        with AuditFile.open(self.audit, self.clock) as log:
            await log.append({"event": event, **told})
