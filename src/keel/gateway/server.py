"""The MCP server in front: frozen definitions out, calls in, and nothing between them but the dispatcher."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, PaginatedRequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from keel.core.model import FrozenTool
from keel.core.redact import Redactor
from keel.core.text import did_you_mean, excerpt
from keel.gateway.approvals import Elicitation, state_of
from keel.gateway.rate import Rate
from keel.gateway.results import COMPLETE, Advice, wire_result
from keel.gateway.tools import Shown, shown_tools
from keel.runtime.budget import RunState
from keel.runtime.dispatch import Dispatcher
from keel.runtime.model import ErrorCode, ToolCall, ToolError, ToolResult, TrustedContext
from keel.runtime.ports import Clock

_MOST_RUNS = 1000
"""How many clients' counters are kept; those that were silent longest are forgotten."""
_MOST_OPERATIONS = 10_000
_FRESH_MS = 60_000
"""How long a client of the 2026 era may keep the list: it cannot change while the gateway runs."""
Context = ServerRequestContext[Any, Any]


class Visit(RunState):
    """The counters of one client's connection; time is counted for each call alone, for a gateway has no end."""

    def remaining_s(self) -> float | None:
        """Return `wall_seconds` of the budget; None for any number."""
        return self._budget.wall_seconds

    def begin(self, tool: str, operation: str, max_calls: int | None) -> bool:
        """Count an operation; of the many that a long life sees only the latest can still be taken back."""
        counted = super().begin(tool, operation, max_calls)
        with self._lock:
            while len(self._counted) > _MOST_OPERATIONS:
                del self._counted[next(iter(self._counted))]
        return counted


@dataclass
class Gateway:
    """Serves one bundle to any number of clients.

    Args:
        dispatcher: takes every call.
        trusted: who calls, as the operator says it; nothing that a client sends changes it.
        clock: what time it is.
        per_second: calls a second in the long run; 0 for any number.
        advice: gives the command that decides on an approval.
        redactor: knows the secrets that nothing may show.
        elicitation: asks a client's user for approvals; None leaves them to the store.
    """

    dispatcher: Dispatcher
    trusted: TrustedContext
    clock: Clock
    per_second: float
    advice: Advice
    redactor: Redactor = field(default_factory=Redactor)
    elicitation: Elicitation | None = None
    _tools: Mapping[str, Shown] = field(init=False)
    _rate: Rate = field(init=False)
    _runs: OrderedDict[str, Visit] = field(init=False, default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self._tools = shown_tools(self.dispatcher.bundle)
        self._rate = Rate(self.per_second, self.clock)

    @property
    def count(self) -> int:
        """How many tools are shown."""
        return len(self._tools)

    def server(self) -> Server[Any]:
        """Return the SDK's server, which serves both protocol eras."""
        bundle = self.dispatcher.bundle
        schemas = {name: shown.definition["inputSchema"] for name, shown in self._tools.items()}
        server: Server[Any] = Server(
            bundle.project,
            version=bundle.digest.removeprefix("sha256:")[:12],
            title=f"{bundle.project} (keel)",
            get_tool_input_schema=schemas.get,
            # The SDK's types for results are wider than what a handler may return.
            on_list_tools=self._list,  # type: ignore[arg-type]
            on_call_tool=self._call,  # type: ignore[arg-type]
        )
        server.middleware = [
            RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=bundle.digest),
        ]
        return server

    async def _list(self, _context: Context, params: PaginatedRequestParams | None) -> dict[str, Any]:
        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "there is one page only")
        tools = [shown.definition for shown in self._tools.values()]
        return {**COMPLETE, "tools": tools, "ttlMs": _FRESH_MS, "cacheScope": "private"}

    async def _call(self, context: Context, params: CallToolRequestParams) -> dict[str, Any]:
        shown = self._tools.get(params.name)
        state = state_of(params)
        call_id = str(state.get("call") or uuid.uuid4().hex)
        tool = shown.tool if shown is not None else None
        if not self._rate.take():
            result = _refused(call_id, self.redactor.clean(params.name), tool, self.per_second)
        elif shown is None:
            result = _unknown(call_id, self.redactor.clean(params.name), self._tools)
        else:
            answer = await self._dispatched(context, params, shown, call_id)
            if isinstance(answer, dict):
                return answer
            result = answer
        return wire_result(result, tool, self.advice)

    async def _dispatched(
        self, context: Context, params: CallToolRequestParams, shown: Shown, call_id: str
    ) -> ToolResult | dict[str, Any]:
        call = ToolCall(call_id=call_id, name=shown.tool.key, arguments=params.arguments or {})
        run = self._run(context)

        async def again() -> ToolResult:
            return await self.dispatcher.dispatch(call, self.trusted, run)

        result = await again()
        if self.elicitation is None:
            return result
        if params.input_responses is not None:
            return await self.elicitation.answered(params, self.trusted, result, again)
        return await self.elicitation.settle(context, result, self.trusted, again)

    def _run(self, context: Context) -> Visit:
        """Return the counters of the client's connection: its session over HTTP, or all that has none.

        The newer era has no sessions: what a client writes into that header there was given to it by nobody.
        """
        request = context.request
        modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        name = "" if request is None or modern else str(request.headers.get("mcp-session-id", ""))
        run = self._runs.pop(name, None) or Visit(self.dispatcher.bundle, self.clock, run_id=self.trusted.run_id)
        self._runs[name] = run
        while len(self._runs) > _MOST_RUNS:
            self._runs.popitem(last=False)
        return run


def _unknown(call_id: str, name: str, known: Mapping[str, Shown]) -> ToolResult:
    guess = did_you_mean(name, known)
    message = f"there is no tool `{excerpt(name, 200)}`" + (f"; {guess}" if guess else "")
    error = ToolError(code=ErrorCode.UNKNOWN_TOOL, message=message)
    return ToolResult(call_id=call_id, tool_name=excerpt(name, 200), ok=False, error=error)


def _refused(call_id: str, name: str, tool: FrozenTool | None, per_second: float) -> ToolResult:
    message = f"more than {per_second:g} calls a second came; call again in a moment"
    error = ToolError(code=ErrorCode.BUDGET_EXCEEDED, message=message, retryable=True)
    version = tool.digest if tool is not None else None
    return ToolResult(call_id=call_id, tool_name=excerpt(name, 200), tool_version=version, ok=False, error=error)
