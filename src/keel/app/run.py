"""`keel run`: executes one flow of a bundle, or rehearses it without executing anything."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from keel.app.call import approve_command
from keel.app.runtime import RuntimeOptions, here, opened, runtime
from keel.capture.pool import silent_libraries, terminable
from keel.core.model import Json
from keel.core.text import did_you_mean, escape, excerpt, plural
from keel.errors import ExitCode, UsageError
from keel.runtime.approvers import Approver, CallbackApprover, StoreApprover, TerminalApprover
from keel.runtime.bundle import Bundle
from keel.runtime.clock import SystemClock
from keel.runtime.dispatch import Dispatcher
from keel.runtime.flowrun import RunOutcome, run
from keel.runtime.loading import Loaded, load
from keel.runtime.model import ApprovalRecord, TrustedContext
from keel.runtime.ports import AuditLog, Clock, Ledger, Models
from keel.runtime.samples import NoAudit, SampleModels, SampleTools
from keel.runtime.trace import TraceEntry
from keel.store.ledger_sqlite import SqliteLedger
from keel.upstream.models import ProviderModels


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line asks for."""

    flow: str
    arguments: dict[str, Json]
    run_id: str = ""
    dry_run: bool = False
    fixtures: Mapping[str, Json] = field(default_factory=dict)
    """Results of a dry run, by tool key."""
    terminal: bool = True
    """Whether questions are asked at the terminal; without one they wait in the store."""
    by: str = "terminal"
    """Who sits at the terminal."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run."""

    outcome: RunOutcome
    dry_run: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """0 for a result, 1 if the flow failed or was refused, 3 if it could not be completed."""
        error = self.outcome.error
        if error is None:
            return ExitCode.OK
        return ExitCode.INCOMPLETE if error.incomplete else ExitCode.FINDINGS

    @property
    def json(self) -> dict[str, Json]:
        """The outcome as it is printed."""
        outcome = self.outcome
        found: dict[str, Json] = {
            "flow": outcome.flow,
            "run_id": outcome.run_id,
            "ok": outcome.ok,
            "value": outcome.data,
            "error": outcome.error.value() if outcome.error is not None else None,
        }
        return {**found, "dry_run": True} if self.dry_run else found

    @property
    def json_with_trace(self) -> dict[str, Json]:
        """The outcome with every step."""
        return {**self.json, "trace": [entry.value() for entry in self.outcome.trace]}

    @property
    def verdict(self) -> str:
        """One line that says how it ended."""
        outcome = self.outcome
        steps = plural(len(outcome.trace), "step")
        rehearsed = ", nothing was executed" if self.dry_run else ""
        ended = "ok" if outcome.error is None else outcome.error.code
        return f"run: {ended} ({escape(outcome.flow)}, {steps}{rehearsed})"


@dataclass(frozen=True, slots=True)
class _Stage:
    """What a run needs beside its flow."""

    bundle: Bundle
    root: Path
    loaded: Loaded | None
    dispatcher: Dispatcher
    ledger: Ledger
    audit: AuditLog
    trusted: TrustedContext
    clock: Clock
    approver: Approver
    models: Models


def run_flow(
    options: RuntimeOptions,
    asked: RunOptions,
    *,
    say: Callable[[str], None],
    listener: Callable[[TraceEntry], None] | None = None,
) -> Ran:
    """Run a flow to its end.

    Args:
        options: bundle, stores and secrets.
        asked: flow, input and how questions are decided.
        say: shows one line to whoever started the run.
        listener: told of each step as it ends.

    Raises:
        KeelError: if the bundle, its sources, a store or an option cannot be used.
    """
    with silent_libraries():
        return terminable(partial(_run, options, asked, say, listener))


async def _run(
    options: RuntimeOptions,
    asked: RunOptions,
    say: Callable[[str], None],
    listener: Callable[[TraceEntry], None] | None,
) -> Ran:
    stage = _rehearsal(options, asked) if asked.dry_run else _real(options, asked, say)
    async with stage as ready:
        outcome = await run(
            asked.flow,
            asked.arguments,
            bundle=ready.bundle,
            dispatcher=ready.dispatcher,
            ledger=ready.ledger,
            audit=ready.audit,
            trusted=ready.trusted,
            root=ready.root,
            approver=ready.approver,
            models=ready.models,
            loaded=ready.loaded,
            clock=ready.clock,
            listener=listener,
            preflight=not asked.dry_run,
        )
        return Ran(outcome, asked.dry_run)


@asynccontextmanager
async def _real(options: RuntimeOptions, asked: RunOptions, say: Callable[[str], None]) -> AsyncIterator[_Stage]:
    run_id = asked.run_id or uuid.uuid4().hex
    async with runtime(replace(options, run_id=run_id, needs_native=lambda _: True)) as ready:
        if not asked.run_id:
            say(f"run {run_id}; `--run-id {run_id}` continues it after a crash")

        def announce(record: ApprovalRecord) -> None:
            say(f"waiting for an approval: {approve_command(record.id, options.store)}")

        waiting = StoreApprover(announce)
        approver = TerminalApprover(asked.by, waiting) if asked.terminal else waiting
        yield _Stage(
            ready.bundle,
            ready.root,
            ready.loaded,
            ready.dispatcher,
            ready.ledger,
            ready.audit,
            ready.trusted,
            ready.clock,
            approver,
            ProviderModels(),
        )


@asynccontextmanager
async def _rehearsal(options: RuntimeOptions, asked: RunOptions) -> AsyncIterator[_Stage]:
    """Set up a run that reaches nothing: every check is real, every answer is made up, every question is approved."""
    bundle, root, clock = opened(options), here(options), SystemClock()
    _check_fixtures(bundle, asked.fixtures)
    with ExitStack() as stack:
        loaded = load(bundle, root)
        stack.callback(loaded.unload)
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="keel-dry-run-"))
        ledger = SqliteLedger.open(Path(folder) / "state.sqlite", clock)
        stack.callback(ledger.close)
        samples, audit = SampleTools(bundle, asked.fixtures), NoAudit()
        dispatcher = Dispatcher(
            bundle, upstream=samples, ledger=ledger, audit=audit, native=samples.native(), clock=clock
        )
        trusted = TrustedContext(tenant=options.tenant, subject=options.subject, run_id=asked.run_id or "dry-run")
        approver = CallbackApprover(lambda _: True, by="dry-run")
        yield _Stage(
            bundle, root, loaded, dispatcher, ledger, audit, trusted, clock, approver, SampleModels(asked.fixtures)
        )


def _check_fixtures(bundle: Bundle, fixtures: Mapping[str, Json]) -> None:
    """Refuse a made-up result that no step would ever get.

    Raises:
        UsageError: if a key is neither a tool of the bundle nor a `provider:model`.
    """
    for key in fixtures:
        if key not in bundle.tools and ":" not in key:
            hint = did_you_mean(key, bundle.tools) or "the keys of `--fixtures` are tool keys, or `provider:model`"
            raise UsageError(f"the bundle holds no tool `{excerpt(key)}` for `--fixtures`", hint=hint)
