"""Reasoners and agents: granted names only, bounded asks and rounds, every call through the dispatcher."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from keel.runtime.approvers import CallbackApprover
from keel.runtime.loading import Loaded, load
from keel.runtime.model import ApprovalRecord
from keel.runtime.models import FakeModels, ModelReply
from keel.runtime.ports import Reply
from tests.unit.runtime.projects import MANIFEST, Made, make
from tests.unit.runtime.test_run import World, says

MODELS = (
    'reasoners: [judge, words]\nmodels: ["test:one"]\nscopes: [local, summary]\nbudget: {tokens: 1000, cost_usd: 1}\n'
)
FLOWS = """
from dataclasses import dataclass

@dataclass
class Verdict:
    fair: bool
    why: str

judge = Reasoner("judge", "test:one", "Judge it.", reply=Verdict)
words = Reasoner("words", "test:one", "Answer in words.")

@flow(entry=False)
async def account(name: str) -> int:
    "Find the number of an account."
    return (await find(name=name))["number"]

helper = Agent("helper", "test:one", "Help.", tools=[find])

@flow(entry=False)
async def helped(task: str) -> str:
    "Let the helper work on a task."
    return await helper(task)

clerk = Agent(
    "clerk", "test:one", "Work.", tools=[find, look, gated(pay, "Pay?"), account, helped], max_rounds=3, scope="summary"
)

@flow
async def judged(value: dict) -> dict:
    found = await think(judge, value)
    return {"fair": found.fair, "type": type(found).__name__}

@flow
async def told(value: str) -> str:
    return await think(words, value, scope="summary")

@flow
async def worked(task: str) -> str:
    return await clerk(task)

@flow
def worked_sync(task: str) -> str:
    return clerk(task)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("agents") / "project", FLOWS, manifest=MANIFEST + MODELS)


@pytest.fixture(scope="module")
def loaded(made: Made) -> Iterator[Loaded]:
    found = load(made.bundle, made.root)
    yield found
    found.unload()


@pytest.fixture
def world(made: Made, loaded: Loaded) -> World:
    found = World(made, loaded)
    found.upstream.answers["bank/find"] = lambda arguments: Reply(data={"number": len(arguments["name"])})
    return found


def calls(*wanted: tuple[str, Any]) -> dict[str, Any]:
    asked = [{"id": f"c{index}", "name": name, "arguments": value} for index, (name, value) in enumerate(wanted)]
    return {"content": "", "tool_calls": asked, "tokens": 10, "cost_usd": 0.01}


def answer(text: str) -> dict[str, Any]:
    return {"content": text, "tokens": 10, "cost_usd": 0.01}


def run(world: World, flow: str, answers: list[Any], **options: Any) -> Any:
    world.models = FakeModels(list(answers))
    return world.run(flow, **options)


def told(world: World, number: int) -> list[Any]:
    """Return what the tools said to the model before one of its answers."""
    assert isinstance(world.models, FakeModels)
    return [json.loads(item["content"]) for item in world.models.asked[number]["messages"] if item["role"] == "tool"]


# -- think ------------------------------------------------------------------------------------------


def test_an_answer_is_of_the_reply_type(world: World) -> None:
    found = run(world, "judged", [answer('```json\n{"fair": true, "why": "x"}\n```')], value={"a": 1})
    assert found.value == {"fair": True, "type": "Verdict"}
    (request,) = world.models.asked  # type: ignore[union-attr]
    assert request["messages"][0] == {"role": "system", "content": "Judge it."}
    assert json.loads(request["messages"][1]["content"]) == {"a": 1}
    assert request["reply_schema"]["required"] == ["fair", "why"]


def test_an_answer_that_does_not_fit_is_asked_for_again_a_few_times(world: World) -> None:
    found = run(world, "judged", [answer("no"), answer('{"fair": 1}'), answer('{"fair": false, "why": ""}')], value={})
    assert found.value["fair"] is False
    assert "does not fit the schema" in world.models.asked[1]["messages"][-1]["content"]  # type: ignore[union-attr]
    found = run(world, "judged", [answer("no")] * 4, value={}, run_id="r2")
    assert found.error.code == "invalid_result"
    assert len(world.models.answers) == 1  # type: ignore[union-attr]


def test_text_needs_no_schema(world: World) -> None:
    assert run(world, "told", [answer("hello")], value="hi").value == "hello"
    assert "reply_schema" not in world.models.asked[0]  # type: ignore[union-attr]


def test_an_answer_is_recorded(world: World) -> None:
    run(world, "told", [answer("first")], value="hi", run_id="same")
    assert run(world, "told", [answer("second")], value="hi", run_id="same").value == "first"


def test_a_failed_model_may_be_asked_again_by_the_same_run(world: World) -> None:
    found = run(world, "told", [], value="hi", run_id="same")
    assert (found.error.code, found.ok) == ("tool_failed", False)
    assert run(world, "told", [answer("now")], value="hi", run_id="same").value == "now"


def test_without_a_provider(world: World) -> None:
    found = world.run("told", value="hi")
    assert found.error is not None
    assert "no model provider" in found.error.message


def test_the_budget_holds(world: World) -> None:
    costly = {"content": "no", "tokens": 600, "cost_usd": 0.0}
    found = run(world, "judged", [costly, costly, costly], value={})
    assert found.error.code == "budget_exceeded"
    assert len(world.models.answers) == 1  # type: ignore[union-attr]
    unknown = {"content": "hello", "tokens": 1}
    found = run(world, "told", [unknown], value="hi")
    assert (found.error.code, "is not known" in found.error.message) == ("budget_exceeded", True)


