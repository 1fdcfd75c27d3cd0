"""The values of the run time: calls, results, errors, who is asking, and the states of an operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from keel.core.model import Json


class ErrorCode(StrEnum):
    """Why a call gave no result; closed, so that callers can tell recoveries apart."""

    UNKNOWN_TOOL = "unknown_tool"
    """The bundle holds no tool of that name; asking again helps nobody."""
    INVALID_ARGUMENTS = "invalid_arguments"
    """The arguments do not fit the frozen input schema; a model can correct them."""
    NOT_GRANTED = "not_granted"
    """The manifest, or the policy of the host, does not admit the call."""
    APPROVAL_REQUIRED = "approval_required"
    """A person has to approve first; `detail` names the approval to decide."""
    NETWORK_DENIED = "network_denied"
    """The endpoint is not in the manifest's `network`."""
    BUDGET_EXCEEDED = "budget_exceeded"
    """The run, or the tool within it, has used up what the manifest allows."""
    SURFACE_DRIFT = "surface_drift"
    """The server no longer offers what was frozen."""
    TIMEOUT = "timeout"
    """No answer in time, and nothing can have happened or repeating it is harmless."""
    TOOL_FAILED = "tool_failed"
    """The tool, or what keel needs around it, failed; the tool's own code stands in `detail`."""
    INVALID_RESULT = "invalid_result"
    """The answer does not fit the frozen output schema; the effect may have happened."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """The call was sent and its answer is lost: it must be reconciled, never blindly repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What a harness asks for; everything in it may come from a model, but for its ids."""

    call_id: str
    """Made by the harness. The same id is the same call: its recorded result is returned."""
    name: str
    """Tool key: `lookup_ticket`, or `server/tool`."""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    """Arguments as data."""
    operation: str = ""
    """Names the intended operation through retries and redeliveries; empty means the call id."""
    site: str = ""
    """Where a flow makes the call, `flow@file:line:column`; empty outside flows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolError:
    """Why a call has no result."""

    code: ErrorCode
    message: str
    """For people and models; secrets scrubbed, foreign text escaped."""
    retryable: bool = False
    """Whether the same request may be sent again; whether it should is for the caller to decide."""
    detail: Json = None
    """The tool's own code, the pointer of an argument, the id of an approval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A result as a model may see it: bounded, with its source and how far it can be trusted."""

    text: str
    size: int
    """Bytes of the whole result as canonical JSON."""
    truncated: bool = False
    source: str = ""
    """Tool key."""
    trust: str = "untrusted"
    """`trusted` or `untrusted`, as the manifest's grant or defaults say."""
    digest: str = ""
    """Digest of the whole result, by which a cut one can be told from another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The one answer to a call, success and failure alike."""

    call_id: str
    tool_name: str
    tool_version: str | None = None
    """Definition digest of the frozen tool; None when the bundle holds none of that name."""
    ok: bool
    data: Json = None
    error: ToolError | None = None
    observation: Observation | None = None
    replayed: bool = False
    """Whether this is the recorded result of an earlier execution."""
    notes: tuple[str, ...] = ()
    """What the caller should know beside the result: that it could not be recorded, for instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedContext:
    """Who is asking, as the host knows it; never taken from a model or from arguments."""

    tenant: str = "local"
    subject: str = "local"
    run_id: str = ""
    trace_id: str = ""
    scopes: frozenset[str] = frozenset()


class OperationState(StrEnum):
    """Where an operation with effects stands.

    `reserved` → `executing` → `succeeded`, `rejected`, `failed_safe_to_retry` or `outcome_unknown`; the last one is
    settled by reconciliation. Only `failed_safe_to_retry` and `reconciled_not_applied` may be reserved again.
    """

    RESERVED = "reserved"
    """Admitted; nothing has been sent."""
    EXECUTING = "executing"
    """Written before the first byte is sent."""
    SUCCEEDED = "succeeded"
    REJECTED = "rejected"
    """The tool answered that it failed, and that answer stands: the same operation is not sent again."""
    FAILED_SAFE_TO_RETRY = "failed_safe_to_retry"
    """Nothing was done, or the contract says that repeating is harmless."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    RECONCILED_SUCCEEDED = "reconciled_succeeded"
    RECONCILED_NOT_APPLIED = "reconciled_not_applied"

    @property
    def final(self) -> bool:
        """Whether the operation has a result that is returned from now on."""
        return self in (OperationState.SUCCEEDED, OperationState.REJECTED, OperationState.RECONCILED_SUCCEEDED)


