"""The runtime that flows see: each step is placed in the bundle's graph and goes through the dispatcher."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from keel.authoring.approval import Approval
from keel.authoring.port import AgentStep, GatedStep, GateStep, GroupStep, ThinkStep, ToolStep, inside_loop
from keel.core.canonical import CanonicalError
from keel.core.digest import digest
from keel.core.model import Json
from keel.core.text import escape, excerpt
from keel.errors import ApprovalDenied, ToolCallError
from keel.runtime.approvers import Approver
from keel.runtime.budget import RunState
from keel.runtime.bundle import Bundle
from keel.runtime.dispatch import Dispatcher
from keel.runtime.gategrants import GateGrant, GateGrants
from keel.runtime.grants import needs_approval
from keel.runtime.groups import close, run_group
from keel.runtime.journal import Journal, Unit
from keel.runtime.loading import Loaded
from keel.runtime.model import (
    ApprovalRecord,
    ApprovalRequest,
    ApprovalState,
    ErrorCode,
    GateUse,
    ToolCall,
    ToolResult,
    TrustedContext,
)
from keel.runtime.native import Callee, NotData, as_data
from keel.runtime.plan import Plan, Planned
from keel.runtime.ports import ApprovalStore, Clock, Ledger, Models
from keel.runtime.shown import Shown, look
from keel.runtime.sites import BRANCH, Caller, Origin, call_branch
from keel.runtime.threads import across, in_scope, wait_for
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


class FlowPort:
    """Executes the steps of one flow; an implementation of `keel.authoring.port.RuntimePort`."""

    def __init__(self, session: Session, plan: Plan | None) -> None:
        self.session = session
        self.plan = plan
        self.grants = GateGrants(plan)

    # -- steps ----------------------------------------------------------------------------------

    def call_tool(self, step: ToolStep) -> Any:
        """Execute one tool call."""
        return self._step(self._called(step, self._origin()))

    def call_gated(self, step: GatedStep) -> Any:
        """Ask a person with the exact call, then execute it."""
        return self._step(self._called(step.call, self._origin(), gated=True, prompt=step.prompt or ""))

    def gate(self, step: GateStep) -> Any:
        """Ask a person."""
        caller = self._caller()
        origin = caller.origin if caller is not None else None
        return self._step(self._asked(step, origin, look(caller, step.prompt, step.show)))

    def group(self, step: GroupStep) -> Any:
        """Run branches side by side."""
        origin = self._origin()
        within = inside_loop()
        starts = [self._start(branch, origin, threaded=not within) for branch in step.branches]

        async def grouped() -> Any:
            try:
                with self.session.trace.step("group", self.site(origin), step.kind.value):
                    return await run_group(step, starts)
            finally:
                close(step.branches)

        # Branches are bound to the loop that the flow runs in, so the group is too.
        return grouped() if within else wait_for(grouped(), self.session.loop)

    def think(self, step: ThinkStep) -> Any:
        """Ask a model for one answer."""
        from keel.runtime.models import thought  # noqa: PLC0415 - few flows need it

        return self._step(thought(self, step, self._origin()))

    def run_agent(self, step: AgentStep) -> Any:
        """Run an agent to its final answer."""
        from keel.runtime.agents import run_agent  # noqa: PLC0415 - few flows need it

        return self._step(run_agent(self, step, self._origin()))

    # -- where and how --------------------------------------------------------------------------

    def _step(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        loop = self.session.loop
        if not inside_loop():
            return wait_for(coroutine, loop)
        return coroutine if asyncio.get_running_loop() is loop else across(coroutine, loop)

    def _caller(self) -> Caller | None:
        loaded = self.session.loaded
        return loaded.sites.caller() if loaded is not None else None

    def _origin(self) -> Origin | None:
        caller = self._caller()
        return caller.origin if caller is not None else None

    def site(self, origin: Origin | None) -> str:
        """Return `flow@file:line:column` of a step; empty where it is not known."""
        return f"{self.plan.name}@{origin.place}" if self.plan is not None and origin is not None else ""

    def placed(self, kind: str, name: str, origin: Origin | None) -> None:
        """Refuse a step that the bundle's graph of the flow does not have.

        Raises:
            ToolCallError: `not_granted`, naming the site.
        """
        plan = self.plan
        if plan is not None and (origin is None or not plan.has(kind, origin.place, name)):
            raise self._elsewhere(kind, name, origin)

    def _elsewhere(self, kind: str, name: str, origin: Origin | None) -> ToolCallError:
        where = f"`{self.site(origin)}`" if origin is not None else "a place outside the bundle's sources"
        what = f"{kind} `{excerpt(name)}`" if name else kind
        return ToolCallError(
            f"the bundle's graph has no {what} at {where}",
            code=ErrorCode.NOT_GRANTED.value,
            hint="run what was bundled: `keel check` finds steps that it cannot follow, `keel bundle` records the rest",
        )

    def _start(self, branch: Any, origin: Origin | None, *, threaded: bool) -> Callable[[], Awaitable[Any]]:
        if inspect.isawaitable(branch):
            return lambda: branch

        async def start() -> Any:
            BRANCH.set(origin)
            if threaded:
                return await in_scope(lambda: call_branch(branch))
            value = call_branch(branch)
            return await value if inspect.isawaitable(value) else value

        return start

    # -- gates ----------------------------------------------------------------------------------

    async def _asked(self, step: GateStep, origin: Origin | None, shown: Shown) -> Approval:
        self.placed("gate", "", origin)
        site, session = self.site(origin), self.session
        try:
            show = as_data(step.show, "show")
            digest([step.prompt, show])
        except (NotData, CanonicalError) as error:
            raise ToolCallError(
                f"what a gate shows must be data: {error.message}", code=ErrorCode.INVALID_ARGUMENTS.value
            ) from error
        with (
            session.trace.step("gate", site, "human_gate") as noted,
            session.journal.unit(site, [step.prompt, show]) as unit,
        ):
            limit = None if step.timeout_s is None else session.clock.now() + step.timeout_s
            request = ApprovalRequest(
                tenant=session.trusted.tenant,
                subject=session.trusted.subject,
                run_id=session.trusted.run_id,
                prompt=escaped(step.prompt),
                show=show,
                gate=site or "human_gate",
                occurrence=unit.id,
                answer_by=limit,
            )
            record = await session.approvals.ask(request)
            noted.call_id = record.id
            record = await session.approver.decided(record, session.approvals)
            approval = approval_of(record)
            if approval.approved:
                self.grants.add(GateGrant(record.id, origin.place if origin is not None else "", shown))
            else:
                noted.outcome = approval.reason
                if step.on_reject == "raise":
                    raise denied(record)
            return approval

    # -- calls ----------------------------------------------------------------------------------

    async def _called(self, step: ToolStep, origin: Origin | None, *, gated: bool = False, prompt: str = "") -> Any:
        planned = self._planned(step.key, origin, gated=gated)
        callee = self.session.callee(step.function) if step.function is not None else None
        values, arguments = _arguments(step, callee)
        attempts = self._attempts(step)
        site = self.site(origin)
        with (
            self.session.trace.step("call", site, step.key, step.options.label or "") as noted,
            self.session.journal.unit(site, [step.key, arguments]) as unit,
        ):
            noted.call_id = unit.id
            use = None if gated else self._use(step.key, planned, origin, values, arguments, unit)
            call = ToolCall(call_id=unit.id, name=step.key, arguments=arguments, operation=unit.id, site=site)
            result = await self.sent(call, use, gated=gated, prompt=prompt, step=step, attempts=attempts)
            noted.replayed = result.replayed
            data = valued(result)
        if callee is None:
            return data
        try:
            return callee.result_value(data)
        except ValidationError as error:
            raise ToolCallError(
                f"the result of `{excerpt(step.key)}` does not fit its return type: {excerpt(str(error), 200)}",
                code=ErrorCode.INVALID_RESULT.value,
            ) from error

    def _planned(self, key: str, origin: Origin | None, *, gated: bool) -> Planned | None:
        if self.plan is None:
            return None
        planned = self.plan.call(origin.place, key) if origin is not None else None
        if planned is None or planned.gated is not gated:
            raise self._elsewhere("gated call" if gated else "call", key, origin)
        return planned

    def _attempts(self, step: ToolStep) -> int:
        """Return how often a call may be sent.

        Raises:
            ToolCallError: `not_granted`, if it asks for retries that the frozen contract does not admit.
        """
        retries = step.options.retries or 0
        tool, grant = self.session.bundle.tools.get(step.key), self.session.bundle.grant(step.key)
        if retries and tool is not None and not tool.contract.retryable:
            raise ToolCallError(
                f"`{excerpt(step.key)}` must not be sent again: its contract is not asserted as read or repeatable",
                code=ErrorCode.NOT_GRANTED.value,
                hint="remove `retries`, or assert what repeating does in the manifest and bundle again",
            )
        limit = grant.max_attempts if grant is not None else None
        return min(1 + retries, limit) if limit is not None else 1 + retries

    def _use(
        self,
        key: str,
        planned: Planned | None,
        origin: Origin | None,
        values: Mapping[str, Any],
        arguments: Mapping[str, Json],
        unit: Unit,
    ) -> GateUse | None:
        if not self.session.needs_approval(key):
            return None
        return self.grants.use(key, planned, origin, values, digest(arguments), unit.id)

    async def sent(
        self,
        call: ToolCall,
        use: GateUse | None,
        *,
        gated: bool = False,
        prompt: str = "",
        step: ToolStep | None = None,
        attempts: int = 1,
    ) -> ToolResult:
        """Dispatch a call, let its approval be decided where it needs one, and repeat it as often as admitted.

        Every attempt is the same call: same id, same operation, same idempotency key, same approval.

        Raises:
            ApprovalDenied: if a person denied the exact call or did not answer in time.
        """
        seconds = step.options.timeout_s if step is not None else None
        for attempt in range(attempts):
            result = await self._decided(call, use, gated=gated, prompt=prompt, seconds=seconds)
            again = result.error is not None and result.error.retryable and attempt + 1 < attempts
            if not again:
                return result
            pauses = self.session.backoff_s
            await asyncio.sleep(pauses[min(attempt, len(pauses) - 1)])
        raise AssertionError("a call is sent at least once")

    async def _decided(
        self, call: ToolCall, use: GateUse | None, *, gated: bool, prompt: str, seconds: float | None
    ) -> ToolResult:
        session = self.session

        async def dispatch() -> ToolResult:
            return await session.dispatcher.dispatch(
                call, session.trusted, session.state, gate_use=use, exact=gated, prompt=prompt, timeout_s=seconds
            )

        result = await dispatch()
        question = _question(result)
        if question is None:
            return result
        record = await session.approvals.approval(question)
        if record is None:
            return result
        record = await session.approver.decided(record, session.approvals)
        if record.state is not ApprovalState.APPROVED:
            raise denied(record)
        return await dispatch()


def _question(result: ToolResult) -> str | None:
    """Return the id of the approval that a result waits for."""
    error = result.error
    if error is None or error.code is not ErrorCode.APPROVAL_REQUIRED or not isinstance(error.detail, Mapping):
        return None
    found = error.detail.get("approval")
    return found if isinstance(found, str) else None


def valued(result: ToolResult) -> Json:
    """Return a result's data.

    Raises:
        ToolCallError: if the call failed.
    """
    if result.error is not None:
        raise ToolCallError(result.error.message, code=result.error.code.value, retryable=result.error.retryable)
    return result.data


def _arguments(step: ToolStep, callee: Callee | None) -> tuple[dict[str, Any], dict[str, Json]]:
    """Return the arguments of a step by name, as Python values and as JSON data.

    Raises:
        ToolCallError: `invalid_arguments`, if they do not fit the signature or are no data.
    """
    try:
        if callee is not None:
            values = callee.bound(step.args, step.kwargs)
            arguments = callee.data(values)
        else:
            values = dict(step.kwargs)
            arguments = {name: as_data(value, name) for name, value in values.items()}
        digest(arguments)
    except (TypeError, NotData, CanonicalError) as error:
        raise ToolCallError(
            f"the arguments of `{excerpt(step.key)}` cannot be sent: {excerpt(str(error), 200)}",
            code=ErrorCode.INVALID_ARGUMENTS.value,
        ) from error
    return values, arguments


def escaped(text: str) -> str:
    """Return text for people, line by line, with everything visible that could deceive."""
    return "\n".join(escape(line) for line in text.split("\n"))


def approval_of(record: ApprovalRecord) -> Approval:
    """Return what a flow learns of a decided question."""
    if record.state is ApprovalState.APPROVED:
        return Approval(approved=True, reason="approved", by=record.by, comment=record.comment)
    reason = "denied" if record.state is ApprovalState.DENIED else "timeout"
    return Approval(approved=False, reason=reason, by=record.by, comment=record.comment)


def denied(record: ApprovalRecord) -> ApprovalDenied:
    """Return the error of a question that nobody approved."""
    what = f"`{excerpt(record.request.gate or record.request.tool)}`"
    if record.state is not ApprovalState.DENIED:
        return ApprovalDenied(f"nobody answered in time whether {what} may go on")
    who = f" by `{excerpt(record.by)}`" if record.by else ""
    said = f": {excerpt(record.comment, 200)}" if record.comment else ""
    return ApprovalDenied(f"{what} was denied{who}{said}")
