"""Whole flows run: both kinds, gates, retries, groups, and what is refused."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from keel.core.finding import InputErrors
from keel.core.redact import Redactor
from keel.errors import UsageError
from keel.runtime.approvers import Approver, CallbackApprover, StoreApprover
from keel.runtime.dispatch import Dispatcher
from keel.runtime.flowrun import RunOutcome, error_of, run
from keel.runtime.limits import Limits
from keel.runtime.loading import Loaded, load
from keel.runtime.model import ApprovalRecord, ApprovalState, TrustedContext
from keel.runtime.native import InProcessTools
from keel.runtime.ports import AnswerLost, Models, NotSent, Reply
from tests.fakes.ports import FakeUpstream, FixedClock, ListAudit, MemoryLedger
from tests.unit.runtime.projects import Made, make

FLOWS = """
class Desk:
    held = mcp_tool("bank", "find")

@flow
async def settle(ticket: str, cap: int = 3) -> dict:
    hit = await look(ticket)
    amount = min(hit["amount"], cap)
    ok = await human_gate(f"pay {amount} to {ticket}?", on_reject="return")
    if not ok:
        return {"status": ok.reason, "by": ok.by}
    return {"status": "paid", "result": await pay(payee=ticket, amount=amount)}

@flow
def settle_sync(ticket: str, cap: int = 3) -> dict:
    hit = look(ticket)
    amount = min(hit["amount"], cap)
    ok = human_gate(f"pay {amount} to {ticket}?", on_reject="return")
    if not ok:
        return {"status": ok.reason, "by": ok.by}
    return {"status": "paid", "result": pay(payee=ticket, amount=amount)}

@flow
async def strict(ticket: str) -> str:
    await human_gate(f"pay 1 to {ticket}?")
    await pay(payee=ticket, amount=1)
    return "paid"

@flow
async def exact(ticket: str) -> str:
    await gated(pay, "Really?")(payee=ticket, amount=1)
    return await gated(wipe)(ticket)

@flow
async def many(payees: list[str]) -> int:
    await human_gate(f"pay 1 to each of {payees}?")
    for payee in payees:
        await pay(payee=payee, amount=1)
    return len(payees)

@flow
def many_sync(payees: list[str]) -> int:
    human_gate("pay 1 to each?", show=payees)
    for payee in payees:
        pay(payee=payee, amount=1)
    return len(payees)

@flow
async def each(payees: list[str]) -> int:
    for payee in payees:
        await human_gate(f"pay 1 to {payee}?")
        await pay(payee=payee, amount=1)
    return len(payees)

async def helper(payee):
    await human_gate(f"pay 2 to {payee}?")
    return await pay(payee=payee, amount=2)

@flow
async def helped() -> list:
    return [await helper("a"), await helper("b")]

@flow
async def patient(name: str) -> dict:
    return await find.options(retries=2)(name=name)

@flow
async def written(text: str) -> dict:
    return await note.options(retries=1)(text=text)

@flow
async def again(name: str) -> dict:
    for attempt in range(3):
        try:
            return await find(name=name)
        except ToolCallError:
            continue
    return {}

@flow
async def raced() -> dict:
    return await race(find(name="slow"), Desk.held(name="quick"))

@flow
def raced_sync() -> dict:
    return race(lambda: find(name="slow"), lambda: Desk.held(name="quick"), partial(find, name="slow"))

@flow
async def together() -> list:
    async with asyncio.TaskGroup() as group:
        first = group.create_task(find(name="a"))
        second = group.create_task(find(name="b"))
    return [first.result(), second.result(), *await asyncio.gather(find(name="c"), note(text="d"))]

@flow
def votes() -> list:
    return quorum(lambda: find(name="a"), lambda: find(name="b"), k=2)

@flow
async def broken() -> None:
    raise LookupError("not there")

class MuteError(Exception):
    def __str__(self):
        raise RuntimeError("no words")

