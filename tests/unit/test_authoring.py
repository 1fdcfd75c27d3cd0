"""The names that flow modules import: what they accept, what they refuse, and what they hand to a runtime."""

from __future__ import annotations

import ast
import asyncio
import functools
import inspect
import math
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import keel
from keel import (
    Agent,
    Approval,
    ApprovalDenied,
    NoRuntime,
    Reasoner,
    ToolCallError,
    flow,
    gated,
    hedge,
    human_gate,
    mcp_tool,
    quorum,
    race,
    think,
    tool,
)
from keel.authoring.flows import FlowMark, flow_mark
from keel.authoring.options import InvalidOption, ReservedName, StepOptions
from keel.authoring.port import (
    AgentStep,
    GatedStep,
    GateStep,
    Group,
    GroupStep,
    ThinkStep,
    ToolStep,
    active,
    inside_loop,
    running,
)
from keel.core.model import Effect, NativeDeclaration
from keel.errors import KeelError
from keel.native.derive import derive

ROOT = Path(__file__).parents[2]


@tool(effect="read", idempotent=True)
def double(number: int) -> int:
    """Double a number."""
    return number * 2


@tool
async def halve(number: int) -> int:
    return number // 2


refund = mcp_tool("billing", "refund")
writer = Reasoner("writer", "anthropic:claude-haiku-4-5", "Write.", reply=str)


class Recorder:
    """A runtime port that records each step and answers with its kind."""

    def __init__(self) -> None:
        self.steps: list[Any] = []

    def record(self, step: Any) -> str:
        self.steps.append(step)
        return f"did {type(step).__name__}"

    call_tool = gate = call_gated = group = think = run_agent = record


@pytest.fixture
def recorder() -> Any:
    port = Recorder()
    with running(port):
        yield port