class ApprovalState(StrEnum):
    """Where a question to a person stands."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A question to a person: of a gate in a flow, or about one exact call."""

    tenant: str
    subject: str
    run_id: str = ""
    prompt: str = ""
    """What is asked; foreign text escaped."""
    show: Json = None
    """Data shown beside the prompt: for an exact call the tool and its arguments."""
    gate: str = ""
    """Site of the gate; empty for an exact call."""
    tool: str = ""
    """Tool key of an exact call; empty for a gate."""
    definition: str = ""
    """Definition digest of the tool."""
    arguments_digest: str = ""
    """Digest of the arguments of an exact call."""
    occurrence: str = ""
    """Tells equal questions of one run apart; the same question asked again after a restart has the same one."""
    expires_at: float | None = None
    """Seconds since the epoch after which no answer counts, and one that was given admits nothing any more; None
    never expires."""
    answer_by: float | None = None
    """Seconds since the epoch after which the question can no longer be answered; what was approved before stays so
    until `expires_at`. For a person's time to answer, which is not how long the answer holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRecord:
    """A question and what became of it."""

    id: str
    request: ApprovalRequest
    state: ApprovalState = ApprovalState.PENDING
    by: str = ""
    """Who decided."""
    comment: str = ""
    asked_at: float = 0.0
    decided_at: float | None = None
    uses: int = 0
    """How many calls it has admitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateUse:
    """The approval of a gate, used for one call that the gate covers."""

    approval_id: str
    use: str
    """Site and shown element; one approval admits each at most once, retries of the same operation aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What the ledger decides in one transaction: the approval is consumed and the operation reserved, or neither."""

    key: str
    """Idempotency key: digest of tenant, subject, operation, tool and arguments."""
    call_id: str
    tool: str
    definition: str
    arguments_digest: str
    tenant: str
    subject: str
    run_id: str = ""
    repeatable: bool = False
    """Whether the contract says that sending it again is harmless, so that a lost answer does not block it."""
    lease_s: float = 60.0
    """Seconds after which an unfinished operation counts as abandoned: its deadline and some grace."""
    gate_use: GateUse | None = None
    exact: ApprovalRequest | None = None
    """The approval that the call needs when no gate covers it; asked if nobody has been asked yet."""

    def reserved(self, attempt: int, now: float = 0.0) -> Operation:
        """Return the operation as it begins, reserved for the `attempt`-th time."""
        return Operation(
            key=self.key,
            call_id=self.call_id,
            tool=self.tool,
            state=OperationState.RESERVED,
            tenant=self.tenant,
            subject=self.subject,
            run_id=self.run_id,
            arguments_digest=self.arguments_digest,
            attempt=attempt,
            changed_at=now,
        )


class Decision(StrEnum):
    """What the ledger says to an admission."""

    ADMITTED = "admitted"
    RECORDED = "recorded"
    """The operation has a final result."""
    APPROVAL_REQUIRED = "approval_required"
    APPROVAL_DENIED = "approval_denied"
    APPROVAL_USED = "approval_used"
    """The approval has already admitted another call."""
    IN_PROGRESS = "in_progress"
    """Somebody else is executing it."""
    OUTCOME_UNKNOWN = "outcome_unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """The ledger's answer to an admission."""

    decision: Decision
    attempt: int = 1
    """How often the operation has been reserved, this time included."""
    result: Json = None
    """Of a recorded operation: its result as stored."""
    approval: ApprovalRecord | None = None
    """The approval that was used, is missing, or was denied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation as the ledger holds it."""

    key: str
    call_id: str
    tool: str
    state: OperationState
    tenant: str
    subject: str
    run_id: str = ""
    arguments_digest: str = ""
    attempt: int = 1
    result: Json = None
    changed_at: float = 0.0
    """Seconds since the epoch."""