ENDS = {"exit": SystemExit(0), "cancel": asyncio.CancelledError(), "mute": MuteError()}
VALUES = {"nan": float("nan"), "half": "\\ud800", "long": 10**5000}

@flow
async def ends(how: str) -> None:
    raise ENDS[how]

@flow
def ends_sync(how: str) -> None:
    raise ENDS[how]

@flow
async def odd(how: str):
    return [VALUES[how]]

@flow(entry=False)
async def part() -> None:
    await find(name="part")

@flow
async def whole() -> None:
    await part()

@flow
async def waits() -> None:
    await human_gate("pay 1 to x?", timeout_s=5)
    await pay(payee="x", amount=1)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("run") / "project", FLOWS)


@pytest.fixture(scope="module")
def loaded(made: Made) -> Iterator[Loaded]:
    found = load(made.bundle, made.root)
    yield found
    found.unload()


@dataclass
class World:
    """A bundle, its fakes, and runs over them."""

    made: Made
    loaded: Loaded
    upstream: FakeUpstream = field(default_factory=FakeUpstream)
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    audit: ListAudit = field(default_factory=ListAudit)
    models: Models | None = None
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.upstream.surfaces = dict(self.made.bundle.lock.surfaces)
        self.functions = dict(self.loaded.natives)

    async def arun(
        self, flow: Any, *, approver: Approver | None = None, run_id: str = "r1", **arguments: Any
    ) -> RunOutcome:
        dispatcher = Dispatcher(
            self.made.bundle,
            upstream=self.upstream,
            ledger=self.ledger,
            audit=self.audit,
            native=InProcessTools(self.functions),
            clock=self.ledger.clock,
            redactor=Redactor(self.secrets),
            limits=Limits(),
        )
        return await run(
            flow,
            arguments,
            bundle=self.made.bundle,
            dispatcher=dispatcher,
            ledger=self.ledger,
            audit=self.audit,
            trusted=TrustedContext(run_id=run_id),
            root=self.made.root,
            approver=approver or says(True),
            loaded=self.loaded,
            clock=self.ledger.clock,
            models=self.models,
        )

    def run(self, flow: Any, **options: Any) -> RunOutcome:
        return asyncio.run(self.arun(flow, **options))

    @property
    def paid(self) -> list[tuple[str, int]]:
        """Return what reached `bank/pay`."""
        return [
            (item.arguments["payee"], item.arguments["amount"]) for item in self.upstream.sent if item.key == "bank/pay"
        ]


def says(answer: Any) -> CallbackApprover:
    return CallbackApprover(lambda record: answer, by="ann")


@pytest.fixture
def world(made: Made, loaded: Loaded) -> World:
    return World(made, loaded)


# -- both kinds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["settle", "settle_sync"])
def test_an_approved_flow_pays_once(world: World, name: str) -> None:
    found = world.run(name, ticket="T-100")
    assert found.error is None
    assert found.value == {"status": "paid", "result": {"payee": "T-100", "amount": 3}}
    assert world.paid == [("T-100", 3)]
    assert [(entry.kind, entry.name, entry.outcome) for entry in found.trace] == [
        ("call", "look", "ok"),
        ("gate", "human_gate", "ok"),
        ("call", "bank/pay", "ok"),
    ]
    assert all(entry.site.startswith(f"{name}@flows.py:") for entry in found.trace)


@pytest.mark.parametrize("name", ["settle", "settle_sync"])
def test_a_denied_gate_never_executes(world: World, name: str) -> None:
    found = world.run(name, ticket="T-100", approver=says((False, "no")))
    assert found.value == {"status": "denied", "by": "ann"}
    assert world.paid == []


@pytest.mark.parametrize("answer", ["yes", 1, None, (1, "x")])
def test_only_true_approves(world: World, answer: Any) -> None:
    assert world.run("settle", ticket="T-100", approver=says(answer)).value["status"] == "denied"


