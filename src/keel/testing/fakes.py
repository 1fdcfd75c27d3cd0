"""`fakes`: runs whole flows in unit tests, against the project's lock and without any server, person or model."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keel.authoring.port import ToolStep, inside_loop, running
from keel.core.model import Json
from keel.core.text import did_you_mean, excerpt, plural
from keel.runtime.budget import RunState
from keel.runtime.bundle import Bundle
from keel.runtime.clock import SystemClock
from keel.runtime.dispatch import Dispatcher
from keel.runtime.flowport import FlowPort
from keel.runtime.journal import RunJournal
from keel.runtime.limits import Limits
from keel.runtime.model import TrustedContext
from keel.runtime.models import FakeModels
from keel.runtime.ports import Models
from keel.runtime.samples import NoAudit
from keel.runtime.session import Session
from keel.runtime.sites import Origin
from keel.runtime.threads import LoopThread
from keel.runtime.trace import Trace, TraceEntry
from keel.store.ledger_sqlite import SqliteLedger
from keel.testing.answers import FakeCall, FakeNatives, FakeTools
from keel.testing.errors import FakeError
from keel.testing.people import FakePerson, FakeQuestion
from keel.testing.project import locked


@dataclass
class Fakes:
    """What happened under `fakes`, for a test to assert."""

    _tools: FakeTools
    _person: FakePerson
    _trace: Trace

    @property
    def calls(self) -> list[FakeCall]:
        """Every call that reached a fake, in order, retries included."""
        return self._tools.calls

    @property
    def questions(self) -> list[FakeQuestion]:
        """Every question that was put to the person."""
        return self._person.questions

    @property
    def trace(self) -> list[TraceEntry]:
        """Every step with its outcome, in the order in which they ended."""
        return self._trace.entries

    def called(self, key: str) -> list[Mapping[str, Json]]:
        """Return the arguments of every call of one tool, in order."""
        return [call.arguments for call in self.calls if call.key == key]


@contextmanager
def fakes(
    answers: Mapping[str, Any],
    *,
    approvals: Iterable[Any] | Callable[[FakeQuestion], Any] = (),
    models: Sequence[Any] | Models = (),
    project: str | Path | None = None,
    lock: str | Path | None = None,
) -> Iterator[Fakes]:
    """Run flows with fake tools, people and models.

    Everything else is real: arguments and results are validated against the lock, contracts decide over retries,
    grants and budgets hold, dangerous calls need a gate that was passed. Only the static proof is missing: there is
    no flow graph, so which gate covers which call is not known, and one passed gate may admit any call.

    Args:
        answers: by tool key a value, an exception to raise, or a function (also async) that takes the tool's
            arguments as keywords. A `ToolCallError` of code `timeout` is a lost answer; any other exception is the
            tool's own failure.
        approvals: answers of the person, in order: `True`, `False`, an `Approval` (with `reason="timeout"` for no
            answer in time), or a function of the question; one function alone answers every question.
        models: answers of models, in order, as text or as `keel.runtime.models` describes; or a provider.
        project: the project's folder; default: the nearest one from the working directory up.
        lock: the lock's index; default: the project's.

    Yields:
        What happened.

    Raises:
        FakeError: for a key that the lock does not hold, a tool without an answer, an approval too few or too many.
        KeelError: if project or lock cannot be read.
    """
    bundle = locked(Path(project) if project is not None else None, Path(lock) if lock is not None else None)
    _known(answers, bundle)
    noted: list[FakeError] = []

    def fail(message: str) -> FakeError:
        noted.append(FakeError(message))
        return noted[-1]

    tools, person, trace = FakeTools(answers, fail), FakePerson(approvals, fail), Trace()
    with ExitStack() as stack:
        session = _session(stack, bundle, tools, person, trace, models)
        stack.enter_context(running(_FakePort(session, tools)))
        yield Fakes(tools, person, trace)
    if noted:
        raise noted[0]
    if person.left:
        raise FakeError(f"{plural(person.left, 'answer')} of `approvals` was never asked for")


def _known(answers: Mapping[str, Any], bundle: Bundle) -> None:
    for key in answers:
        if key not in bundle.tools:
            guess = did_you_mean(key, bundle.tools)
            raise FakeError(f"the lock holds no tool `{excerpt(key)}`" + (f": {guess}" if guess else ""))


def _session(
    stack: ExitStack,
    bundle: Bundle,
    tools: FakeTools,
    person: FakePerson,
    trace: Trace,
    models: Sequence[Any] | Models,
) -> Session:
    clock, run_id = SystemClock(), uuid.uuid4().hex
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="keel-fakes-"))
    ledger = SqliteLedger.open(Path(folder) / "state.sqlite", clock)
    stack.callback(ledger.close)
    owner = LoopThread()
    stack.callback(owner.close)
    dispatcher = Dispatcher(
        bundle,
        upstream=tools,
        ledger=ledger,
        audit=NoAudit(),
        native=FakeNatives(tools),
        clock=clock,
        limits=Limits(preflight=False),
    )
    return Session(
        bundle=bundle,
        dispatcher=dispatcher,
        trusted=TrustedContext(run_id=run_id),
        state=RunState(bundle, clock, run_id=run_id),
        approver=person,
        ledger=ledger,
        approvals=ledger,
        audit=NoAudit(),
        journal=RunJournal(run_id),
        clock=clock,
        trace=trace,
        loop=owner.loop,
        models=FakeModels(list(models)) if isinstance(models, Sequence) else models,
        backoff_s=(0.0,),
    )


class _FakePort(FlowPort):
    """The runtime of a test: steps of async flows run in the test's own loop, so that its fakes can wait for it."""

    def __init__(self, session: Session, tools: FakeTools) -> None:
        super().__init__(session, None)
        self._tools = tools

    def _step(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return coroutine if inside_loop() else super()._step(coroutine)

    async def called(self, step: ToolStep, origin: Origin | None, *, gated: bool = False, prompt: str = "") -> Any:
        self._tools.check(step.key)
        return await super().called(step, origin, gated=gated, prompt=prompt)
