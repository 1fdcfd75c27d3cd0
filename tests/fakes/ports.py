"""Fakes of the run time's ports: servers and tools in memory, a ledger that can be down, an audit list, a clock."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from keel.core.finding import NotChecked
from keel.core.model import Json, Surface
from keel.runtime.model import (
    Admission,
    Admitted,
    ApprovalRecord,
    ApprovalRequest,
    ApprovalState,
    Operation,
    OperationState,
)
from keel.runtime.ports import Reply, StoreUnavailable
from keel.store.ledger_sql import SqlLedger
from keel.store.tables import CREATE, Tables

T = TypeVar("T")
Answer = Reply | Exception | Callable[[Mapping[str, Json]], Reply | Awaitable[Reply]]


@dataclass
class FixedClock:
    """A clock that tests move."""

    seconds: float = 1_800_000_000.0
    passed: float = 0.0

    def now(self) -> float:
        return self.seconds + self.passed

    def monotonic(self) -> float:
        return self.passed

    def advance(self, seconds: float) -> None:
        self.passed += seconds


@dataclass
class Sent:
    """One call that reached a fake."""

    key: str
    arguments: Mapping[str, Json]
    idempotency_key: str
    timeout_s: float


@dataclass
class FakeUpstream:
    """MCP servers in memory; unknown tools answer with their arguments."""

    answers: dict[str, Answer] = field(default_factory=dict)
    """By tool key: a reply, an exception to raise, or a function of the arguments (also async)."""
    surfaces: dict[str, Surface | NotChecked] = field(default_factory=dict)
    endpoints: dict[str, str] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    """Servers whose surface was asked, in order."""
    hearers: list[Callable[[str], None]] = field(default_factory=list)

    async def call(
        self, server: str, tool: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float
    ) -> Reply:
        key = f"{server}/{tool}"
        self.sent.append(Sent(key, arguments, idempotency_key, timeout_s))
        return await _answer(self.answers.get(key), arguments)

    async def surface(self, server: str) -> Surface | NotChecked:
        self.listed.append(server)
        await asyncio.sleep(0)
        return self.surfaces.get(server, NotChecked(server, "unreachable", f"`{server}` does not answer"))

    def endpoint(self, server: str) -> str:
        return self.endpoints.get(server, "")

    def on_change(self, heard: Callable[[str], None]) -> None:
        self.hearers.append(heard)

    def change(self, server: str) -> None:
        """Announce a changed list."""
        for heard in self.hearers:
            heard(server)


@dataclass
class FakeNativeTools:
    """Native tools in memory."""

    answers: dict[str, Answer] = field(default_factory=dict)
    endpoints: dict[str, str] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)

    async def call(self, key: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float) -> Reply:
        self.sent.append(Sent(key, arguments, idempotency_key, timeout_s))
        return await _answer(self.answers.get(key), arguments)

    def endpoint(self, key: str) -> str:
        return self.endpoints.get(key, "")


async def _answer(answer: Answer | None, arguments: Mapping[str, Json]) -> Reply:
    await asyncio.sleep(0)
    if answer is None:
        return Reply(data=dict(arguments))
    if isinstance(answer, Exception):
        raise answer
    if isinstance(answer, Reply):
        return answer
    found = answer(arguments)
    return found if isinstance(found, Reply) else await found


@dataclass
class ListAudit:
    """An audit log that can be full."""

    events: list[Mapping[str, Json]] = field(default_factory=list)
    room: int | None = None
    """Events that still fit; None for any number."""

    async def append(self, event: Mapping[str, Json], *, durable: bool = True) -> None:
        if self.room is not None and len(self.events) >= self.room:
            raise StoreUnavailable("the audit log is full")
        self.events.append(event)

    async def append_all(self, events: Sequence[Mapping[str, Json]], *, durable: bool = True) -> None:
        for event in events:
            await self.append(event)

    def kinds(self) -> list[str]:
        """Return the kinds of the events, in order."""
        return [str(event["event"]) for event in self.events]


class MemoryLedger(SqlLedger):
    """The real ledger in a database that ends with the test, and that can be unreachable.

    Attributes:
        down: names of methods that fail as an unreachable store does; `*` for all.
    """

    def __init__(self, clock: FixedClock | None = None) -> None:
        self.clock = clock or FixedClock()
        super().__init__(self.clock)
        self.down: set[str] = set()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        for statement in CREATE:
            self._connection.execute(statement.format(counted="INTEGER PRIMARY KEY AUTOINCREMENT"))
        self._tables = Tables(
            lambda statement, values: self._connection.execute(statement, values).fetchall(), lambda name: None
        )

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    async def _write(self, work: Callable[[Tables], T], *, durable: bool = True) -> T:
        self._connection.execute("BEGIN")
        try:
            found = work(self._tables)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return found

    async def _read(self, work: Callable[[Tables], T]) -> T:
        return work(self._tables)

    @property
    def approvals(self) -> dict[str, ApprovalRecord]:
        """Every question by id, as stored."""
        return {item.id: item for state in ApprovalState for item in self._tables.approvals(state)}

    @property
    def held(self) -> tuple[Operation, ...]:
        """Every operation as stored, oldest change first."""
        return tuple(item.operation for item in self._tables.operations())

    def _up(self, method: str) -> None:
        if self.down & {method, "*"}:
            raise StoreUnavailable("the ledger cannot be reached")

    async def recorded(self, call_id: str, *, tenant: str = "local", subject: str = "local") -> Operation | None:
        self._up("recorded")
        return await super().recorded(call_id, tenant=tenant, subject=subject)

    async def admit(self, admission: Admission) -> Admitted:
        self._up("admit")
        return await super().admit(admission)

    async def executing(self, key: str, *, attempt: int | None = None) -> None:
        self._up("executing")
        await super().executing(key, attempt=attempt)

    async def settle(self, key: str, state: OperationState, result: Json = None, *, attempt: int | None = None) -> None:
        self._up("settle")
        await super().settle(key, state, result, attempt=attempt)

    async def ask(self, request: ApprovalRequest) -> ApprovalRecord:
        self._up("ask")
        return await super().ask(request)

    async def approval(self, approval_id: str) -> ApprovalRecord | None:
        self._up("approval")
        return await super().approval(approval_id)

    async def decide(self, approval_id: str, *, approved: bool, by: str, comment: str = "") -> ApprovalRecord:
        self._up("decide")
        return await super().decide(approval_id, approved=approved, by=by, comment=comment)