def test_a_gate_that_raises_ends_the_flow(world: World) -> None:
    found = world.run("strict", ticket="a", approver=says((False, "too much")))
    assert found.error is not None
    assert (found.error.code, world.paid) == ("approval-denied", [])
    assert "denied by `ann`: too much" in found.error.message


def test_what_a_person_sees(world: World) -> None:
    seen: list[ApprovalRecord] = []
    world.run("settle", ticket="T\x1b[2J", approver=CallbackApprover(lambda record: bool(seen.append(record))))
    (record,) = seen
    assert record.request.prompt == "pay 3 to T\\u{1b}[2J?"
    assert record.request.gate.startswith("settle@flows.py:")
    assert record.request.run_id == "r1"


def test_no_secret_is_in_what_a_gate_shows_and_leaves(world: World) -> None:
    world.secrets = ("hunter2-of-the-bank",)
    seen: list[ApprovalRecord] = []
    ask = CallbackApprover(lambda record: bool(seen.append(record)) or True)
    assert world.run("settle", ticket="for hunter2-of-the-bank", approver=ask).ok
    (record,) = seen
    assert record.request.prompt == "pay 3 to for \u2039secret\u203a?"
    assert world.paid == [("for hunter2-of-the-bank", 3)]
    assert "hunter2" not in repr((world.ledger.approvals, world.audit.events, asyncio.run(world.ledger.operations())))


@pytest.mark.parametrize("before", [0, 470, 485, 499])
def test_no_part_of_a_secret_is_in_what_a_run_says_of_a_failure(before: int) -> None:
    error = LookupError("x" * before + "hunter2-of-the-bank")
    for raised in (error, ExceptionGroup("several", [error, KeyError(str(error))])):
        assert "hunter2" not in error_of(raised, Redactor(["hunter2-of-the-bank"]).clean).message


def test_gated_asks_with_the_exact_arguments(world: World) -> None:
    seen: list[ApprovalRecord] = []

    def ask(record: ApprovalRecord) -> bool:
        seen.append(record)
        assert not world.paid or record.request.tool == "wipe"
        return True

    found = world.run("exact", ticket="x", approver=CallbackApprover(ask))
    assert found.error is None, found.error
    assert found.value == "wiped x"
    assert [record.request.tool for record in seen] == ["bank/pay", "wipe"]
    assert seen[0].request.prompt == "Really?"
    assert world.paid == [("x", 1)]


def test_the_audit_log_says_who_decided(world: World) -> None:
    world.run("strict", ticket="a")
    kinds = world.audit.kinds()
    assert (kinds[0], kinds[-1]) == ("run_started", "run_ended")
    decided = next(event for event in world.audit.events if event["event"] == "approval_decided")
    assert (decided["decision"], decided["by"], decided["run_id"]) == ("approved", "ann", "r1")
    assert kinds.index("approval_asked") < kinds.index("approval_decided") < kinds.index("run_ended")


def test_without_room_in_the_audit_log_nobody_is_asked(world: World) -> None:
    world.audit.room = 1
    found = world.run("strict", ticket="a")
    assert found.error is not None
    assert (found.error.code, world.paid, world.ledger.approvals) == ("store-unavailable", [], {})


def test_gated_and_denied(world: World) -> None:
    found = world.run("exact", ticket="x", approver=says(False))
    assert found.error is not None
    assert (found.error.code, world.paid) == ("approval-denied", [])


@pytest.mark.parametrize("name", ["many", "many_sync"])
def test_one_approval_covers_each_shown_element_once(world: World, name: str) -> None:
    found = world.run(name, payees=["a", "b", "a"])
    assert found.error is None, found.error
    assert world.paid == [("a", 1), ("b", 1), ("a", 1)]
    assert len(world.ledger.approvals) == 1


