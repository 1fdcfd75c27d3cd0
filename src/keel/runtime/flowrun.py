"""Runs a flow of a bundle: its own Python, each step through the dispatcher."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from keel.authoring.port import running
from keel.core.canonical import CanonicalError, canonical_bytes
from keel.core.digest import digest
from keel.core.model import Json
from keel.core.text import did_you_mean, excerpt, words_of
from keel.errors import ExitCode, KeelError, ToolCallError, UsageError
from keel.runtime.approvers import Approver, StoreApprover
from keel.runtime.budget import RunState
from keel.runtime.bundle import Bundle, FlowPlan
from keel.runtime.clock import SystemClock
from keel.runtime.dispatch import Dispatcher
from keel.runtime.flowport import FlowPort
from keel.runtime.journal import Journal, RunJournal
from keel.runtime.loading import Loaded, load
from keel.runtime.model import ErrorCode, TrustedContext
from keel.runtime.native import Callee, NotData, being_cancelled
from keel.runtime.plan import Plan
from keel.runtime.ports import AuditLog, Clock, Ledger, Models, StoreUnavailable
from keel.runtime.samples import NoAudit
from keel.runtime.session import Session
from keel.runtime.sites import check_positions
from keel.runtime.threads import in_scope
from keel.runtime.trace import Trace, TraceEntry
from keel.runtime.witnessed import WitnessedApprovals

_INCOMPLETE = frozenset({ErrorCode.TIMEOUT.value, ErrorCode.OUTCOME_UNKNOWN.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """Why a run has no value."""

    code: str
    """A dispatch code, `approval-denied`, another code of keel, or `flow-failed` for an exception of the flow."""
    message: str
    hint: str = ""
    retryable: bool = False
    """Whether the same run, under the same id, may simply be started again."""
    incomplete: bool = False
    """Whether it could not be completed, rather than refused or failed: unreachable, timed out, outcome not known."""

    def value(self) -> dict[str, Json]:
        """Return the error as JSON."""
        found: dict[str, Json] = {"code": self.code, "message": self.message, "retryable": self.retryable}
        return {**found, "hint": self.hint} if self.hint else found


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How a run ended."""

    flow: str
    run_id: str
    """Starting the flow again under this id, with the same input, repeats no step that has a result."""
    value: Any = None
    """What the flow returned."""
    data: Json = None
    """The value as JSON."""
    error: RunError | None = None
    exception: BaseException | None = None
    """What the flow raised."""
    trace: tuple[TraceEntry, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the flow returned."""
        return self.error is None


async def run(  # noqa: PLR0913 - the parts of a run
    flow: Callable[..., Any] | str,
    arguments: Mapping[str, Json],
    *,
    bundle: Bundle,
    dispatcher: Dispatcher,
    ledger: Ledger,
    trusted: TrustedContext,
    root: Path,
    approver: Approver | None = None,
    models: Models | None = None,
    contexts: Mapping[str, Json] | None = None,
    loaded: Loaded | None = None,
    journal: Journal | None = None,
    audit: AuditLog | None = None,
    clock: Clock | None = None,
    listener: Callable[[TraceEntry], None] | None = None,
    preflight: bool = True,
) -> RunOutcome:
    """Run one flow to its end.

    Before the first step the sources are compared with the bundle's and imported from its bytes, the arguments are
    checked against the flow's signature, and exactly the servers that the flow names are compared with the lock.

    Args:
        flow: its name in the bundle, or the function itself as `load` gave it.
        arguments: JSON by parameter; values become what the hints name.
        bundle: the bundle.
        dispatcher: carries out the steps; made for the same bundle.
        ledger: the dispatcher's ledger: where questions to people stand, and the results of models.
        trusted: who is asking; its `run_id` names the run, and one is made where it is empty.
        root: the project's folder, below which the bundle's sources lie.
        approver: gets questions to people decided; the default waits for the store.
        models: model providers, for reasoners and agents.
        contexts: what these may read of the session, by scope.
        loaded: what `load` gave for the same bundle, to import it once for many runs.
        journal: bookkeeping of durable units; the default counts in memory and records in the ledger.
        audit: the dispatcher's audit log, for begin and end of the run, and for questions and answers.
        clock: what time it is.
        listener: told of each step as it ends.
        preflight: False leaves the comparison of servers out, for a dry run that reaches none.

    Returns:
        The outcome; an exception of the flow is one, too.

    Raises:
        InputErrors: if a source differs from the bundle's or cannot be imported.
        UsageError: if the flow is not there, cannot be started alone, or the arguments do not fit.
        KeelError: `positions-missing`, if Python keeps no columns.
    """
    check_positions()
    held = loaded if loaded is not None else load(bundle, root)
    try:
        plan = _plan(bundle, held, flow)
        values = _values(plan, held.flows[plan.name], arguments)
        trusted = replace(trusted, run_id=trusted.run_id or uuid.uuid4().hex)
        trace, time = Trace(listener), clock or SystemClock()
        state = RunState(bundle, time, run_id=trusted.run_id, referenced=frozenset(plan.tools))
        log = audit if audit is not None else NoAudit()
        begun = {"flow": plan.name, "run_id": trusted.run_id, "tenant": trusted.tenant, "subject": trusted.subject}
        await log.append({"event": "run_started", **begun, "bundle": bundle.digest, "input": digest(dict(arguments))})
        session = Session(
            bundle=bundle,
            dispatcher=dispatcher,
            trusted=trusted,
            state=state,
            approver=approver if approver is not None else StoreApprover(),
            ledger=ledger,
            approvals=WitnessedApprovals(ledger, log),
            audit=log,
            journal=journal if journal is not None else RunJournal(trusted.run_id),
            clock=time,
            trace=trace,
            loop=asyncio.get_running_loop(),
            models=models,
            contexts=contexts or {},
            loaded=held,
        )
        drifted = await _preflight(dispatcher, plan, state) if preflight else None
        if drifted is None:
            outcome = await _ended(session, plan, held.flows[plan.name], values)
        else:
            outcome = RunOutcome(flow=plan.name, run_id=trusted.run_id, error=drifted)
        ended = "ok" if outcome.error is None else outcome.error.code
        # Every effect is recorded by now; what came of the run is not lost for this.
        with contextlib.suppress(StoreUnavailable):
            await log.append({"event": "run_ended", **begun, "outcome": ended})
        return outcome
    finally:
        if loaded is None:
            held.unload()


def _plan(bundle: Bundle, loaded: Loaded, flow: Callable[..., Any] | str) -> FlowPlan:
    name = flow if isinstance(flow, str) else loaded.name_of(flow)
    if name is None:
        shown = excerpt(getattr(flow, "__qualname__", repr(flow)))
        raise UsageError(
            f"`{shown}` is not a function of the bundle as it was loaded",
            hint="import it after `keel.runtime.load`, or pass the flow's name",
        )
    plan = bundle.flows.get(name)
    if plan is None:
        hint = did_you_mean(name, bundle.flows) or "`keel graph` lists the flows of the project"
        raise UsageError(f"the bundle holds no flow `{excerpt(name)}`", hint=hint)
    if not plan.entry:
        raise UsageError(
            f"`{name}` is declared with `entry=False`: it was checked in the context of its callers",
            hint="start a flow that calls it",
        )
    return plan


def _values(plan: FlowPlan, function: Callable[..., Any], arguments: Mapping[str, Json]) -> dict[str, Any]:
    callee = Callee(function)
    try:
        callee.signature.bind(**arguments)
        return callee.values(arguments)
    except TypeError as error:
        parameters = ", ".join(f"`{name}`" for name in plan.parameters) or "nothing"
        raise UsageError(
            f"the input does not fit flow `{plan.name}`: {error}", hint=f"it takes {parameters}"
        ) from error
    except ValidationError as error:
        told = "; ".join(f"{item['type']}: {item['msg']}" for item in error.errors(include_input=False))
        raise UsageError(f"the input does not fit the types of flow `{plan.name}`: {excerpt(told, 400)}") from error


async def _preflight(dispatcher: Dispatcher, plan: FlowPlan, state: RunState) -> RunError | None:
    if not plan.servers:
        return None
    report = await dispatcher.preflight(plan.servers, referenced=frozenset(plan.tools), run=state)
    if report.ok:
        return None
    told = "; ".join(check.why for check in report.checks if not check.ok)
    unreachable = not any(check.errors for check in report.checks)
    return RunError(
        code=ErrorCode.SURFACE_DRIFT.value,
        message=f"no step was made: {told}",
        hint="see `keel drift`; accept a change with `keel freeze SERVER`, then `keel bundle`",
        retryable=unreachable,
        incomplete=unreachable,
    )


async def _ended(session: Session, plan: FlowPlan, function: Callable[..., Any], values: dict[str, Any]) -> RunOutcome:
    outcome = RunOutcome(flow=plan.name, run_id=session.trusted.run_id)
    try:
        value = await started(session, plan, function, values)
        data = Callee(function).result_data(value)
        _held_to_json(data)
    except asyncio.CancelledError as error:
        if being_cancelled():
            raise
        failed: BaseException = error
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a flow may raise anything, and ends no process
        failed = error
    else:
        return replace(outcome, value=value, data=data, trace=tuple(session.trace.entries))
    said = error_of(failed, session.dispatcher.redactor.clean)
    return replace(outcome, error=said, exception=failed, trace=tuple(session.trace.entries))


def _held_to_json(data: Json) -> None:
    """Refuse a value of a flow that no reader of JSON could read.

    Raises:
        NotData: if it holds NaN, an infinity, a lone surrogate or an integer that nobody reads.
    """
    try:
        canonical_bytes(data)
    except CanonicalError as error:
        raise NotData(f"the result holds what JSON does not have: {error.message}") from error


async def started(
    session: Session, plan: FlowPlan | None, function: Callable[..., Any], values: Mapping[str, Any]
) -> Any:
    """Run a flow's function under a runtime of its own: in the loop, or a sync one in a thread."""
    port = FlowPort(session, Plan(plan.name, plan.graph) if plan is not None else None)
    with running(port):
        if inspect.iscoroutinefunction(function):
            return await function(**values)
        return await in_scope(lambda: function(**values))


def error_of(error: BaseException, clean: Callable[[str], str] = str) -> RunError:
    """Return what a run says of an exception of its flow.

    Args:
        error: the exception.
        clean: takes secrets out of what is said, before it is cut.
    """
    if isinstance(error, ToolCallError):
        return RunError(
            code=error.code,
            message=clean(error.message),
            hint=clean(error.hint),
            retryable=error.retryable,
            incomplete=error.code in _INCOMPLETE,
        )
    if isinstance(error, KeelError):
        incomplete = error.exit_code is ExitCode.INCOMPLETE
        return RunError(code=error.code, message=clean(error.message), hint=clean(error.hint), incomplete=incomplete)
    if isinstance(error, ExceptionGroup):
        inner = [error_of(item, clean) for item in error.exceptions]
        told = "; ".join(item.message for item in inner)
        codes = {item.code for item in inner}
        return RunError(
            code=codes.pop() if len(codes) == 1 else "flow-failed",
            message=excerpt(told, 1000),
            retryable=all(item.retryable for item in inner),
            incomplete=any(item.incomplete for item in inner),
        )
    return RunError(code="flow-failed", message=excerpt(clean(f"{type(error).__name__}: {words_of(error)}"), 500))
