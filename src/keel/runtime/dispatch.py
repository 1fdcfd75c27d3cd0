"""The one way to a tool: every call goes through the same steps, in the same order, and always gives a result."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from keel.core.model import FrozenTool, Json, split_key
from keel.core.redact import Redactor
from keel.core.text import excerpt
from keel.errors import KeelError, UsageError
from keel.runtime import grants
from keel.runtime.answering import Answers
from keel.runtime.asking import Ask
from keel.runtime.budget import RunState
from keel.runtime.bundle import Bundle
from keel.runtime.checked import PreflightReport
from keel.runtime.checks import Checks, has_effect
from keel.runtime.clock import SystemClock
from keel.runtime.comparing import Preflight, credential_names, fresh_tools
from keel.runtime.deciding import admission, in_progress, other_call, unavailable, undecided
from keel.runtime.limits import Limits
from keel.runtime.model import (
    Admitted,
    Decision,
    ErrorCode,
    GateUse,
    OperationState,
    ToolCall,
    ToolResult,
    TrustedContext,
)
from keel.runtime.ports import AuditLog, Clock, Ledger, NativeTools, Policy, StoreUnavailable, Upstream
from keel.runtime.reads import ReadRecords
from keel.runtime.recording import Record, Recorder
from keel.runtime.refusal import Refused
from keel.runtime.schemas import Validators
from keel.runtime.sending import Ended, Sender, lost
from keel.runtime.trail import Trail
from keel.runtime.turns import Turns


class Dispatcher:
    """Executes calls under one bundle; one of it serves any number of runs at the same time.

    Args:
        bundle: what may be called.
        upstream: the MCP servers.
        ledger: operations and approvals.
        audit: what was asked, decided and done.
        native: the native tools; without it they cannot be called.
        policy: the host's own rules, which can only take away.
        clock: what time it is.
        redactor: knows the secrets that nothing may show.
        limits: bounds.

    Raises:
        UsageError: if preflight is switched off where the bundle uses secrets.
    """

    def __init__(  # noqa: PLR0913 - one argument for each port
        self,
        bundle: Bundle,
        *,
        upstream: Upstream,
        ledger: Ledger,
        audit: AuditLog,
        native: NativeTools | None = None,
        policy: Policy | None = None,
        clock: Clock | None = None,
        redactor: Redactor | None = None,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        if not limits.preflight and (bundle.secrets or any(map(credential_names, bundle.servers.values()))):
            raise UsageError(
                "preflight cannot be switched off for a bundle that uses secrets",
                hint="leave `Limits.preflight` as it is",
            )
        self.bundle = bundle
        self.limits = limits
        self._ledger = ledger
        self._audit = audit
        self._clock = clock or SystemClock()
        self.redactor = redactor if redactor is not None else Redactor()
        """Knows the secrets of the run."""
        validators = Validators(self.redactor.clean)
        self._preflight = Preflight(bundle, upstream, self._clock, limits.preflight_ttl_s)
        self._checks = Checks(bundle, validators, policy, self._preflight if limits.preflight else None)
        self._sender = Sender(upstream, native, validators, limits, self.redactor)
        self._answers = Answers(bundle, limits, self.redactor)
        self._reads = ReadRecords()
        self._recorder = Recorder()
        self._turns = Turns()

    async def preflight(
        self, servers: Iterable[str], *, referenced: frozenset[str] | None = None, run: RunState | None = None
    ) -> PreflightReport:
        """Compare servers with the bundle, as `keel drift` does; what they said is believed for `preflight_ttl_s`.

        Args:
            servers: those that the started flow names; for a gateway all.
            referenced: keys in which a difference counts fully: the flow's; None for every admitted one.
            run: the run that starts. With `freeze-timing = "per_run"` servers are asked afresh, and what those that
                pass offer now is what this run calls.
        """
        per_run = run is not None and self.bundle.freeze_timing == "per_run"
        report = await self._preflight.report(servers, referenced, afresh=per_run)
        if run is not None and per_run:
            for check in report.checks:
                run.fresh.update(fresh_tools(self.bundle, check))
        return report

    async def dispatch(
        self,
        call: ToolCall,
        trusted: TrustedContext,
        run: RunState,
        *,
        gate_use: GateUse | None = None,
        exact: bool = False,
        prompt: str = "",
        timeout_s: float | None = None,
    ) -> ToolResult:
        """Take one call through every step; a fault of the call is a result, never an exception.

        Args:
            call: what is asked for.
            trusted: who asks, as the host knows it.
            run: the run that the call counts for.
            gate_use: the approval of a flow's gate that covers the call.
            exact: whether a person has to approve exactly this call, whatever the contract says.
            prompt: what that person is asked.
            timeout_s: seconds for the call; the tool's grant may allow less.
        """
        trail = Trail.of(call, trusted, audit=self._audit, redactor=self.redactor, bundle=self.bundle.digest)
        deadline = self._clock.monotonic() + self._seconds(call, run, timeout_s)
        ask = Ask(call, trusted, run, trail, deadline, gate_use, exact, prompt)
        ask.identify()
        values = dict(ask.call.arguments) if self.limits.audit_arguments else None
        trail.note("asked", arguments=ask.arguments, values=values)
        try:
            await self._recorder.pay()
            return await self._pipeline(ask)
        except Refused as refused:
            return await self._refused(ask, refused)

    def _seconds(self, call: ToolCall, run: RunState, timeout_s: float | None) -> float:
        seconds, remaining = grants.timeout_of(self.bundle, call.name, timeout_s), run.remaining_s()
        return seconds if remaining is None else min(seconds, remaining)

    async def _pipeline(self, ask: Ask) -> ToolResult:
        """Take the steps of DESIGN section 9; the first that refuses decides."""
        tool = ask.tool = self._checks.resolved(ask)
        record = self._record_of(ask, tool)
        async with self._turns.alone(ask, self._left(ask)):
            done = await self._recorded(ask, tool, record)
            if done is not None:
                return done
            self._checks.fits(ask, tool)
            self._checks.known(ask.trusted)
            self._checks.granted(tool)
            await self._checks.ruled(ask, self._left(ask))
            self._checks.reaches(tool, self._sender.endpoint(tool.key))
            await self._checks.undrifted(ask, tool)
            counted = self._checks.budgeted(ask, tool)
            begun = False
            try:
                admitted = await self._admitted(ask, tool, record)
                begun = admitted.decision is Decision.ADMITTED
            finally:
                if counted and not begun:
                    ask.run.forget(ask.key)
            if not begun:
                return await self._replayed(ask, tool, admitted.result)
            return await self._executed(ask, tool, record, admitted.attempt)

    def _record_of(self, ask: Ask, tool: FrozenTool) -> Record:
        """Return where the operation of a call stands: in the ledger, unless it is a read that need not last."""
        asked = ask.exact or ask.gate_use or self._checks.policy or grants.needs_approval(self.bundle, tool)
        lasting = self.limits.durable_reads or has_effect(tool) or asked
        return self._ledger if lasting else self._reads

    async def _recorded(self, ask: Ask, tool: FrozenTool, record: Record) -> ToolResult | None:
        """Return the recorded result of this call id; the same id with another call is refused."""
        trusted = ask.trusted
        try:
            known = await record.recorded(ask.call.call_id, tenant=trusted.tenant, subject=trusted.subject)
        except StoreUnavailable as error:
            raise unavailable(error, "store_unavailable") from error
        if known is None:
            return None
        if known.tool != tool.key or known.arguments_digest != ask.arguments:
            raise other_call(ask)
        return await self._replayed(ask, tool, known.result) if known.state.final else None

    async def _admitted(self, ask: Ask, tool: FrozenTool, record: Record) -> Admitted:
        """Consume the approval and reserve the operation, or refuse."""
        wanted = admission(
            ask,
            tool,
            self._left(ask),
            bundle=self.bundle,
            limits=self.limits,
            clock=self._clock,
            redactor=self.redactor,
        )
        try:
            admitted = await record.admit(wanted)
        except StoreUnavailable as error:
            raise unavailable(error, "store_unavailable") from error
        except KeelError as error:
            raise other_call(ask) from error
        if admitted.approval is not None:
            ask.approved = {"approval": admitted.approval.id, "by": admitted.approval.by}
        if admitted.decision not in (Decision.ADMITTED, Decision.RECORDED):
            raise undecided(ask, tool, admitted)
        return admitted

    # -- execution ------------------------------------------------------------------------------

    async def _executed(self, ask: Ask, tool: FrozenTool, record: Record, attempt: int) -> ToolResult:
        sent = False
        try:
            await self._announced(ask, tool, record, attempt)
            sent = True
            ended = await self._sender.send(tool, dict(ask.call.arguments), ask.key, self._left(ask))
        except Refused as refused:
            ended = Ended(OperationState.FAILED_SAFE_TO_RETRY, refused=refused)
        except asyncio.CancelledError:
            await self._settled(ask, tool, record, _cancelled(tool, sent=sent), attempt)
            raise
        result = await self._settled(ask, tool, record, ended, attempt)
        return await self._once_more(ask, tool, record) if ended.drifted and not ask.again else result

    async def _announced(self, ask: Ask, tool: FrozenTool, record: Record, attempt: int) -> None:
        """Record that the call is about to be sent; without that it is not sent."""
        if self._left(ask) <= 0:
            message = f"the time for `{excerpt(tool.key)}` was over before it was called"
            raise Refused(ErrorCode.TIMEOUT, message, retryable=True)
        ask.trail.note("decided", decision="admitted", operation=ask.key, attempt=attempt, **ask.approved)
        ask.trail.note("executing", definition=tool.digest, attempt=attempt)
        try:
            await ask.trail.write(durable=has_effect(tool))
        except StoreUnavailable as error:
            raise unavailable(error, "audit_unavailable") from error
        try:
            await record.executing(ask.key, attempt=attempt)
        except StoreUnavailable as error:
            raise unavailable(error, "store_unavailable") from error
        except KeelError as error:
            raise in_progress(ask) from error

    async def _settled(self, ask: Ask, tool: FrozenTool, record: Record, ended: Ended, attempt: int) -> ToolResult:
        result = self._answers.result(ask, tool, ended)
        await self._recorder.settle(ask, record, ended, attempt, result, durable=has_effect(tool))
        return self._answers.result(ask, tool, ended) if ask.notes else result

    async def _once_more(self, ask: Ask, tool: FrozenTool, record: Record) -> ToolResult:
        """Compare the server again after its list changed, and call it if nothing of weight did."""
        ask.again = True
        self._preflight.changed(split_key(tool.key)[0])
        await self._checks.undrifted(ask, tool)
        admitted = await self._admitted(ask, tool, record)
        if admitted.decision is Decision.RECORDED:
            return await self._replayed(ask, tool, admitted.result)
        return await self._executed(ask, tool, record, admitted.attempt)

    async def _replayed(self, ask: Ask, tool: FrozenTool, kept: Json) -> ToolResult:
        ask.trail.note("decided", decision="recorded", operation=ask.key)
        await self._noted(ask)
        return self._answers.replayed(ask, tool, kept)

    async def _refused(self, ask: Ask, refused: Refused) -> ToolResult:
        detail = refused.error(self.redactor).detail
        ask.trail.note("decided", decision=refused.code.value, detail=detail, **ask.approved)
        await self._noted(ask)
        return self._answers.refused(ask, refused)

    async def _noted(self, ask: Ask) -> None:
        """Write the events of a call that executed nothing: it is answered even where that fails."""
        try:
            await ask.trail.write()
        except StoreUnavailable:
            ask.notes.append("the audit log could not be written")

    def _left(self, ask: Ask) -> float:
        return ask.deadline - self._clock.monotonic()


def _cancelled(tool: FrozenTool, *, sent: bool) -> Ended:
    said = f"`{excerpt(tool.key)}` was cancelled"
    if sent:
        return lost(tool, said)
    refused = Refused(ErrorCode.TIMEOUT, f"{said} before it was sent", retryable=True)
    return Ended(OperationState.FAILED_SAFE_TO_RETRY, refused=refused)
