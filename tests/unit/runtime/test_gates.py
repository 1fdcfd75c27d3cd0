"""A passed gate admits what it covers and what it showed, once; the run time looks a second time, at the values."""

from __future__ import annotations

import ast
import asyncio
import textwrap
from dataclasses import dataclass, replace
from typing import Any

import pytest

from keel import human_gate, mcp_tool
from keel.authoring.port import running
from keel.errors import ToolCallError
from keel.runtime.approvers import CallbackApprover
from keel.runtime.budget import RunState
from keel.runtime.dispatch import Dispatcher
from keel.runtime.flowport import FlowPort
from keel.runtime.gategrants import GateGrant, GateGrants
from keel.runtime.journal import RunJournal
from keel.runtime.loading import Loaded
from keel.runtime.model import TrustedContext
from keel.runtime.plan import Plan
from keel.runtime.session import Session
from keel.runtime.shown import Shown, look
from keel.runtime.sites import Origin, Sites, SourceFile
from keel.runtime.trace import Trace
from tests.fakes.ports import FakeUpstream, ListAudit, MemoryLedger
from tests.unit.runtime.projects import Made, make

FILE = "/verified/flows.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("gates") / "project", "@flow\nasync def one() -> int:\n    return 1\n")


@dataclass
class Forged:
    """A flow that no checker saw, under a graph that claims that its one gate covers its calls of `bank/pay`."""

    made: Made
    upstream: FakeUpstream

    def run(
        self, body: str, *, each: bool = False, arguments: tuple[str, ...] = ("payee", "amount"), **values: Any
    ) -> None:
        text = f"async def main({', '.join(values)}):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
        module: dict[str, Any] = {"pay": mcp_tool("bank", "pay"), "human_gate": human_gate, "asyncio": asyncio}
        exec(compile(text, FILE, "exec", dont_inherit=True), module)
        source = SourceFile("flows.py", text.encode())
        plan = Plan("main", graph_of(source, each=each, arguments=arguments))
        asyncio.run(self._run(module["main"], plan, Sites({FILE: source}), values))

    async def _run(self, function: Any, plan: Plan, sites: Sites, values: dict[str, Any]) -> None:
        ledger = MemoryLedger()
        self.upstream.surfaces = dict(self.made.bundle.lock.surfaces)
        dispatcher = Dispatcher(
            self.made.bundle, upstream=self.upstream, ledger=ledger, audit=ListAudit(), clock=ledger.clock
        )
        session = Session(
            bundle=self.made.bundle,
            dispatcher=dispatcher,
            trusted=TrustedContext(run_id="r"),
            state=RunState(self.made.bundle, ledger.clock, run_id="r"),
            approver=CallbackApprover(lambda record: True),
            ledger=ledger,
            approvals=ledger,
            audit=ListAudit(),
            journal=RunJournal("r"),
            clock=ledger.clock,
            trace=Trace(),
            loop=asyncio.get_running_loop(),
            loaded=Loaded({}, {}, sites, None),  # type: ignore[arg-type]
        )
        with running(FlowPort(session, plan)):
            await function(**values)

    @property
    def paid(self) -> list[Any]:
        return [tuple(call.arguments.values()) for call in self.upstream.sent]


def graph_of(source: SourceFile, *, each: bool, arguments: tuple[str, ...]) -> dict[str, Any]:
    """Return a graph in which every `human_gate` is a gate, every `pay` a call, and each gate covers every call."""
    names = {written.place: ast.unparse(written.call.func) for written in source.calls.values()}
    gates = [place for place, name in names.items() if name == "human_gate"]
    calls = [place for place, name in names.items() if name == "pay"]
    nodes = [{"kind": "gate", "at": place} for place in gates]
    nodes += [{"kind": "call", "at": place, "key": "bank/pay", "covered_by": gates} for place in calls]
    sites = [{"at": place, "arguments": list(arguments), "each": each} for place in calls]
    return {"nodes": nodes, "edges": [], "covers": [{"gate": gate, "sites": sites} for gate in gates]}


