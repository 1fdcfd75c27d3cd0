"""Approvals by elicitation: the client's user is asked in its own form, in the way of either protocol era.

Through the handshake era's back-channel the question is a request of its own (`elicitation/create`, MCP 2025-11-25);
in the 2026-07-28 era the call is answered with `input_required`, and the client sends it again with the answer and the
sealed state. What is approved is decided by the ledger: one call of one tool with exactly these arguments.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, ElicitResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from keel.core.text import escape
from keel.errors import KeelError
from keel.runtime.model import ApprovalRecord, ErrorCode, ToolResult, TrustedContext
from keel.runtime.ports import ApprovalStore

_QUESTION = "approval"
_FORM = {
    "type": "object",
    "properties": {"approve": {"type": "boolean", "title": "Approve", "description": "Let this one call go through."}},
    "required": ["approve"],
}
_SHOWN = 4000
"""Longest display of a call, in characters; what is longer is decided in the store, for nothing may be cut from it."""

Again = Callable[[], Awaitable[ToolResult]]
"""Dispatches the same call once more."""


@dataclass(frozen=True)
class Elicitation:
    """Asks the user of a client.

    Args:
        store: where the questions are, and where the answers go.
    """

    store: ApprovalStore

    def can_ask(self, context: ServerRequestContext[Any, Any]) -> bool:
        """Tell whether the client shows forms."""
        known = context.session.client_capabilities
        asked = known.elicitation if known is not None else None
        # A bare capability means forms (MCP 2025-11-25, elicitation).
        return asked is not None and (asked.form is not None or asked.url is None)

    async def settle(
        self, context: ServerRequestContext[Any, Any], result: ToolResult, trusted: TrustedContext, again: Again
    ) -> ToolResult | dict[str, Any]:
        """Have a required approval decided, where that can be done.

        Args:
            context: the client's request.
            result: what the dispatcher said.
            trusted: who is asking.
            again: dispatches the same call once more.

        Returns:
            The final result, or an `input_required` result of the 2026 era.
        """
        record = await self._open(result)
        if record is None or not self.can_ask(context):
            return result
        message = _message(record)
        if len(message) > _SHOWN:
            return result
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return _input_required(message, record.id, result.call_id)
        try:
            answer = await context.session.elicit_form(message, _FORM, context.request_id)
        except MCPError:
            return result
        return await self._decided(record.id, answer, trusted, result, again)

    async def answered(
        self, params: CallToolRequestParams, trusted: TrustedContext, result: ToolResult, again: Again
    ) -> ToolResult:
        """Use the answer that a client of the 2026 era sent with its call.

        Args:
            params: the call as the client sent it.
            trusted: who is asking.
            result: what the dispatcher says without the answer.
            again: dispatches the same call once more.
        """
        answer = (params.input_responses or {}).get(_QUESTION)
        record = await self._open(result)
        asked = state_of(params).get("approval")
        if record is None or not isinstance(answer, ElicitResult) or asked != record.id:
            return result
        return await self._decided(record.id, answer, trusted, result, again)

    async def _open(self, result: ToolResult) -> ApprovalRecord | None:
        error = result.error
        if error is None or error.code is not ErrorCode.APPROVAL_REQUIRED or not isinstance(error.detail, dict):
            return None
        return await self.store.approval(str(error.detail.get("approval", "")))

    async def _decided(
        self, approval: str, answer: ElicitResult, trusted: TrustedContext, result: ToolResult, again: Again
    ) -> ToolResult:
        if answer.action == "cancel":
            return result
        approved = answer.action == "accept" and (answer.content or {}).get("approve") is True
        try:
            by = f"{trusted.subject} (elicitation)"
            await self.store.decide(approval, approved=approved, by=by, comment="answered in the client")
        except KeelError:
            return result  # somebody else has decided meanwhile: the next call will tell
        return await again()


def state_of(params: CallToolRequestParams) -> Mapping[str, Any]:
    """Return the state that the gateway sealed with its question; empty when there is none."""
    if params.request_state is None:
        return {}
    value = json.loads(params.request_state)
    return value if isinstance(value, dict) else {}


def _message(record: ApprovalRecord) -> str:
    request = record.request
    shown = escape(json.dumps(request.show, ensure_ascii=False, indent=None))
    return f"{request.prompt or f'Call `{request.tool}`?'}\n{shown}" if request.show is not None else request.prompt


def _input_required(message: str, approval: str, call_id: str) -> dict[str, Any]:
    params = {"mode": "form", "message": message, "requestedSchema": _FORM}
    return {
        "resultType": "input_required",
        "inputRequests": {_QUESTION: {"method": "elicitation/create", "params": params}},
        "requestState": json.dumps({"approval": approval, "call": call_id}),
    }
