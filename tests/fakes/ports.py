"""Fakes of the run time's ports: servers in memory, a ledger with the semantics of the real ones, an audit list, a clock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from keel.core.finding import NotChecked
from keel.core.model import Json, Surface
from keel.errors import KeelError
from keel.runtime.model import (
    Admission,
    Admitted,
    ApprovalRecord,
    ApprovalRequest,
    ApprovalState,
    Decision,
    Operation,
    OperationState,
)
from keel.runtime.ports import Reply, StoreUnavailable

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


@dataclass
class MemoryLedger:
    """Approvals and operations in one process."""

    clock: FixedClock = field(default_factory=FixedClock)
    approvals: dict[str, ApprovalRecord] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    """Methods that fail as an unreachable store does; `*` for all."""
    _calls: dict[tuple[str, str, str], str] = field(default_factory=dict)
    _leases: dict[str, float] = field(default_factory=dict)
    _uses: dict[tuple[str, str], str] = field(default_factory=dict)
    """(approval, use) to the key of the operation that it admitted."""

    def _up(self, method: str) -> None:
        if self.down & {method, "*"}:
            raise StoreUnavailable("the ledger cannot be reached")

    # -- approvals ------------------------------------------------------------------------------

    async def ask(self, request: ApprovalRequest) -> ApprovalRecord:
        self._up("ask")
        known = self._same(request)
        if known is not None and known.state in (ApprovalState.PENDING, ApprovalState.APPROVED):
            exact_used = request.tool and known.uses
            if not exact_used:
                return known
        return self._new(request)

    def _new(self, request: ApprovalRequest) -> ApprovalRecord:
        record = ApprovalRecord(id=f"a{len(self.approvals) + 1}", request=request, asked_at=self.clock.now())
        self.approvals[record.id] = record
        return record

    def _same(self, request: ApprovalRequest) -> ApprovalRecord | None:
        """Return the latest question that is the same."""
        found = [item for item in self.approvals.values() if _identity(item.request) == _identity(request)]
        return self._current(found[-1].id) if found else None

    def _current(self, approval_id: str) -> ApprovalRecord | None:
        record = self.approvals.get(approval_id)
        if record is None:
            return None
        now, request = self.clock.now(), record.request
        over = request.expires_at is not None and now >= request.expires_at
        late = record.state is ApprovalState.PENDING and request.answer_by is not None and now >= request.answer_by
        if record.state in (ApprovalState.PENDING, ApprovalState.APPROVED) and (over or late):
            record = replace(record, state=ApprovalState.EXPIRED)
            self.approvals[approval_id] = record
        return record

    async def approval(self, approval_id: str) -> ApprovalRecord | None:
        self._up("approval")
        return self._current(approval_id)

    async def pending(self) -> tuple[ApprovalRecord, ...]:
        self._up("pending")
        found = [self._current(approval_id) for approval_id in list(self.approvals)]
        return tuple(item for item in found if item is not None and item.state is ApprovalState.PENDING)

    async def decide(self, approval_id: str, *, approved: bool, by: str, comment: str = "") -> ApprovalRecord:
        self._up("decide")
        record = self._current(approval_id)
        if record is None:
            raise KeelError(f"there is no approval `{approval_id}`", code="approval-unknown")
        if record.state is ApprovalState.EXPIRED:
            raise KeelError(f"approval `{approval_id}` has expired", code="approval-expired")
        if record.state is not ApprovalState.PENDING:
            raise KeelError(f"approval `{approval_id}` is decided already", code="approval-decided")
        state = ApprovalState.APPROVED if approved else ApprovalState.DENIED
        self.approvals[approval_id] = replace(record, state=state, by=by, comment=comment, decided_at=self.clock.now())
        return self.approvals[approval_id]

    # -- operations -----------------------------------------------------------------------------

    async def recorded(self, call_id: str, *, tenant: str = "local", subject: str = "local") -> Operation | None:
        self._up("recorded")
        key = self._calls.get((tenant, subject, call_id))
        return self.operations.get(key) if key else None

    async def admit(self, admission: Admission) -> Admitted:
        self._up("admit")
        who = (admission.tenant, admission.subject, admission.call_id)
        if self._calls.get(who, admission.key) != admission.key:
            raise KeelError(f"call `{admission.call_id}` made another operation", code="operation-state")
        blocked = self._blocked(admission)
        if blocked is not None:
            return blocked
        approval, refused = self._consume(admission)
        if refused is not None:
            return Admitted(decision=refused, approval=approval)
        before = self.operations.get(admission.key)
        attempt = before.attempt + 1 if before else 1
        self._calls[who] = admission.key
        self._leases[admission.key] = self.clock.now() + admission.lease_s
        self.operations[admission.key] = Operation(
            key=admission.key,
            call_id=admission.call_id,
            tool=admission.tool,
            state=OperationState.RESERVED,
            tenant=admission.tenant,
            subject=admission.subject,
            run_id=admission.run_id,
            arguments_digest=admission.arguments_digest,
            attempt=attempt,
            changed_at=self.clock.now(),
        )
        return Admitted(decision=Decision.ADMITTED, attempt=attempt, approval=approval)

    def _blocked(self, admission: Admission) -> Admitted | None:
        """Return why an operation that is known cannot be reserved."""
        known = self.operations.get(admission.key)
        if known is None or known.state.open_again:
            return None
        if known.state.final:
            return Admitted(decision=Decision.RECORDED, attempt=known.attempt, result=known.result)
        abandoned = self.clock.now() >= self._leases.get(admission.key, 0)
        if known.state in (OperationState.RESERVED, OperationState.EXECUTING) and not abandoned:
            return Admitted(decision=Decision.IN_PROGRESS, attempt=known.attempt)
        if known.state is OperationState.EXECUTING:
            self._move(known, OperationState.OUTCOME_UNKNOWN)
        if known.state is not OperationState.RESERVED and not admission.repeatable:
            return Admitted(decision=Decision.OUTCOME_UNKNOWN, attempt=known.attempt)
        return None

    def _consume(self, admission: Admission) -> tuple[ApprovalRecord | None, Decision | None]:
        if admission.gate_use is not None:
            return self._use(self._current(admission.gate_use.approval_id), admission.gate_use.use, admission.key)
        if admission.exact is None:
            return None, None
        record = self._same(admission.exact)
        used = self._uses.get((record.id, "")) if record is not None else None
        if record is None or record.state is ApprovalState.EXPIRED or used not in (None, admission.key):
            return self._new(admission.exact), Decision.APPROVAL_REQUIRED
        return self._use(record, "", admission.key)

    def _use(self, record: ApprovalRecord | None, use: str, key: str) -> tuple[ApprovalRecord | None, Decision | None]:
        if record is None or record.state in (ApprovalState.PENDING, ApprovalState.EXPIRED):
            return record, Decision.APPROVAL_REQUIRED
        if record.state is ApprovalState.DENIED:
            return record, Decision.APPROVAL_DENIED
        user = self._uses.setdefault((record.id, use), key)
        if user != key:
            return record, Decision.APPROVAL_USED
        uses = sum(approval == record.id for approval, _ in self._uses)
        self.approvals[record.id] = replace(record, uses=uses)
        return self.approvals[record.id], None

    async def executing(self, key: str, *, attempt: int | None = None) -> None:
        self._up("executing")
        known = self._mine(key, attempt)
        if known.state is not OperationState.RESERVED:
            raise KeelError(f"operation `{key}` is {known.state}", code="operation-state")
        self._move(known, OperationState.EXECUTING)

    async def settle(self, key: str, state: OperationState, result: Json = None, *, attempt: int | None = None) -> None:
        self._up("settle")
        known = self._mine(key, attempt)
        if known.state.final:
            raise KeelError(f"operation `{key}` is {known.state}", code="operation-state")
        self._move(known, state, result)

    def _mine(self, key: str, attempt: int | None) -> Operation:
        known = self.operations.get(key)
        if known is None or attempt not in (None, known.attempt):
            raise KeelError(f"operation `{key}` is not this attempt's", code="operation-state")
        return known

    def _move(self, known: Operation, state: OperationState, result: Json = None) -> None:
        self.operations[known.key] = replace(known, state=state, result=result, changed_at=self.clock.now())

    async def unknown(self) -> tuple[Operation, ...]:
        self._up("unknown")
        now = self.clock.now()
        for known in list(self.operations.values()):
            if known.state is OperationState.EXECUTING and now >= self._leases.get(known.key, 0):
                self._move(known, OperationState.OUTCOME_UNKNOWN)
        found = [item for item in self.operations.values() if item.state is OperationState.OUTCOME_UNKNOWN]
        return tuple(sorted(found, key=lambda item: item.changed_at))


def _identity(request: ApprovalRequest) -> tuple[str, ...]:
    return (
        request.tenant,
        request.subject,
        request.run_id,
        request.gate,
        request.tool,
        request.definition,
        request.arguments_digest,
        request.occurrence,
    )