@pytest.fixture
def forged(made: Made) -> Forged:
    return Forged(made, FakeUpstream())


def refused(forged: Forged, body: str, match: str, **options: Any) -> None:
    with pytest.raises(ToolCallError, match=match) as found:
        forged.run(body, **options)
    assert found.value.code == "approval_required"


NOT_SHOWN = "argument `amount` of `bank/pay` has a value that was not shown"
NO_APPROVAL = "no approval that was given in this run admits"


def test_the_value_that_was_shown_is_paid(forged: Forged) -> None:
    forged.run(
        """
        await human_gate(f"pay {amount} to {payee}?")
        await pay(payee=payee, amount=amount)
        """,
        payee="a",
        amount=3,
    )
    assert forged.paid == [("a", 3)]


def test_another_value_is_not(forged: Forged) -> None:
    refused(
        forged,
        """
        await human_gate(f"pay {amount} to {payee}?")
        amount = 1000
        await pay(payee=payee, amount=amount)
        """,
        NOT_SHOWN,
        payee="a",
        amount=3,
    )
    assert forged.paid == []


def test_a_part_of_what_was_shown_that_changed_since(forged: Forged) -> None:
    body = """
        await human_gate(f"pay {hit}?")
        hit["amount"] = {new}
        await pay(payee=hit["payee"], amount=hit["amount"])
        """
    hit = {"payee": "a", "amount": 3}
    forged.run(body.replace("{new}", "3"), hit=dict(hit))
    assert forged.paid == [("a", 3)]
    refused(forged, body.replace("{new}", "4"), NOT_SHOWN, hit=dict(hit))


def test_what_is_computed_rests_on_the_proof(forged: Forged) -> None:
    forged.run(
        """
        await human_gate(f"pay {amount} euros to {payee}?")
        await pay(payee=payee, amount=amount * 100)
        """,
        payee="a",
        amount=3,
    )
    assert forged.paid == [("a", 300)]


def test_a_value_that_can_be_read_in_the_prompt(forged: Forged) -> None:
    forged.run(
        """
        await human_gate(f"pay {str(amount)} to {payee.upper()}?")
        amount = int("3")
        await pay(payee=payee, amount=amount)
        """,
        payee="A",
        amount=3,
    )
    assert forged.paid == [("A", 3)]


def test_a_site_is_admitted_once(forged: Forged) -> None:
    refused(
        forged,
        """
        await human_gate(f"pay {amount} to {payee}?")
        for _ in range(2):
            await pay(payee=payee, amount=amount)
        """,
        NO_APPROVAL,
        payee="a",
        amount=3,
    )
    assert forged.paid == [("a", 3)]


def test_each_shown_element_once(forged: Forged) -> None:
    body = """
        await human_gate(f"pay 1 to {payees}?")
        for payee in {taken}:
            await pay(payee=payee, amount=1)
        """
    forged.run(body.replace("{taken}", "payees"), each=True, payees=["a", "b", "a"])
    assert forged.paid == [("a", 1), ("b", 1), ("a", 1)]


def test_more_often_than_elements_were_shown(forged: Forged) -> None:
    refused(
        forged,
        """
        await human_gate(f"pay 1 to {payees}?")
        for payee in payees * 2:
            await pay(payee="a", amount=1)
        """,
        NO_APPROVAL,
        each=True,
        payees=["a", "b"],
    )
    assert len(forged.paid) == 2


def test_an_element_that_was_put_in_later(forged: Forged) -> None:
    refused(
        forged,
        """
        await human_gate(f"pay 1 to {payees}?")
        payees.append("mallory")
        for payee in payees:
            await pay(payee=payee, amount=1)
        """,
        "argument `payee`",
        each=True,
        payees=["a"],
    )
    assert forged.paid == [("a", 1)]