def test_a_question_in_the_loop_is_asked_each_time(world: World) -> None:
    answers = iter([True, False])
    found = world.run("each", payees=["a", "b"], approver=CallbackApprover(lambda record: next(answers)))
    assert found.error is not None
    assert world.paid == [("a", 1)]


def test_equal_questions_of_one_run_are_two(world: World) -> None:
    assert world.run("each", payees=["a", "a"]).value == 2
    assert len(world.ledger.approvals) == 2


def test_gates_in_helpers(world: World) -> None:
    found = world.run("helped")
    assert found.error is None, found.error
    assert world.paid == [("a", 2), ("b", 2)]


# -- the store --------------------------------------------------------------------------------------


async def asked(world: World) -> tuple[ApprovalRecord, ...]:
    """Wait until somebody is asked."""
    for _ in range(500):
        if pending := await world.ledger.pending():
            return pending
        await asyncio.sleep(0.01)
    raise AssertionError("nobody was asked")


@pytest.mark.parametrize("approved", [True, False])
def test_the_store_decides(world: World, approved: bool) -> None:
    async def main() -> RunOutcome:
        task = asyncio.create_task(world.arun("strict", ticket="s", approver=StoreApprover(poll_s=0.01)))
        pending = await asked(world)
        assert not world.paid
        await world.ledger.decide(pending[0].id, approved=approved, by="bob")
        return await task

    found = asyncio.run(main())
    assert found.ok is approved
    assert bool(world.paid) is approved


def test_no_answer_in_time_is_a_denial(world: World) -> None:
    async def main() -> RunOutcome:
        task = asyncio.create_task(world.arun("waits", approver=StoreApprover(poll_s=0.01)))
        await asked(world)
        world.ledger.clock.advance(6)
        return await task

    found = asyncio.run(main())
    assert found.error is not None
    assert "nobody answered in time" in found.error.message
    assert world.paid == []


# -- retries ----------------------------------------------------------------------------------------


def test_a_retry_is_the_same_operation(world: World) -> None:
    answers = iter([NotSent("down"), AnswerLost("gone"), Reply(data={"number": 7})])

    def answer(arguments: Mapping[str, Any]) -> Reply:
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    world.upstream.answers["bank/find"] = answer
    assert world.run("patient", name="n").value == {"number": 7}
    assert len(world.upstream.sent) == 3
    assert len({item.idempotency_key for item in world.upstream.sent}) == 1


def test_retries_end(world: World) -> None:
    world.upstream.answers["bank/find"] = NotSent("down")
    found = world.run("patient", name="n")
    assert found.error is not None
    assert (found.error.code, found.error.retryable) == ("tool_failed", True)
    assert len(world.upstream.sent) == 3


def test_a_loop_of_the_flow_repeats_the_same_operation(world: World) -> None:
    answers = iter([NotSent("down"), Reply(data={"number": 7})])

    def answer(arguments: Mapping[str, Any]) -> Reply:
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    world.upstream.answers["bank/find"] = answer
    assert world.run("again", name="n").value == {"number": 7}
    assert len({item.idempotency_key for item in world.upstream.sent}) == 1


# -- groups -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["raced", "raced_sync"])
def test_a_race_leaves_nothing_behind(world: World, name: str) -> None:
    ended: list[str] = []

    async def answer(arguments: Mapping[str, Any]) -> Reply:
        try:
            await asyncio.sleep(5 if arguments["name"] == "slow" else 0.05)
        finally:
            ended.append(arguments["name"])
        return Reply(data={"number": len(arguments["name"])})

    world.upstream.answers["bank/find"] = answer

    async def main() -> RunOutcome:
        found = await world.arun(name)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return found

    begun = time.monotonic()
    found = asyncio.run(main())
    assert found.value == {"number": 5}
    assert time.monotonic() - begun < 3
    assert sorted(ended) == (["quick", "slow"] if name == "raced" else ["quick", "slow", "slow"])
    assert not [item for item in threading.enumerate() if item.name == "keel-flow"]


