"""What all flows of one run share: bundle, dispatcher, stores, people, models and bookkeeping."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keel.core.model import Json
from keel.errors import KeelError
from keel.runtime.approvers import Approver
from keel.runtime.budget import RunState
from keel.runtime.bundle import Bundle
from keel.runtime.dispatch import Dispatcher
from keel.runtime.grants import needs_approval
from keel.runtime.journal import Journal
from keel.runtime.loading import Loaded
from keel.runtime.model import TrustedContext
from keel.runtime.native import Callee
from keel.runtime.ports import ApprovalStore, AuditLog, Clock, Ledger, Models
from keel.runtime.trace import Trace

BACKOFF_S = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Default of `Session.backoff_s`."""


@dataclass
class Session:
    """What all flows of one run share."""

    bundle: Bundle
    dispatcher: Dispatcher
    trusted: TrustedContext
    state: RunState
    approver: Approver
    ledger: Ledger
    """Holds the results of models."""
    approvals: ApprovalStore
    """Holds questions to people."""
    audit: AuditLog
    journal: Journal
    clock: Clock
    trace: Trace
    loop: asyncio.AbstractEventLoop
    """The loop in which dispatcher and ports live."""
    models: Models | None = None
    contexts: Mapping[str, Json] = field(default_factory=dict)
    """What a reasoner or an agent may read, by scope."""
    loaded: Loaded | None = None
    """The bundle's sources; None where sites are not enforced."""
    backoff_s: tuple[float, ...] = BACKOFF_S
    """Seconds before each further attempt; the last one repeats."""
    _callees: dict[Callable[..., Any], Callee] = field(default_factory=dict)

    def callee(self, function: Callable[..., Any]) -> Callee:
        """Return a native tool's function with its types."""
        if function not in self._callees:
            self._callees[function] = Callee(function)
        return self._callees[function]

    def needs_approval(self, key: str) -> bool:
        """Tell whether a call needs a person's yes."""
        tool = self.bundle.tools.get(key)
        return tool is not None and needs_approval(self.bundle, tool)

    async def refused(self, kind: str, name: str, site: str, error: KeelError) -> None:
        """Record a step that is refused before it comes to the dispatcher.

        Raises:
            StoreUnavailable: if it cannot be recorded.
        """
        told = {
            "event": "decided",
            "decision": error.code,
            "step": kind,
            "tool": name,
            "site": site,
            "tenant": self.trusted.tenant,
            "subject": self.trusted.subject,
            "run_id": self.trusted.run_id,
            "bundle": self.bundle.digest,
        }
        await self.audit.append({key: value for key, value in told.items() if value})
