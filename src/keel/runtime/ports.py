"""What the run time needs from outside: servers, native tools, a ledger, an audit log, a policy and a clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from keel.core.finding import NotChecked
from keel.core.model import Json, Surface
from keel.errors import ExitCode, KeelError
from keel.runtime.model import (
    Admission,
    Admitted,
    ApprovalRecord,
    ApprovalRequest,
    Operation,
    OperationState,
    ToolCall,
    TrustedContext,
)


class NotSent(KeelError):
    """The call did not leave: nothing can have happened, and it may be sent again."""

    code = "not-sent"


class AnswerLost(KeelError):
    """The call was sent and no answer came: whether it took effect is not known."""

    code = "answer-lost"


class Drifted(KeelError):
    """The server no longer offers the tool as it was frozen, and the call was not sent."""

    code = "surface-drift"


class StoreUnavailable(KeelError):
    """The ledger or the audit log cannot be written; nothing may be executed without them."""

    code = "store-unavailable"
    exit_code = ExitCode.INCOMPLETE


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a tool answered."""

    data: Json = None
    """Structured content where the tool sent any, else its content as JSON."""
    failed: bool = False
    """Whether the tool says that it failed."""
    code: str = ""
    """The tool's own code, when it sent one."""
    message: str = ""
    """The tool's own words about a failure."""


class Upstream(Protocol):
    """The MCP servers of a bundle."""

    async def call(
        self, server: str, tool: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float
    ) -> Reply:
        """Call a tool and wait for its answer.

        Args:
            server: name of the server.
            tool: the tool's own name.
            arguments: validated arguments.
            idempotency_key: stays the same when the same operation is sent again.
            timeout_s: seconds until the caller gives up.

        Raises:
            NotSent: if the call did not leave.
            AnswerLost: if it left and no answer came, also after `timeout_s`.
            Drifted: if the server announced a changed list and no longer offers what was frozen.
        """
        ...

    async def surface(self, server: str) -> Surface | NotChecked:
        """Return what a server says of itself now, masks not applied, or why it could not be asked."""
        ...

    def endpoint(self, server: str) -> str:
        """Return the URL that a call to the server goes to; empty for a local process."""
        ...

    def on_change(self, heard: Callable[[str], None]) -> None:
        """Have a function told the name of a server as soon as what was read of it no longer holds.

        That is when it announces a changed list, and when its session ended: `surface` has to be read again, and
        until then `call` raises `Drifted`. Servers whose surface nobody has read are not told of.
        """
        ...


class NativeTools(Protocol):
    """The native tools of a bundle: in this process, or behind an HTTP endpoint."""

    async def call(self, key: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float) -> Reply:
        """Call a native tool; raises as `Upstream.call` does."""
        ...

    def endpoint(self, key: str) -> str:
        """Return the URL that a call goes to; empty in this process."""
        ...


class ApprovalStore(Protocol):
    """Questions to people and their answers; survives the process that asked."""

    async def ask(self, request: ApprovalRequest) -> ApprovalRecord:
        """Record a question, or return the one that is the same question already.

        The same question has the same tenant, subject, run, gate or tool, digests and occurrence. One that was used
        up, denied or has expired is not the same: asking again asks again.

        Raises:
            StoreUnavailable: if it cannot be recorded.
        """
        ...

    async def approval(self, approval_id: str) -> ApprovalRecord | None:
        """Return a question as it stands, expired if its time is over; None if there is none of that id."""
        ...

    async def pending(self) -> tuple[ApprovalRecord, ...]:
        """Return the open questions, oldest first."""
        ...

    async def decide(self, approval_id: str, *, approved: bool, by: str, comment: str = "") -> ApprovalRecord:
        """Answer an open question.

        Raises:
            KeelError: `approval-unknown`, `approval-decided` or `approval-expired`.
            StoreUnavailable: if it cannot be recorded.
        """
        ...


class Ledger(ApprovalStore, Protocol):
    """Approvals and operations in one store, so that one transaction can decide on both."""

    async def recorded(self, call_id: str, *, tenant: str = "local", subject: str = "local") -> Operation | None:
        """Return the operation that a call id made, or None.

        Args:
            call_id: as the harness made it; two tenants or subjects may use the same one for different calls.
            tenant: whose call it is.
            subject: who made it.

        Raises:
            StoreUnavailable: if the store cannot be asked.
        """
        ...

    async def admit(self, admission: Admission) -> Admitted:
        """Consume the approval and reserve the operation, both or neither.

        An abandoned `reserved` operation is taken over, for nothing was sent. An abandoned `executing` one becomes
        `outcome_unknown`, and blocks unless it is repeatable.

        Raises:
            KeelError: `operation-state`, if the call id made another operation, or the key is another call's.
            StoreUnavailable: if the store cannot be asked; nothing is reserved then.
        """
        ...

    async def executing(self, key: str, *, attempt: int | None = None) -> None:
        """Record durably that the call is about to be sent.

        Args:
            key: of the admitted operation.
            attempt: as admitted; one whose lease ran out, and that somebody else has taken over, is refused.

        Raises:
            KeelError: `operation-state`, if it is no longer this caller's to send.
            StoreUnavailable: if it cannot be recorded; nothing may be sent then.
        """
        ...

    async def settle(self, key: str, state: OperationState, result: Json = None, *, attempt: int | None = None) -> None:
        """Record how an operation ended.

        Args:
            key: of the operation.
            state: where it ended.
            result: returned to later calls of the same operation.
            attempt: as admitted, so that one whose place was taken cannot speak for the other; None reconciles.

        Raises:
            KeelError: `operation-state`, if its state does not lead there.
            StoreUnavailable: if it cannot be recorded.
        """
        ...

    async def unknown(self) -> tuple[Operation, ...]:
        """Return the operations whose outcome is not known, oldest first; abandoned ones are marked first."""
        ...


class AuditLog(Protocol):
    """An append-only record of what was asked, decided and done."""

    async def append(self, event: Mapping[str, Json], *, durable: bool = True) -> None:
        """Append one event.

        Args:
            event: what happened.
            durable: whether it must survive a loss of power before this returns; otherwise a later durable one makes
                it so. It always survives the end of the process.

        Raises:
            StoreUnavailable: if it cannot be written; what it would record must not happen.
        """
        ...

    async def append_all(self, events: Sequence[Mapping[str, Json]], *, durable: bool = True) -> None:
        """Append several events in their order; one write serves all where the log can do that.

        Args:
            events: what happened.
            durable: as for `append`.

        Raises:
            StoreUnavailable: if they cannot all be written; some may have been.
        """
        for event in events:
            await self.append(event, durable=durable)


class Ruling(StrEnum):
    """What a policy says to one call."""

    ALLOW = "allow"
    DENY = "deny"
    REQUIRE = "require"
    """Allowed once a person has approved this exact call."""


@dataclass(frozen=True, slots=True)
class PolicyRuling:
    """A ruling with its reason."""

    ruling: Ruling
    reason: str = ""


class Policy(Protocol):
    """The host's own rules, asked after the manifest's grants; it can only take away."""

    async def rule(self, call: ToolCall, trusted: TrustedContext) -> PolicyRuling:
        """Rule on one call."""
        ...


class Clock(Protocol):
    """Time as the run time sees it."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Return seconds of a clock that never goes back."""
        ...


class Models(Protocol):
    """Model providers, for reasoners and agents."""

    async def complete(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a model's answer to one request; shapes as in `runtime.models`."""
        ...