@pytest.mark.parametrize("name", ["patient", "raced", "raced_sync", "votes"])
def test_a_cancelled_run_ends_every_step(world: World, name: str) -> None:
    open_: list[str] = []

    async def answer(arguments: Mapping[str, Any]) -> Reply:
        open_.append(arguments["name"])
        try:
            await asyncio.sleep(30)
        finally:
            open_.remove(arguments["name"])
        return Reply()

    world.upstream.answers["bank/find"] = answer

    async def main() -> None:
        task = asyncio.create_task(world.arun(name, **({"name": "n"} if name == "patient" else {})))
        for _ in range(500):
            await asyncio.sleep(0.01)
            if open_:
                break
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not open_
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert not [item for item in threading.enumerate() if item.name == "keel-flow"]


def test_plain_parallelism(world: World) -> None:
    world.upstream.answers["bank/find"] = lambda arguments: Reply(data={"number": ord(arguments["name"])})
    assert world.run("together").value == [{"number": 97}, {"number": 98}, {"number": 99}, {"text": "d"}]


def test_a_quorum_of_all_in_a_sync_flow(world: World) -> None:
    world.upstream.answers["bank/find"] = lambda arguments: Reply(data={"number": ord(arguments["name"])})
    assert world.run("votes").value == [{"number": 97}, {"number": 98}]


# -- what is refused --------------------------------------------------------------------------------


def test_an_exception_of_the_flow_is_an_outcome(world: World) -> None:
    found = world.run("broken")
    assert found.error is not None
    assert (found.error.code, found.error.message) == ("flow-failed", "LookupError: not there")
    assert isinstance(found.exception, LookupError)


