"""What a caller gets: the result of an execution, a recorded one, or an error."""

from __future__ import annotations

from dataclasses import dataclass, replace

from keel.core.canonical import canonical_bytes
from keel.core.model import FrozenTool, Json
from keel.core.redact import Redactor
from keel.runtime import grants
from keel.runtime.asking import Ask
from keel.runtime.bundle import Bundle
from keel.runtime.limits import Limits
from keel.runtime.model import Observation, OperationState, ToolResult
from keel.runtime.observation import observe
from keel.runtime.refusal import Refused, read_record
from keel.runtime.sending import Ended


@dataclass(frozen=True, slots=True)
class Answers:
    """Makes results; everything in them is scrubbed and bounded."""

    bundle: Bundle
    limits: Limits
    redactor: Redactor

    def result(self, ask: Ask, tool: FrozenTool, ended: Ended, *, replayed: bool = False) -> ToolResult:
        """Return the result of an execution."""
        error = ended.refused.error(self.redactor) if ended.refused is not None else None
        seen = error is None or ended.data is not None
        return ToolResult(
            call_id=ask.call.call_id,
            tool_name=tool.key,
            tool_version=tool.digest,
            ok=error is None,
            data=ended.data if error is None else None,
            error=error,
            observation=self._observed(tool, ended.data) if seen else None,
            replayed=replayed,
            notes=tuple(ask.notes),
        )

    def _observed(self, tool: FrozenTool, data: Json) -> Observation:
        text = canonical_bytes(data).decode()
        trust = grants.trust_of(self.bundle, tool.key).value
        return observe(data, text, source=tool.key, trust=trust, limit=self.limits.observation_bytes)

    def replayed(self, ask: Ask, tool: FrozenTool, record: Json) -> ToolResult:
        """Return what the ledger kept of an operation, success and failure alike."""
        data, error = read_record(record)
        result = self.result(ask, tool, Ended(OperationState.SUCCEEDED, data), replayed=True)
        return result if error is None else replace(result, ok=False, data=None, error=error, observation=None)

    def refused(self, ask: Ask, refused: Refused) -> ToolResult:
        """Return the result of a call that was not executed."""
        return ToolResult(
            call_id=ask.call.call_id,
            tool_name=ask.call.name,
            tool_version=ask.tool.digest if ask.tool is not None else None,
            ok=False,
            error=refused.error(self.redactor),
            notes=tuple(ask.notes),
        )