class TestImporting:
    def test_all_is_sorted_and_complete(self) -> None:
        assert keel.__all__ == sorted(keel.__all__)
        assert all(getattr(keel, name) is not None for name in keel.__all__)
        assert set(keel.__all__) <= set(dir(keel))

    def test_the_names_for_type_checkers_are_the_names_at_run_time(self) -> None:
        tree = ast.parse(Path(keel.__file__).read_text("utf-8"))
        imported = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("keel")
            for alias in node.names
        }
        assert imported == set(keel.__all__)

    def test_an_unknown_name_is_an_attribute_error(self) -> None:
        with pytest.raises(AttributeError, match="'keel' has no attribute 'flows'"):
            _ = keel.flows  # type: ignore[attr-defined]

    def test_importing_keel_and_its_names_stays_light(self) -> None:
        code = textwrap.dedent("""
            import sys
            import keel
            assert "keel.authoring" not in sys.modules
            from keel import *
            @tool
            def double(x: int) -> int: return x * 2
            assert double(2) == 4
            heavy = {"pydantic", "mcp", "httpx", "httpx2", "rich", "typer", "asyncio", "ruamel", "jsonschema", "socket"}
            print(sorted(heavy & set(sys.modules)))
        """)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"

    def test_the_package_called_flow_does_not_hide_the_decorator(self) -> None:
        code = (
            "import keel.flow\nfrom keel import flow\nimport keel.flow\nprint(keel.flow.__module__, flow is keel.flow)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["keel.authoring.flows", "True"]

    def test_names_can_be_replaced_in_tests(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("keel.human_gate", len)
        assert keel.human_gate is len


class TestTool:
    def test_options_are_kept(self) -> None:
        assert (double.name, double.key) == ("double", "double")
        assert double.declaration == NativeDeclaration(Effect.READ, idempotent=True)
        assert halve.declaration == NativeDeclaration(Effect.WRITE, idempotent=False)
        assert tool(name="other")(double.fn).key == "other"
        assert "double" in repr(double)

    def test_it_looks_like_its_function(self) -> None:
        assert double.__doc__ == "Double a number."
        assert double.__name__ == "double"
        assert inspect.signature(double) == inspect.signature(double.fn)
        assert double.fn(4) == 8

    def test_outside_a_loop_a_call_gives_the_value(self) -> None:
        assert double(4) == 8
        assert halve(4) == 2
        assert double(number=4, retries=2, timeout_s=1.5) == 8

    def test_inside_a_loop_a_call_gives_an_awaitable(self) -> None:
        async def run() -> tuple[int, int, list[int]]:
            both = await asyncio.gather(double(1), halve(8))
            return await double(4, retries=1), await halve(4), both

        assert asyncio.run(run()) == (8, 2, [2, 4])

    def test_a_worker_thread_of_a_loop_gets_the_value(self) -> None:
        async def run() -> int:
            return await asyncio.to_thread(double, 4)

        assert asyncio.run(run()) == 8

    def test_a_call_that_is_never_awaited_is_warned_of_by_its_name(self) -> None:
        async def run() -> str:
            call = double(1)
            name = call.__qualname__
            call.close()
            return name

        assert asyncio.run(run()) == "double"

    def test_errors_of_the_function_are_its_own(self) -> None:
        with pytest.raises(TypeError):
            double("a", "b")

    def test_step_keywords_belong_to_a_signature_that_has_them(self, recorder: Recorder) -> None:
        @tool
        def schedule(job: str, retries: int, timeout_s: float = 1.0) -> str:
            return f"{job} {retries} {timeout_s}"

        schedule("a", retries=3)
        assert recorder.steps == [ToolStep("schedule", ("a",), {"retries": 3}, StepOptions(), schedule.fn)]
        with running(None):  # type: ignore[arg-type]
            assert schedule("a", retries=3) == "a 3 1.0"

    def test_step_keywords_are_seen_through_a_wrapper(self) -> None:
        def logged(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def inner(*args: Any, **kwargs: Any) -> Any:
                return function(*args, **kwargs)

            return inner

        @tool
        @logged
        def schedule(retries: int) -> int:
            return retries

        assert schedule(retries=3) == 3

    def test_a_runtime_gets_the_step(self, recorder: Recorder) -> None:
        assert double.options(label="x")(4, timeout_s=2) == "did ToolStep"
        options = StepOptions(timeout_s=2, label="x")
        assert recorder.steps == [ToolStep("double", (4,), {}, options, double.fn)]

    def test_options_merge_and_leave_the_original(self) -> None:
        patient = double.options(retries=2, timeout_s=60).options(retries=0)
        assert patient.step == StepOptions(retries=0, timeout_s=60)
        assert double.step == StepOptions()
        assert patient.fn is double.fn

    @pytest.mark.parametrize("effect", ["none", "write_reversible", "write_irreversible", "external_communication"])
    def test_aliases_of_effects(self, effect: Any) -> None:
        expected = [Effect.READ, Effect.WRITE, Effect.DANGEROUS, Effect.EXTERNAL]
        names = ["none", "write_reversible", "write_irreversible", "external_communication"]
        assert tool(effect=effect)(double.fn).declaration.effect is expected[names.index(effect)]

    @pytest.mark.parametrize(
        ("options", "message", "hint"),
        [
            ({"effect": "reed"}, "must be one of `read`, `write`, `external`, `dangerous`", "did you mean `read`?"),
            ({"effect": None}, "not `None`", ""),
            ({"effect": True}, "not `True`", ""),
            ({"idempotent": "no"}, "`idempotent` must be `True` or `False`, not `'no'`", ""),
            ({"idempotent": 1}, "`idempotent` must be `True` or `False`, not `1`", ""),
            ({"name": ""}, "`name` must be text that is not empty", ""),
            ({"name": 5}, "`name` must be text", ""),
            ({"name": "a b"}, "cannot be called `a b`", ""),
            ({"name": "a\u200bb"}, "cannot be called `a\\u{200b}b`", ""),
        ],
    )
    def test_bad_options_are_refused_where_they_stand(self, options: dict[str, Any], message: str, hint: str) -> None:
        with pytest.raises(InvalidOption) as caught:
            tool(**options)(double.fn)
        assert message in caught.value.message
        assert hint in caught.value.hint
        assert caught.value.code == "invalid-option"

    @pytest.mark.parametrize("name", ["billing/refund", "human_gate", "_hidden", "__init__", "/"])
    def test_reserved_names_are_refused(self, name: str) -> None:
        with pytest.raises(ReservedName) as caught:
            tool(name=name)
        assert caught.value.code == "reserved-name"
        assert caught.value.hint

    def test_a_reserved_function_name_is_refused(self) -> None:
        def human_gate(prompt: str) -> bool: ...

        with pytest.raises(ReservedName):
            tool(human_gate)
        assert tool(name="ask")(human_gate).name == "ask"

    def test_what_is_no_plain_function_is_refused(self) -> None:
        def generator() -> Any:
            yield 1

        async def async_generator() -> Any:
            yield 1

        for target in (Recorder, len, double, staticmethod(double.fn), functools.partial(double.fn, 1), 5, generator,
                       async_generator, lambda x: x):  # fmt: skip
            with pytest.raises(InvalidOption):
                tool(target)  # type: ignore[call-overload]
        with pytest.raises(InvalidOption, match="takes its name as a keyword"):
            tool("name")  # type: ignore[call-overload]


class TestStepOptions:
    @pytest.mark.parametrize(
        "options",
        [{"retries": value} for value in (-1, 1.0, True, "2")]
        + [{"timeout_s": value} for value in (0, -1, math.inf, math.nan, "5", True)]
        + [{"label": 5}],
    )
    def test_out_of_range_is_refused(self, options: dict[str, Any]) -> None:
        for target in (double, refund, gated(refund)):
            with pytest.raises(InvalidOption):
                target.options(**options)

    @given(st.integers(0, 100), st.floats(1e-3, 1e6))
    def test_in_range_is_kept(self, retries: int, timeout_s: float) -> None:
        assert refund.options(retries=retries, timeout_s=timeout_s).step == StepOptions(retries, timeout_s)

    def test_native_keywords_are_checked_outside_a_runtime_too(self) -> None:
        with pytest.raises(InvalidOption):
            double(1, retries=-1)


class TestMcpTool:
    def test_every_keyword_is_an_argument(self, recorder: Recorder) -> None:
        refund.options(retries=1)(self=1, retries=5, timeout_s=6, server="x")
        arguments = {"self": 1, "retries": 5, "timeout_s": 6, "server": "x"}
        assert recorder.steps == [ToolStep("billing/refund", (), arguments, StepOptions(retries=1))]

    def test_positional_arguments_are_refused_by_python(self) -> None:
        with pytest.raises(TypeError):
            refund(5)  # type: ignore[call-arg]

    @pytest.mark.parametrize("server", ["", "a/b", "-a", ".a", "a b", "é", "a" * 64, 5, None])
    def test_server_names_follow_the_grammar(self, server: Any) -> None:
        with pytest.raises(InvalidOption):
            mcp_tool(server, "refund")

    @pytest.mark.parametrize("name", ["", " ", None, 5])
    def test_tool_names_are_text(self, name: Any) -> None:
        with pytest.raises(InvalidOption):
            mcp_tool("billing", name)

    def test_a_tool_may_have_any_name_that_a_server_gives_it(self) -> None:
        assert mcp_tool("a", "b/c d").key == "a/b/c d"


class TestFlow:
    def test_the_function_stays_itself(self) -> None:
        def settle(ticket: str) -> str:
            return ticket

        assert flow(settle) is settle
        assert flow_mark(settle) == FlowMark(entry=True)
        assert settle("a") == "a"

    def test_entry_false(self) -> None:
        @flow(entry=False)
        async def inner(x: int) -> int:
            return await double(x)

        assert flow_mark(inner) == FlowMark(entry=False)
        assert asyncio.run(inner(2)) == 4

    def test_bad_uses_are_refused(self) -> None:
        for entry in ("no", None, 1):
            with pytest.raises(InvalidOption):
                flow(entry=entry)  # type: ignore[call-overload]
        for target in (double, Recorder, 5):
            with pytest.raises(InvalidOption):
                flow(target)  # type: ignore[type-var]

    def test_nothing_else_has_a_mark(self) -> None:
        assert flow_mark(double) is None
        assert flow_mark(len) is None
        fake = types.SimpleNamespace(__keel_flow__=FlowMark())
        assert flow_mark(fake) is None


class TestGates:
    def test_the_step(self, recorder: Recorder) -> None:
        assert human_gate("Refund?", show=[1], timeout_s=60, on_reject="return") == "did GateStep"
        assert recorder.steps == [GateStep("Refund?", [1], 60, "return")]

    @pytest.mark.parametrize(
        "options",
        [{"prompt": ""}, {"prompt": 5}, {"on_reject": "ignore"}, {"on_reject": None}, {"timeout_s": 0}],
    )
    def test_bad_options_are_refused(self, recorder: Recorder, options: dict[str, Any]) -> None:
        with pytest.raises(InvalidOption):
            human_gate(**{"prompt": "?", **options})
        assert recorder.steps == []

    def test_gated_hands_over_the_exact_call(self, recorder: Recorder) -> None:
        assert gated(refund, "Sure?").options(retries=1)(amount=5) == "did GatedStep"
        assert gated(double)(4) == "did GatedStep"
        assert recorder.steps == [
            GatedStep(ToolStep("billing/refund", (), {"amount": 5}, StepOptions(retries=1)), "Sure?"),
            GatedStep(ToolStep("double", (4,), {}, StepOptions(), double.fn)),
        ]

    def test_gated_takes_a_tool(self) -> None:
        for target in (len, "billing/refund", None, gated(refund)):
            with pytest.raises(InvalidOption, match="`gated` takes a tool"):
                gated(target)  # type: ignore[call-overload]
        with pytest.raises(InvalidOption):
            gated(refund, "")
        with pytest.raises(InvalidOption, match="given by name"):
            gated(refund)(5)
        assert gated(refund).key == "billing/refund"
        assert "billing/refund" in repr(gated(refund))


class TestApproval:
    def test_only_a_person_makes_it_true(self) -> None:
        assert not Approval()
        assert not Approval(approved=False, reason="timeout")
        assert Approval(approved=True, reason="approved", by="ana")

    @pytest.mark.parametrize("approved", ["yes", 1, 0, None, [], "False"])
    def test_nothing_but_a_bool_is_taken(self, approved: Any) -> None:
        with pytest.raises(InvalidOption, match=r"`Approval\.approved` must be `True` or `False`"):
            Approval(approved=approved)

    def test_it_cannot_be_changed_or_given_by_position(self) -> None:
        with pytest.raises(AttributeError):
            Approval().approved = True  # type: ignore[misc]
        with pytest.raises(TypeError):
            Approval(True)  # type: ignore[misc]


class TestGroups:
    def test_the_steps(self, recorder: Recorder) -> None:
        first, second = (lambda: 1), (lambda: 2)
        race(first, second)
        hedge(first, second, after_ms=200)
        assert quorum(first, second, k=2) == "did GroupStep"
        assert recorder.steps == [
            GroupStep(Group.RACE, (first, second)),
            GroupStep(Group.HEDGE, (first, second), after_ms=200),
            GroupStep(Group.QUORUM, (first, second), k=2),
        ]

    @pytest.mark.parametrize("k", [0, 3, True, 1.0, "1"])
    def test_a_quorum_is_within_its_branches(self, recorder: Recorder, k: Any) -> None:
        with pytest.raises(InvalidOption, match="from 1 to the 2 branches"):
            quorum(len, len, k=k)

    def test_branches_are_calls_that_have_not_been_made(self, recorder: Recorder) -> None:
        with pytest.raises(InvalidOption, match="branch 2 of `race` is a `int`: the call has already been made"):
            race(lambda: 1, 8)  # type: ignore[arg-type]
        with pytest.raises(InvalidOption, match="at least two branches"):
            race()
        with pytest.raises(InvalidOption, match="after_ms"):
            hedge(len, len, after_ms=-1)
        assert recorder.steps == []

    def test_without_a_runtime_the_calls_are_closed_not_left_behind(self) -> None:
        async def run() -> None:
            with pytest.raises(NoRuntime, match="`race` needs a keel runtime"):
                race(double(1), double(2))

        asyncio.run(run())  # warnings are errors: a coroutine left un-awaited would fail the test


class TestModels:
    def test_the_steps(self, recorder: Recorder) -> None:
        agent = Agent(
            "desk", "openai:gpt-5", "Help.", tools=[refund, gated(refund), double, flow(lambda: 1)], max_rounds=3
        )
        think(writer, {"a": 1}, scope="summary")
        assert agent("task") == "did AgentStep"
        assert recorder.steps == [ThinkStep(writer, {"a": 1}, "summary"), AgentStep(agent, "task")]
        assert isinstance(agent.tools, tuple)
        assert hash(agent)

    def test_an_agent_holds_another_one_only_through_a_flow(self) -> None:
        inner = Agent("inner", "m:x", "Help.")
        with pytest.raises(InvalidOption) as found:
            Agent("outer", "m:x", "Help.", tools=[inner])
        assert "holds agent `inner`" in found.value.message
        assert "list that flow" in found.value.hint

    @pytest.mark.parametrize(
        "options",
        [
            {"name": ""}, {"model": " "}, {"instructions": None}, {"scope": ""}, {"tools": [len]}, {"tools": "refund"},
            {"tools": [double.fn]}, {"skills": "a"}, {"skills": [""]}, {"max_rounds": 0}, {"max_rounds": True},
            {"max_rounds": 2.0},
        ],
    )  # fmt: skip
    def test_bad_agents_are_refused(self, options: dict[str, Any]) -> None:
        with pytest.raises(InvalidOption):
            Agent(**{"name": "a", "model": "m:x", "instructions": "Help.", **options})

    def test_bad_reasoners_are_refused(self) -> None:
        for broken in (("", "m:x", "s"), ("n", "", "s"), ("n", "m:x", "")):
            with pytest.raises(InvalidOption):
                Reasoner(*broken)
        with pytest.raises(InvalidOption, match="`think` takes a `Reasoner`, not a `str`"):
            think("writer", 1)  # type: ignore[arg-type]
        with pytest.raises(InvalidOption):
            think(writer, 1, scope="")


class TestWithoutRuntime:
    @pytest.mark.parametrize(
        ("call", "what"),
        [
            (lambda: human_gate("?"), "`human_gate`"),
            (lambda: refund(amount=1), "`billing/refund`"),
            (lambda: gated(double)(1), "`gated(double)`"),
            (lambda: hedge(len, len, after_ms=1), "`hedge`"),
            (lambda: quorum(len, len, k=1), "`quorum`"),
            (lambda: think(writer, 1), "`think` with reasoner `writer`"),
            (lambda: Agent("desk", "m:x", "Help.")("task"), "agent `desk`"),
        ],
    )
    def test_what_needs_one_says_so_and_what_to_do(self, call: Callable[[], Any], what: str) -> None:
        with pytest.raises(NoRuntime) as caught:
            call()
        assert caught.value.message == f"{what} needs a keel runtime, and none is active here"
        assert "`keel run`" in caught.value.hint

    def test_a_runtime_ends_with_its_block_whatever_happens(self) -> None:
        with pytest.raises(ZeroDivisionError), running(Recorder()):
            raise ZeroDivisionError
        assert active() is None

    def test_a_runtime_reaches_tasks_and_not_other_contexts(self) -> None:
        async def step() -> Any:
            return active()

        async def run() -> None:
            port = Recorder()
            outside = asyncio.create_task(step())
            with running(port):
                inside = asyncio.create_task(step())
            assert await inside is port
            assert await outside is None

        asyncio.run(run())

    def test_inside_loop(self) -> None:
        async def run() -> bool:
            return inside_loop()

        assert asyncio.run(run())
        assert not inside_loop()


def test_errors_that_flows_catch_are_keels() -> None:
    assert issubclass(ApprovalDenied, KeelError)
    assert issubclass(NoRuntime, KeelError)
    error = ToolCallError("no", code="timeout", retryable=True)
    assert (error.code, error.retryable) == ("timeout", True)


USES = """
from typing import Literal
from keel import flow, gated, human_gate, mcp_tool, race, tool

@tool(effect="read", idempotent=True)
async def look(ticket: str, kind: Literal["a", "b"] = "a") -> dict[str, str]:
    return {}

@tool
def plain(x: int) -> str:
    return ""

refund = mcp_tool("billing", "refund")

@flow
async def settle(ticket: str) -> dict[str, str]:
    hit = await look(ticket, retries=2)
    await race(look(ticket), lambda: plain(2))
    ok = await human_gate("?", on_reject="return")
    await gated(look)(ticket, kind="b")
    result: dict[str, str] = await refund.options(timeout_s=1)(amount=hit["amount"])
    return result if ok else await look.fn(ticket)

look("a", kind="c")  # line 24
look(1)  # line 25
look("a", nope=1)  # line 26
look.options(retries="1")  # line 27
gated(look)(1)  # line 28
refund(1)  # line 29
settle(1)  # line 30
tool(effect="reed")  # line 31
human_gate("?", on_reject="ignore")  # line 32
"""


def test_a_type_checker_sees_signatures_and_step_options(tmp_path: Path) -> None:
    path = tmp_path / "uses.py"
    path.write_text(USES, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary", str(path)]
    cache = ["--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*command, *cache], capture_output=True, text=True, cwd=ROOT / "src")
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error: " in line}
    assert sorted(lines) == list(range(24, 33)), done.stdout


def examples() -> list[str]:
    text = (ROOT / "docs" / "flows.md").read_text("utf-8")
    return [part.partition("```")[0] for part in text.split("```python\n")[1:]]


@pytest.mark.parametrize("code", examples())
def test_the_examples_of_the_documentation_run(code: str) -> None:
    scope: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "docs/flows.md", "exec"), scope)
    tools = [value for value in scope.values() if type(value).__name__ == "Tool"]
    for item in tools:
        assert derive(item.fn, item.name)["description"]


def test_the_documentation_names_everything_there_is() -> None:
    text = (ROOT / "docs" / "flows.md").read_text("utf-8")
    assert all(f"`{name}" in text for name in keel.__all__)