def test_without_any_gate_there_is_no_grant(forged: Forged) -> None:
    refused(forged, "await pay(payee='a', amount=1)", NO_APPROVAL)


def test_two_parallel_questions_keep_their_own_values(forged: Forged) -> None:
    forged.run(
        """
        async def one(payee):
            await human_gate(f"pay 1 to {payee}?")
            await asyncio.sleep(0.01 if payee == "a" else 0)
            await pay(payee=payee, amount=1)
        await asyncio.gather(one("a"), one("b"))
        """,
        arguments=("payee", "amount"),
    )
    assert sorted(forged.paid) == [("a", 1), ("b", 1)]


def test_positional_arguments_are_looked_at_too() -> None:
    text = "def f(place, wipe):\n    wipe(place, times=2)\n"
    source = SourceFile("flows.py", text.encode())
    (written,) = source.calls.values()
    shown = look(None, "wipe home", None)
    shown = replace(shown, names=frozenset({"place"}), frame=1, function=written.function)
    origin = Origin(written, 1)
    assert shown.refused(origin, {"place": "home", "times": 2}, ("place", "times")) is None
    assert shown.refused(origin, {"place": "work", "times": 2}, ("place", "times")) == "place"
    assert shown.refused(origin, {"place": "work", "times": 2}, ("times",)) is None


# -- values -----------------------------------------------------------------------------------------


class Thing:
    def __init__(self) -> None:
        self.inner = {"deep": [1, {"x": "found"}]}


@pytest.mark.parametrize(
    ("value", "held"),
    [(1, True), ("found", True), ({"x": "found"}, True), ([1, {"x": "found"}], True), (2, False), ("lost", False)],
)
def test_every_nested_part_counts(value: Any, held: bool) -> None:
    shown = look(None, "prompt", Thing())
    assert shown.holds(value) is held


def test_what_is_no_data_is_left_to_the_proof() -> None:
    assert Shown(frozenset(), "").holds(object())


def test_values_that_hold_themselves_end() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert look(None, "x", loop).largest == 1


def test_words_in_the_prompt_are_whole() -> None:
    shown = Shown(frozenset(), "pay 100 to bob")
    assert shown.holds(100)
    assert not shown.holds(10)
    assert not shown.holds(True)


def test_a_grant_gives_a_unit_the_same_use_again() -> None:
    grants = GateGrants(None)
    grants.add(GateGrant("a1", "", Shown(frozenset(), "")))
    first = grants.use("k", None, None, {}, "d", "unit-1")
    assert grants.use("k", None, None, {}, "d", "unit-1") == first
    with pytest.raises(ToolCallError):
        grants.use("k", None, None, {}, "d", "unit-2")


def test_the_store_refuses_a_replayed_grant(made: Made) -> None:
    """A second operation with a use that another one has taken is refused by the ledger, whoever asks."""
    from keel.runtime.model import ApprovalRequest, GateUse, ToolCall

    async def main() -> list[Any]:
        ledger = MemoryLedger()
        upstream = FakeUpstream(surfaces=dict(made.bundle.lock.surfaces))
        dispatcher = Dispatcher(made.bundle, upstream=upstream, ledger=ledger, audit=ListAudit(), clock=ledger.clock)
        record = await ledger.ask(ApprovalRequest(tenant="local", subject="local", gate="f@flows.py:1:1"))
        await ledger.decide(record.id, approved=True, by="ann")
        use = GateUse(approval_id=record.id, use="f@flows.py:2:2")
        run, trusted = RunState(made.bundle, ledger.clock), TrustedContext()
        found = []
        for number in (1, 2):
            call = ToolCall(call_id=f"c{number}", name="bank/pay", arguments={"payee": "a", "amount": number})
            result = await dispatcher.dispatch(call, trusted, run, gate_use=use)
            found.append(result.error.code.value if result.error else "ok")
        return found

    assert asyncio.run(main()) == ["ok", "approval_required"]
