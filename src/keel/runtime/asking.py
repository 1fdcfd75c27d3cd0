"""One call on its way through the pipeline: who asks for what, until when, and what was found out about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from keel.core.canonical import CanonicalError
from keel.core.model import FrozenTool, Json
from keel.runtime.budget import RunState
from keel.runtime.keys import arguments_digest, operation_key, snapshot
from keel.runtime.model import GateUse, ToolCall, TrustedContext
from keel.runtime.trail import Trail


@dataclass(slots=True)
class Ask:
    """What the steps of the pipeline hand on."""

    call: ToolCall
    trusted: TrustedContext
    run: RunState
    trail: Trail
    deadline: float
    """By the monotonic clock."""
    gate_use: GateUse | None = None
    exact: bool = False
    """Whether a person has to approve exactly this call, whatever the contract says."""
    prompt: str = ""
    arguments: str | None = None
    """Digest of the arguments; None where they are no JSON."""
    unsound: str = ""
    """Why they are none."""
    key: str = ""
    """Idempotency key."""
    tool: FrozenTool | None = None
    again: bool = False
    """Whether it was admitted once already and did not leave, because the server's list changed."""
    approved: dict[str, Json] = field(default_factory=dict)
    """Approval and who gave it, for the audit log."""
    notes: list[str] = field(default_factory=list)
    """What the caller should know beside the result."""

    def identify(self) -> None:
        """Find what the call is told by: its arguments' digest and its idempotency key.

        From here on the arguments are the pipeline's own: what is checked, shown, approved and sent is one and the
        same, whatever the caller does with its objects meanwhile.
        """
        try:
            self.call = self.own_call()
            self.arguments = arguments_digest(self.call.arguments)
            self.key = operation_key(self.call, self.trusted, self.arguments)
        except CanonicalError as error:
            self.unsound = error.message

    def own_call(self) -> ToolCall:
        """Return the call with a copy of its arguments, for whoever must not change these.

        Raises:
            CanonicalError: if they are nested too deep.
        """
        arguments = {name: snapshot(item, 1) for name, item in self.call.arguments.items()}
        return replace(self.call, arguments=arguments)
