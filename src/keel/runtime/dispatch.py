"""The one way to a tool: every call goes through the same steps, in the same order, and always gives a result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from keel.core.canonical import CanonicalError, canonical_bytes
from keel.core.model import Effect, FrozenTool, Json, split_key
from keel.core.redact import Redactor
from keel.core.text import did_you_mean, escape, excerpt
from keel.errors import KeelError, UsageError
from keel.manifest.network import host_of, reaches
from keel.runtime import grants
from keel.runtime.budget import BudgetError, RunState
from keel.runtime.bundle import Bundle
from keel.runtime.clock import SystemClock
from keel.runtime.comparing import Preflight, PreflightReport, credential_names, fresh_tools
from keel.runtime.keys import arguments_digest, operation_key
from keel.runtime.limits import Limits
from keel.runtime.model import (
    Admission,
    Admitted,
    ApprovalRequest,
    ApprovalState,
    Decision,
    ErrorCode,
    GateUse,
    Observation,
    OperationState,
    ToolCall,
    ToolResult,
    TrustedContext,
)
from keel.runtime.observation import observe
from keel.runtime.ports import AuditLog, Clock, Ledger, NativeTools, Policy, Ruling, StoreUnavailable, Upstream
from keel.runtime.reads import ReadRecords
from keel.runtime.refusal import Refused, read_record, recorded_data, recorded_error, scrubbed
from keel.runtime.schemas import Validators
from keel.runtime.sending import Ended, Sender, lost
from keel.runtime.trail import Trail

Record: TypeAlias = Ledger | ReadRecords

SETTLE_AFTER_S = (0.05, 0.2, None)
"""Seconds to wait after each failed attempt to record how a call ended; after the last one it is owed."""


@dataclass(slots=True)
class _Ask:
    """One call on its way through the pipeline."""

    call: ToolCall
    trusted: TrustedContext
    run: RunState
    trail: Trail
    deadline: float
    gate_use: GateUse | None = None
    exact: bool = False
    prompt: str = ""
    arguments: str | None = None
    """Digest of the arguments; None where they are no JSON."""
    unsound: str = ""
    """Why they are none."""
    key: str = ""
    tool: FrozenTool | None = None
    again: bool = False
    """Whether it was sent once already and did not leave, because the server's list changed."""
    approved: dict[str, Json] = field(default_factory=dict)
    """Approval and who gave it, for the audit log."""
    notes: list[str] = field(default_factory=list)


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
        self._policy = policy
        self._clock = clock or SystemClock()
        self._redactor = redactor if redactor is not None else Redactor()
        self._validators = Validators()
        self._sender = Sender(upstream, native, self._validators, limits, self._redactor)
        self._reads = ReadRecords()
        self._preflight = Preflight(bundle, upstream, self._clock, limits.preflight_ttl_s)
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}
        self._owed: dict[str, tuple[OperationState, Json, int]] = {}
        """Endings that the ledger could not take yet."""
        self._background: set[asyncio.Task[None]] = set()

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
        ask = self._asked(call, trusted, run, timeout_s)
        ask.gate_use, ask.exact, ask.prompt = gate_use, exact, prompt
        try:
            await self._pay()
            ask.trail.note("asked", arguments=ask.arguments, **self._told(call))
            return await self._pipeline(ask)
        except Refused as refused:
            return await self._refused(ask, refused)

    def _asked(self, call: ToolCall, trusted: TrustedContext, run: RunState, timeout_s: float | None) -> _Ask:
        trail = Trail.of(call, trusted, audit=self._audit, redactor=self._redactor, bundle=self.bundle.digest)
        seconds = grants.timeout_of(self.bundle, call.name, timeout_s)
        remaining = run.remaining_s()
        seconds = seconds if remaining is None else min(seconds, remaining)
        ask = _Ask(call, trusted, run, trail, self._clock.monotonic() + seconds)
        try:
            ask.arguments = arguments_digest(call.arguments)
            ask.key = operation_key(call, trusted, ask.arguments)
        except CanonicalError as error:
            ask.unsound = error.message
        return ask

    def _told(self, call: ToolCall) -> dict[str, Json]:
        return {"values": dict(call.arguments)} if self.limits.audit_arguments else {}

    # -- the pipeline, in the order of its steps ------------------------------------------------

    async def _pipeline(self, ask: _Ask) -> ToolResult:
        tool = ask.tool = self._resolved(ask)
        record = self._record_of(ask, tool)
        async with self._alone(ask):
            done = await self._recorded(ask, tool, record)
            if done is not None:
                return done
            self._fits(ask, tool)
            _known_caller(ask.trusted)
            self._granted(tool)
            await self._policy_admits(ask)
            self._reaches(tool)
            await self._undrifted(ask, tool)
            counted = self._budgeted(ask, tool)
            try:
                admitted = await self._admitted(ask, tool, record)
            except BaseException:
                if counted:
                    ask.run.forget(ask.key)
                raise
            if admitted.decision is Decision.RECORDED:
                if counted:
                    ask.run.forget(ask.key)
                return await self._replayed(ask, tool, admitted.result)
            return await self._executed(ask, tool, record, admitted.attempt)

    def _resolved(self, ask: _Ask) -> FrozenTool:
        name = ask.call.name
        tool = ask.run.fresh.get(name) or self.bundle.tools.get(name)
        if tool is None:
            hint = did_you_mean(name, self.bundle.admitted)
            message = f"there is no tool `{excerpt(name)}` in the bundle{'; ' if hint else ''}{hint}"
            raise Refused(ErrorCode.UNKNOWN_TOOL, message)
        if not self.bundle.manifest.admits(name):
            raise Refused(ErrorCode.NOT_GRANTED, f"the manifest does not grant `{excerpt(name)}`")
        return tool

    def _record_of(self, ask: _Ask, tool: FrozenTool) -> Record:
        harmless = not _has_effect(tool)
        plain = not (ask.exact or ask.gate_use or grants.needs_approval(self.bundle, tool) or self._policy)
        return self._reads if harmless and plain and not self.limits.durable_reads else self._ledger

    async def _recorded(self, ask: _Ask, tool: FrozenTool, record: Record) -> ToolResult | None:
        """Return the recorded result of this call id; the same id with another call is refused."""
        try:
            known = await record.recorded(ask.call.call_id, tenant=ask.trusted.tenant, subject=ask.trusted.subject)
        except StoreUnavailable as error:
            raise _unavailable(error, "store_unavailable") from error
        if known is None:
            return None
        if known.tool != tool.key or known.arguments_digest != ask.arguments:
            raise _other_call(ask)
        if known.state.final:
            return await self._replayed(ask, tool, known.result)
        return None

    def _fits(self, ask: _Ask, tool: FrozenTool) -> None:
        if ask.unsound:
            message = f"the arguments hold what JSON does not have: {ask.unsound}"
            raise Refused(
                ErrorCode.INVALID_ARGUMENTS, message, detail={"errors": [{"pointer": "", "message": message}]}
            )
        misfits = self._validators.arguments(tool, dict(ask.call.arguments))
        if misfits:
            said = "; ".join(f"`{item.pointer}`: {item.message}" for item in misfits[:3])
            more = f"; and {len(misfits) - 3} more" if len(misfits) > 3 else ""
            listed = [{"pointer": item.pointer, "message": item.message} for item in misfits]
            message = f"the arguments do not fit the input schema of `{excerpt(tool.key)}`: {said}{more}"
            raise Refused(ErrorCode.INVALID_ARGUMENTS, message, detail={"errors": listed})

    def _granted(self, tool: FrozenTool) -> None:
        if not self.bundle.admits(tool.key):
            server = excerpt(split_key(tool.key)[0])
            raise Refused(ErrorCode.NOT_GRANTED, f"the manifest does not admit the server `{server}`")

    async def _policy_admits(self, ask: _Ask) -> None:
        if self._policy is None:
            return
        try:
            async with asyncio.timeout(self._left(ask)):
                ruling = await self._policy.rule(ask.call, ask.trusted)
        except Exception as error:  # a policy that fails has not allowed anything
            message = f"the policy could not rule on the call: {excerpt(f'{type(error).__name__}: {error}', 300)}"
            raise Refused(ErrorCode.NOT_GRANTED, message, detail={"by": "policy"}) from error
        if ruling.ruling is Ruling.DENY:
            message = f"the policy denies the call: {excerpt(ruling.reason or 'no reason given', 300)}"
            raise Refused(ErrorCode.NOT_GRANTED, message, detail={"by": "policy"})
        if ruling.ruling is Ruling.REQUIRE:
            ask.exact = True
            ask.prompt = ask.prompt or ruling.reason

    def _reaches(self, tool: FrozenTool) -> None:
        allowed, url = self.bundle.manifest.network, self._sender.endpoint(tool.key)
        if url and allowed is not None and not reaches(url, allowed):
            host = excerpt(host_of(url)[0] or url)
            message = f"`{host}`, where `{excerpt(tool.key)}` is, is not in the manifest's `network`"
            raise Refused(ErrorCode.NETWORK_DENIED, message)

    async def _undrifted(self, ask: _Ask, tool: FrozenTool) -> None:
        server, _ = split_key(tool.key)
        if not server or not self.limits.preflight:
            return
        check = await self._preflight.check(server, ask.run.referenced)
        if not check.ok:
            detail: Json = {"code": check.gap.code if check.gap else check.errors[0].code}
            raise Refused(ErrorCode.SURFACE_DRIFT, check.why, retryable=check.gap is not None, detail=detail)

    def _budgeted(self, ask: _Ask, tool: FrozenTool) -> bool:
        try:
            return ask.run.begin(tool.key, ask.key, grants.max_calls(self.bundle, tool.key))
        except BudgetError as error:
            detail: Json = {"limit": error.limit, "allowed": error.allowed}
            raise Refused(ErrorCode.BUDGET_EXCEEDED, str(error), detail=detail) from error

    async def _admitted(self, ask: _Ask, tool: FrozenTool, record: Record) -> Admitted:
        try:
            admitted = await record.admit(self._admission(ask, tool))
        except StoreUnavailable as error:
            raise _unavailable(error, "store_unavailable") from error
        except KeelError as error:
            raise _other_call(ask) from error
        approval = admitted.approval
        if approval is not None:
            ask.approved = {"approval": approval.id, "by": approval.by}
        if admitted.decision not in (Decision.ADMITTED, Decision.RECORDED):
            raise _undecided(ask, tool, admitted)
        return admitted

    def _admission(self, ask: _Ask, tool: FrozenTool) -> Admission:
        needed = ask.exact or grants.needs_approval(self.bundle, tool)
        covered = needed and not ask.exact and ask.gate_use is not None
        return Admission(
            key=ask.key,
            call_id=ask.call.call_id,
            tool=tool.key,
            definition=tool.digest,
            arguments_digest=ask.arguments or "",
            tenant=ask.trusted.tenant,
            subject=ask.trusted.subject,
            run_id=ask.trusted.run_id,
            repeatable=tool.contract.retryable,
            lease_s=max(self._left(ask), 0.0) + self.limits.lease_grace_s,
            gate_use=ask.gate_use if covered else None,
            exact=self._question(ask, tool) if needed and not covered else None,
        )

    def _question(self, ask: _Ask, tool: FrozenTool) -> ApprovalRequest:
        shown: Json = {"tool": tool.key, "arguments": dict(ask.call.arguments)}
        prompt = ask.prompt or f"call `{tool.key}`?"
        return ApprovalRequest(
            tenant=ask.trusted.tenant,
            subject=ask.trusted.subject,
            run_id=ask.trusted.run_id,
            prompt=self._redactor.clean(escape(prompt)),
            show=scrubbed(shown, self._redactor),
            tool=tool.key,
            definition=tool.digest,
            arguments_digest=ask.arguments or "",
            occurrence=ask.call.site,
            expires_at=self._clock.now() + self.limits.approval_ttl_s,
        )

    # -- execution ------------------------------------------------------------------------------

    async def _executed(self, ask: _Ask, tool: FrozenTool, record: Record, attempt: int) -> ToolResult:
        sent = False
        try:
            await self._announced(ask, tool, record, attempt)
            sent = True
            ended = await self._sender.send(tool, dict(ask.call.arguments), ask.key, self._left(ask))
        except Refused as refused:
            ended = Ended(OperationState.FAILED_SAFE_TO_RETRY, refused=refused)
        except asyncio.CancelledError:
            said = f"`{excerpt(tool.key)}` was cancelled"
            ended = lost(tool, said) if sent else Ended(OperationState.FAILED_SAFE_TO_RETRY, refused=_cancelled(said))
            await self._settled(ask, record, ended, attempt, self._result(ask, tool, ended))
            raise
        result = self._result(ask, tool, ended)
        await self._settled(ask, record, ended, attempt, result)
        if ended.drifted and not ask.again:
            self._preflight.changed(split_key(tool.key)[0])
            return await self._once_more(ask, tool, record)
        return replace(result, notes=tuple(ask.notes)) if ask.notes else result

    async def _announced(self, ask: _Ask, tool: FrozenTool, record: Record, attempt: int) -> None:
        """Record that the call is about to be sent; without that it is not sent."""
        self._in_time(ask, tool)
        ask.trail.note("decided", decision="admitted", operation=ask.key, attempt=attempt, **ask.approved)
        ask.trail.note("executing", definition=tool.digest, attempt=attempt)
        try:
            await ask.trail.write(durable=_has_effect(tool))
        except StoreUnavailable as error:
            raise _unavailable(error, "audit_unavailable") from error
        try:
            await record.executing(ask.key, attempt=attempt)
        except StoreUnavailable as error:
            raise _unavailable(error, "store_unavailable") from error
        except KeelError as error:
            raise _in_progress(ask) from error

    def _in_time(self, ask: _Ask, tool: FrozenTool) -> None:
        if self._left(ask) <= 0:
            message = f"the time for `{excerpt(tool.key)}` was over before it was called"
            raise Refused(ErrorCode.TIMEOUT, message, retryable=True)

    async def _once_more(self, ask: _Ask, tool: FrozenTool, record: Record) -> ToolResult:
        """Compare the server again after its list changed, and call it if nothing of weight did."""
        ask.again = True
        await self._undrifted(ask, tool)
        admitted = await self._admitted(ask, tool, record)
        if admitted.decision is Decision.RECORDED:
            return await self._replayed(ask, tool, admitted.result)
        return await self._executed(ask, tool, record, admitted.attempt)

    async def _settled(self, ask: _Ask, record: Record, ended: Ended, attempt: int, result: ToolResult) -> None:
        """Record how a call ended, even if the caller leaves meanwhile: settling twice says the same."""
        try:
            await self._settle(ask, record, ended, attempt, result)
        except asyncio.CancelledError:
            settling = asyncio.ensure_future(self._settle(ask, record, ended, attempt, result))
            self._background.add(settling)
            settling.add_done_callback(self._background.discard)
            await asyncio.shield(settling)
            raise

    async def _settle(self, ask: _Ask, record: Record, ended: Ended, attempt: int, result: ToolResult) -> None:
        """Record how a call ended; what cannot be recorded now is owed, and the result says so."""
        kept = recorded_data(ended.data) if result.error is None else recorded_error(result.error)
        try:
            await self._kept(record, ask.key, ended.state, kept, attempt)
        except StoreUnavailable:
            self._owed[ask.key] = (ended.state, kept, attempt)
            ask.notes.append("the ledger could not be written after the call; its ending is kept in memory")
        except KeelError as error:
            ask.notes.append(f"the ledger did not take the ending: {escape(error.message)}")
        ask.trail.note(
            "settled",
            state=ended.state.value,
            code=result.error.code.value if result.error else None,
            result=result.observation.digest if result.observation else None,
        )
        try:
            await ask.trail.write(durable=ask.tool is not None and _has_effect(ask.tool))
        except StoreUnavailable:
            ask.notes.append("the audit log could not be written after the call")

    async def _kept(self, record: Record, key: str, state: OperationState, kept: Json, attempt: int) -> None:
        for pause in SETTLE_AFTER_S:
            try:
                await record.settle(key, state, kept, attempt=attempt)
            except StoreUnavailable:
                if pause is None:
                    raise
                await asyncio.sleep(pause)
            else:
                return

    async def _pay(self) -> None:
        """Record the endings that the ledger could not take before."""
        for key, (state, kept, attempt) in list(self._owed.items()):
            try:
                await self._ledger.settle(key, state, kept, attempt=attempt)
            except StoreUnavailable:
                return
            except KeelError:
                pass  # it has been reconciled, or taken over, meanwhile
            self._owed.pop(key, None)

    # -- results --------------------------------------------------------------------------------

    def _result(self, ask: _Ask, tool: FrozenTool, ended: Ended, *, replayed: bool = False) -> ToolResult:
        error = ended.refused.error(self._redactor) if ended.refused is not None else None
        return ToolResult(
            call_id=ask.call.call_id,
            tool_name=tool.key,
            tool_version=tool.digest,
            ok=error is None,
            data=ended.data if error is None else None,
            error=error,
            observation=self._observed(tool, ended.data) if error is None or ended.data is not None else None,
            replayed=replayed,
        )

    def _observed(self, tool: FrozenTool, data: Json) -> Observation:
        text = canonical_bytes(data).decode()
        trust = grants.trust_of(self.bundle, tool.key).value
        limit = self.limits.observation_bytes
        return observe(data, text, source=tool.key, trust=trust, limit=limit)

    async def _replayed(self, ask: _Ask, tool: FrozenTool, record: Json) -> ToolResult:
        data, error = read_record(record)
        ask.trail.note("decided", decision="recorded", operation=ask.key)
        notes = await self._written(ask)
        result = self._result(ask, tool, Ended(OperationState.SUCCEEDED, data), replayed=True)
        result = replace(result, notes=notes) if notes else result
        return result if error is None else replace(result, ok=False, data=None, error=error, observation=None)

    async def _refused(self, ask: _Ask, refused: Refused) -> ToolResult:
        error = refused.error(self._redactor)
        ask.trail.note("decided", decision=error.code.value, detail=error.detail, **ask.approved)
        notes = await self._written(ask)
        return ToolResult(
            call_id=ask.call.call_id,
            tool_name=ask.call.name,
            tool_version=ask.tool.digest if ask.tool is not None else None,
            ok=False,
            error=error,
            notes=notes,
        )

    async def _written(self, ask: _Ask) -> tuple[str, ...]:
        """Write the events of a call that executed nothing; it is refused or repeated all the same."""
        try:
            await ask.trail.write()
        except StoreUnavailable:
            return ("the audit log could not be written",)
        return ()

    # -- helpers --------------------------------------------------------------------------------

    def _left(self, ask: _Ask) -> float:
        return ask.deadline - self._clock.monotonic()

    @asynccontextmanager
    async def _alone(self, ask: _Ask) -> AsyncIterator[None]:
        """Let one call of an operation through at a time, so that the others find its result."""
        lock, users = self._locks.get(ask.key, (None, 0))
        lock = lock or asyncio.Lock()
        self._locks[ask.key] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            _, users = self._locks[ask.key]
            if users == 1:
                del self._locks[ask.key]
            else:
                self._locks[ask.key] = (lock, users - 1)