@pytest.mark.parametrize(
    ("flow", "arguments", "message"),
    [
        ("setle", {}, "holds no flow `setle`"),
        ("part", {}, "entry=False"),
        ("settle", {}, "missing a required argument: 'ticket'"),
        ("settle", {"ticket": "x", "cap": "many"}, "does not fit the types"),
        ("settle", {"ticket": "x", "other": 1}, "unexpected keyword"),
        (print, {}, "not a function of the bundle"),
    ],
)
def test_what_cannot_be_started(world: World, flow: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        world.run(flow, **arguments)


def test_a_sub_flow_runs_where_it_is_called(world: World) -> None:
    world.upstream.answers["bank/find"] = Reply(data={"number": 1})
    found = world.run("whole")
    assert found.error is None, found.error
    assert found.trace[0].site.startswith("whole@")


def test_the_function_itself_can_be_given(world: World) -> None:
    assert world.run(world.loaded.flows["settle"], ticket="T-1").value["status"] == "paid"


def test_a_step_that_the_graph_does_not_have_is_refused(world: World) -> None:
    function = world.loaded.flows["strict"]
    tool = function.__globals__["pay"]

    async def forged() -> None:
        await tool(payee="x", amount=1)

    name = "note"
    function.__globals__[name], kept = forged, function.__globals__[name]
    function.__globals__["find"], other = tool, function.__globals__["find"]
    try:
        # where `find(name=…)` stands in the sources, another tool is called
        found = world.run("whole")
    finally:
        function.__globals__[name], function.__globals__["find"] = kept, other
    assert found.error is not None
    assert found.error.code == "not_granted"
    assert "whole@flows.py:" in found.error.message
    assert world.paid == []
    (entry,) = found.trace
    assert (entry.name, entry.outcome) == ("bank/pay", "not_granted")
    refused = next(event for event in world.audit.events if event["event"] == "decided")
    assert (refused["decision"], refused["tool"]) == ("not_granted", "bank/pay")


def test_drift_is_found_before_the_first_step(world: World) -> None:
    world.upstream.surfaces.clear()
    found = world.run("settle", ticket="T-1")
    assert found.error is not None
    assert (found.error.code, found.error.retryable, found.error.incomplete) == ("surface_drift", True, True)
    assert found.trace == ()
    assert world.upstream.listed == ["bank"]
    assert not world.ledger.held
    assert world.audit.kinds() == ["run_started", "run_ended"]
    assert world.audit.events[-1]["outcome"] == "surface_drift"


def test_a_flow_without_servers_asks_none(world: World) -> None:
    world.run("broken")
    assert world.upstream.listed == []


def test_a_changed_source_is_refused(tmp_path: Path) -> None:
    made = make(tmp_path / "p", "@flow\nasync def one() -> int:\n    return 1\n")
    (made.root / "flows.py").write_text((made.root / "flows.py").read_text() + "# changed\n")
    dispatcher = Dispatcher(made.bundle, upstream=FakeUpstream(), ledger=MemoryLedger(), audit=ListAudit())
    with pytest.raises(InputErrors):
        asyncio.run(
            run(
                "one",
                {},
                bundle=made.bundle,
                dispatcher=dispatcher,
                ledger=MemoryLedger(),
                trusted=TrustedContext(),
                root=made.root,
            )
        )


# -- durable units ----------------------------------------------------------------------------------


class Killed(BaseException):
    """Ends a run at once, as a kill does."""


def test_a_run_that_starts_again_repeats_nothing(world: World) -> None:
    answers = {"count": 0}

    def dies(arguments: Mapping[str, Any]) -> Reply:
        answers["count"] += 1
        if answers["count"] == 2:
            raise Killed
        return Reply(data=dict(arguments))

    world.upstream.answers["bank/pay"] = dies
    with pytest.raises(Killed):
        world.run("each", payees=["a", "b"], run_id="same")
    assert world.paid == [("a", 1), ("b", 1)]
    world.ledger.clock.advance(120)
    found = world.run("each", payees=["a", "b"], run_id="same")
    # the first payment is recorded; of the second nobody knows, so that it is not sent again
    assert found.error is not None
    assert (found.error.code, found.error.incomplete) == ("outcome_unknown", True)
    assert world.paid == [("a", 1), ("b", 1)]
    assert len(world.ledger.approvals) == 2
    first = next(entry for entry in found.trace if entry.kind == "call")
    assert (first.name, first.replayed) == ("bank/pay", True)


def test_another_run_id_is_another_run(world: World) -> None:
    world.run("strict", ticket="a", run_id="one")
    world.run("strict", ticket="a", run_id="two")
    assert world.paid == [("a", 1), ("a", 1)]


def test_the_same_run_twice_has_one_effect(world: World) -> None:
    first = world.run("settle", ticket="abc", run_id="one")
    second = world.run("settle", ticket="abc", run_id="one")
    assert first.value == second.value
    assert world.paid == [("abc", 3)]
    assert all(record.state is ApprovalState.APPROVED for record in world.ledger.approvals.values())
    assert len(world.ledger.approvals) == 1


def test_a_clock_is_given(world: World) -> None:
    assert isinstance(world.ledger.clock, FixedClock)


@pytest.mark.parametrize("name", ["ends", "ends_sync"])
@pytest.mark.parametrize(
    ("how", "said"), [("exit", "SystemExit: 0"), ("cancel", "CancelledError: "), ("mute", "MuteError: ")]
)
def test_a_flow_that_ends_in_its_own_way_has_failed_and_ends_nothing_else(
    world: World, name: str, how: str, said: str
) -> None:
    error = world.run(name, how=how).error
    assert error is not None
    assert (error.code, error.message) == ("flow-failed", said)


@pytest.mark.parametrize("how", ["nan", "half", "long"])
def test_a_value_that_no_reader_of_json_could_read_is_no_result(world: World, how: str) -> None:
    outcome = world.run("odd", how=how)
    assert outcome.error is not None
    assert (outcome.error.code, outcome.value) == ("not-data", None)
