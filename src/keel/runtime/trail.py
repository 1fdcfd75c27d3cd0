"""The audit events of one call: asked, decided, executing, settled; arguments and results by digest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keel.core.model import Json
from keel.core.redact import Redactor
from keel.core.text import excerpt
from keel.runtime.model import ToolCall, TrustedContext
from keel.runtime.ports import AuditLog
from keel.runtime.refusal import scrubbed

_LONGEST_NAME = 512
"""Characters of a tool's name that an event holds; longer ones are no tool's, and may be any model's."""


@dataclass(slots=True)
class Trail:
    """Where the events of one call go, and what all of them say.

    Events are noted as they happen and written together: before anything is executed, and when the call is over.
    """

    audit: AuditLog
    redactor: Redactor
    common: Mapping[str, Json]
    noted: list[Mapping[str, Json]] = field(default_factory=list)
    """Events that are not written yet."""

    @classmethod
    def of(cls, call: ToolCall, trusted: TrustedContext, *, audit: AuditLog, redactor: Redactor, bundle: str) -> Trail:
        """Begin the trail of a call.

        Args:
            call: the call.
            trusted: who makes it.
            audit: where events are appended.
            redactor: keeps secrets out.
            bundle: digest of the bundle that is enforced.
        """
        common = {
            "call_id": call.call_id,
            "tool": call.name if len(call.name) <= _LONGEST_NAME else excerpt(call.name, _LONGEST_NAME),
            "tenant": trusted.tenant,
            "subject": trusted.subject,
            "run_id": trusted.run_id,
            "trace_id": trusted.trace_id,
            "site": call.site,
            "bundle": bundle,
        }
        return cls(audit, redactor, {name: value for name, value in common.items() if value})

    def note(self, event: str, **facts: Json) -> None:
        """Note one event; facts that are empty are left out."""
        told = {name: value for name, value in facts.items() if value is not None and value != ""}
        whole = {"event": event, **self.common, **told}
        self.noted.append(scrubbed(whole, self.redactor))

    async def write(self, *, durable: bool = False) -> None:
        """Write what was noted.

        Args:
            durable: whether it must survive a loss of power: where an effect comes next, or has happened.

        Raises:
            StoreUnavailable: if it cannot be written; it stays noted.
        """
        events = tuple(self.noted)
        await self.audit.append_all(events, durable=durable)
        del self.noted[: len(events)]