def _has_effect(tool: FrozenTool) -> bool:
    """Tell whether a call may change anything: all do but those that a person asserted as reads."""
    return not (tool.contract.asserted and tool.contract.effect is Effect.READ)


def _known_caller(trusted: TrustedContext) -> None:
    missing = [name for name in ("tenant", "subject") if not getattr(trusted, name)]
    if missing:
        raise Refused(
            ErrorCode.NOT_GRANTED,
            f"the host names no {' and no '.join(missing)} for the call",
            detail={"by": "trusted_context", "missing": missing},
        )


def _other_call(ask: _Ask) -> Refused:
    message = f"call id `{excerpt(ask.call.call_id)}` already stands for another call"
    return Refused(ErrorCode.INVALID_ARGUMENTS, message, detail={"code": "call_id_reused"})


def _unavailable(error: StoreUnavailable, code: str) -> Refused:
    message = f"nothing was executed, because keel could not record it: {escape(error.message)}"
    return Refused(ErrorCode.TOOL_FAILED, message, retryable=True, detail={"code": code})


def _cancelled(said: str) -> Refused:
    return Refused(ErrorCode.TIMEOUT, f"{said} before it was sent", retryable=True)


def _in_progress(ask: _Ask) -> Refused:
    message = f"the operation of call `{excerpt(ask.call.call_id)}` is being executed elsewhere"
    return Refused(ErrorCode.TOOL_FAILED, message, retryable=True, detail={"code": "in_progress"})