@pytest.mark.parametrize(
    ("flow", "attribute", "value"),
    [("told", "model", "other:model"), ("told", "name", "stranger"), ("worked", "scope", "everything")],
)
def test_what_the_manifest_does_not_list(world: World, flow: str, attribute: str, value: str) -> None:
    """The gates refuse these before; here the running objects say something else than the sources."""
    names = world.loaded.flows[flow].__globals__
    target = names["words" if flow == "told" else "clerk"]
    kept = getattr(target, attribute)
    object.__setattr__(target, attribute, value)
    try:
        found = run(world, flow, [answer("x")], **({"value": "x"} if flow == "told" else {"task": "x"}))
    finally:
        object.__setattr__(target, attribute, kept)
    assert found.error.code == "not_granted"


def test_an_answer_of_an_unknown_shape() -> None:
    from keel.errors import ToolCallError

    with pytest.raises(ToolCallError, match="shape"):
        ModelReply.of({"tool_calls": [{"name": "x"}]})


# -- agents -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("flow", ["worked", "worked_sync"])
def test_calls_go_through_the_dispatcher(world: World, flow: str) -> None:
    found = run(
        world, flow, [calls(("bank__find", {"name": "abc"}), ("look", {"ticket": "xy"})), answer("3")], task="Go."
    )
    assert found.error is None, found.error
    assert found.value == "3"
    assert told(world, 1) == [{"number": 3}, {"amount": 2}]
    first = world.models.asked[0]  # type: ignore[union-attr]
    assert [tool["name"] for tool in first["tools"]] == ["bank__find", "look", "bank__pay", "account", "helped"]
    frozen = world.made.bundle.tools["bank/find"]
    assert first["tools"][0]["parameters"] == frozen.input_schema
    assert first["tools"][0]["description"] == frozen.wire["description"]
    assert [entry.name for entry in found.trace] == ["bank/find", "look", "clerk"]


def test_wrong_calls_are_told_to_the_model(world: World) -> None:
    wrong = calls(("bank__find", {"nam": "x"}), ("nowhere", {}), ("look", "no json"), ("look", "[1]"))
    found = run(world, "worked", [wrong, answer("sorry")], task="Go.")
    assert found.value == "sorry"
    assert [item["error"]["code"] for item in told(world, 1)] == [
        "invalid_arguments",
        "unknown_tool",
        "invalid_arguments",
        "invalid_arguments",
    ]
    assert not world.upstream.sent


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"name": NaN}', '{"name": "\\ud800"}', '{"name": "a", "name": "b"}', '{"name": 1e999}']
)
def test_arguments_that_mean_nothing_or_two_things_do_not_end_the_run(world: World, text: str) -> None:
    found = run(world, "worked", [calls(("bank__find", text)), answer("sorry")], task="Go.")
    assert found.value == "sorry"
    assert [item["error"]["code"] for item in told(world, 1)] == ["invalid_arguments"]
    assert not world.upstream.sent


def test_a_gated_tool_asks_with_its_arguments(world: World) -> None:
    seen: list[ApprovalRecord] = []

    def ask(record: ApprovalRecord) -> bool:
        seen.append(record)
        return (
            bool(record.request.show["arguments"]["amount"] < 10) if isinstance(record.request.show, Mapping) else False
        )

    asked = calls(("bank__pay", {"payee": "a", "amount": 5}), ("bank__pay", {"payee": "b", "amount": 50}))
    found = run(world, "worked", [asked, answer("paid one")], task="Pay.", approver=CallbackApprover(ask))
    assert found.value == "paid one"
    assert world.paid == [("a", 5)]
    assert [record.request.tool for record in seen] == ["bank/pay", "bank/pay"]
    assert seen[0].request.prompt == "Pay?"
    assert told(world, 1)[1]["error"]["code"] == "approval_required"


def test_flows_are_tools(world: World) -> None:
    answers = [
        calls(("account", {"name": "four"}), ("helped", {"task": "look"}), ("account", {"nome": "x"})),
        answer("helped"),
        answer("done"),
    ]
    found = run(world, "worked", answers, task="Go.")
    assert found.value == "done", found.error
    said = told(world, 2)
    assert said[:2] == [4, "helped"]
    assert said[2]["error"]["code"] == "invalid_arguments"


def test_rounds_end(world: World) -> None:
    look = calls(("look", {"ticket": "x"}))
    found = run(world, "worked", [look, look, look, answer("enough")], task="Go.")
    assert found.value == "enough"
    assert "tools" not in world.models.asked[3]  # type: ignore[union-attr]
    found = run(world, "worked", [look] * 5, task="Go.", run_id="r2")
    assert (found.error.code, "within 3 rounds" in found.error.message) == ("tool_failed", True)


def test_the_scope_says_what_is_read(world: World, made: Made) -> None:
    assert "Context" not in _first(run(world, "worked", [answer("x")], task="Go."), world)


def _first(found: Any, world: World) -> str:
    assert found.ok, found.error
    return str(world.models.asked[0]["messages"][1]["content"])  # type: ignore[union-attr]


def test_an_agent_that_starts_again_repeats_nothing(world: World) -> None:
    pay = calls(("bank__pay", {"payee": "a", "amount": 5}))
    found = run(world, "worked", [pay], task="Pay.", run_id="same", approver=says(True))
    assert found.error is not None  # the second answer is missing, as if the process had died there
    assert world.paid == [("a", 5)]
    found = run(world, "worked", [answer("paid")], task="Pay.", run_id="same", approver=says(True))
    assert found.value == "paid"
    assert world.paid == [("a", 5)]
