"""Tool calls of a flow: from a step to the dispatcher, with its approval and its retries, and back to a value."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from keel.authoring.port import ToolStep
from keel.core.canonical import CanonicalError
from keel.core.digest import digest
from keel.core.model import Json
from keel.core.text import excerpt
from keel.errors import ToolCallError
from keel.runtime.gategrants import GateGrants
from keel.runtime.humangates import denied
from keel.runtime.journal import Unit
from keel.runtime.model import ApprovalState, ErrorCode, GateUse, ToolCall, ToolResult
from keel.runtime.native import Callee, NotData, as_data
from keel.runtime.plan import Plan, Planned
from keel.runtime.session import Session
from keel.runtime.sites import Origin


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A call that may be made, as far as that is known before it has a durable unit."""

    planned: Planned | None
    callee: Callee | None
    values: Mapping[str, Any]
    """Arguments as Python values."""
    arguments: Mapping[str, Json]
    attempts: int


@dataclass(frozen=True, slots=True)
class Calls:
    """Makes the tool calls of one flow."""

    session: Session
    plan: Plan | None
    grants: GateGrants

    async def called(
        self, step: ToolStep, origin: Origin | None, site: str, *, gated: bool = False, prompt: str = ""
    ) -> Any:
        """Make one call and return its result: data, or for a native tool a value of its return type.

        Raises:
            ToolCallError: if it is refused or fails.
            ApprovalDenied: if a person was asked for exactly this call and did not approve.
        """
        session = self.session
        with session.trace.step("call", site, step.key, step.options.label or "") as noted:
            try:
                ready = self._prepared(step, origin, site, gated=gated)
            except ToolCallError as error:
                await session.refused("call", step.key, site, error)
                raise
            with session.journal.unit(site, [step.key, dict(ready.arguments)]) as unit:
                noted.call_id = unit.id
                use = None if gated else await self._use(step.key, ready, origin, site, unit)
                call = ToolCall(call_id=unit.id, name=step.key, arguments=ready.arguments, operation=unit.id, site=site)
                seconds = step.options.timeout_s
                result = await self.sent(
                    call, use, gated=gated, prompt=prompt, seconds=seconds, attempts=ready.attempts
                )
                noted.replayed = result.replayed
                data = _data(result)
        return data if ready.callee is None else _value(ready.callee, data, step.key)

    def _prepared(self, step: ToolStep, origin: Origin | None, site: str, *, gated: bool) -> _Prepared:
        planned = None
        if self.plan is not None:
            planned = self.plan.call(origin.place, step.key) if origin is not None else None
            if planned is None or planned.gated is not gated:
                raise misplaced("gated call" if gated else "call", step.key, site)
        callee = self.session.callee(step.function) if step.function is not None else None
        values, arguments = _arguments(step, callee)
        return _Prepared(planned, callee, values, arguments, self._attempts(step))

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

    async def _use(self, key: str, ready: _Prepared, origin: Origin | None, site: str, unit: Unit) -> GateUse | None:
        if not self.session.needs_approval(key):
            return None
        try:
            return self.grants.use(key, ready.planned, origin, ready.values, digest(dict(ready.arguments)), unit.id)
        except ToolCallError as error:
            await self.session.refused("call", key, site, error)
            raise

    async def sent(
        self,
        call: ToolCall,
        use: GateUse | None,
        *,
        gated: bool = False,
        prompt: str = "",
        seconds: float | None = None,
        attempts: int = 1,
    ) -> ToolResult:
        """Dispatch a call, let its approval be decided where it needs one, and repeat it as often as admitted.

        Every attempt is the same call: same id, same operation, same idempotency key, same approval.

        Raises:
            ApprovalDenied: if a person denied the exact call or did not answer in time.
        """
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


def misplaced(kind: str, name: str, site: str) -> ToolCallError:
    """Return the error of a step that the bundle's graph of the flow does not have."""
    where = f"`{site}`" if site else "a place outside the bundle's sources"
    what = f"{kind} `{excerpt(name)}`" if name else kind
    return ToolCallError(
        f"the bundle's graph has no {what} at {where}",
        code=ErrorCode.NOT_GRANTED.value,
        hint="run what was bundled: `keel check` finds steps that it cannot follow, `keel bundle` records the rest",
    )


def _question(result: ToolResult) -> str | None:
    """Return the id of the approval that a result waits for."""
    error = result.error
    if error is None or error.code is not ErrorCode.APPROVAL_REQUIRED or not isinstance(error.detail, Mapping):
        return None
    found = error.detail.get("approval")
    return found if isinstance(found, str) else None


def _data(result: ToolResult) -> Json:
    if result.error is not None:
        raise ToolCallError(result.error.message, code=result.error.code.value, retryable=result.error.retryable)
    return result.data


def _value(callee: Callee, data: Json, key: str) -> Any:
    try:
        return callee.result_value(data)
    except ValidationError as error:
        raise ToolCallError(
            f"the result of `{excerpt(key)}` does not fit its return type: {excerpt(str(error), 200)}",
            code=ErrorCode.INVALID_RESULT.value,
        ) from error


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