def _undecided(ask: _Ask, tool: FrozenTool, admitted: Admitted) -> Refused:
    """Return why the ledger does not let a call pass."""
    name, record = excerpt(tool.key), admitted.approval
    if admitted.decision is Decision.IN_PROGRESS:
        return _in_progress(ask)
    if admitted.decision is Decision.OUTCOME_UNKNOWN:
        message = f"an earlier call of `{name}` was sent and its outcome is not known; reconcile it first"
        return Refused(ErrorCode.OUTCOME_UNKNOWN, message, detail={"operation": ask.key})
    detail: Json = {}
    if record is not None:
        detail = {"approval": record.id, "state": record.state.value}
    if admitted.decision is Decision.APPROVAL_DENIED:
        by = f" by `{excerpt(record.by)}`" if record is not None and record.by else ""
        return Refused(ErrorCode.APPROVAL_REQUIRED, f"the approval of `{name}` was denied{by}", detail=detail)
    if admitted.decision is Decision.APPROVAL_USED:
        detail["state"] = "used"
        message = f"the approval that `{name}` names has admitted another call already"
        return Refused(ErrorCode.APPROVAL_REQUIRED, message, detail=detail)
    message = f"a person has to approve `{name}` first"
    if record is not None and record.state is ApprovalState.PENDING:
        message += f": `keel approve {record.id}`"
    return Refused(ErrorCode.APPROVAL_REQUIRED, message, detail=detail)
