"""Every form of a step in a flow is found at the place that the static reader gives it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keel.authoring.port import GatedStep, ToolStep, running
from keel.core.graph import Kind
from keel.flow.modules import MemorySources
from keel.flow.read import read_flows
from keel.runtime.groups import run_group
from keel.runtime.sites import BRANCH, Sites, SourceFile, call_branch, check_positions

HEAD = """
import asyncio
from functools import partial
from keel import flow, gated, human_gate, mcp_tool, quorum, tool

@tool(effect="read", idempotent=True)
def look(x: int) -> int:
    "Look a thing up."
    return x

pay = mcp_tool("bank", "pay")
find = mcp_tool("bank", "find")

class Desk:
    held = mcp_tool("bank", "find")
"""

ASYNC = {
    "awaited": "await pay(x=1)",
    "options": "await pay.options(timeout_s=3)(x=1)",
    "gated": "await gated(pay)(x=1)",
    "non-ascii": "é = 'ü'; await pay(x=é)",
    "two on a line": "return [await pay(x=1), await find(x=2)]",
    "nested": "await pay(x=await find(x=1))",
    "method on its own line": "await (\n    Desk\n    .held(x=1)\n)",
    "over lines": "await pay(\n    x=1,\n)",
    "gather": "await asyncio.gather(pay(x=1), find(x=2))",
    "task": "task = asyncio.create_task(pay(x=1))\nfound = await find(x=2)\nawait task",
    "task group": "async with asyncio.TaskGroup() as group:\n    group.create_task(pay(x=1))\n    group.create_task(find(x=2))",
    "deferred": "call = pay(x=1)\nother = 1\nawait call",
    "native": "await look(1, retries=1)",
    "comprehension": "return [await find(x=i) for i in (1, 2)]",
    "partial": "later = partial(pay, x=1)\nawait later()",
    "helper": "await helper()",
    "quorum": "await quorum(find(x=1), look(2), k=2)",
    "wait_for": "await asyncio.wait_for(pay(x=1), 3)",
    "conditional": "if x:\n    await pay(x=1)\nelse:\n    await find(x=1)",
}
SYNC = {
    "called": "pay(x=1)",
    "quorum of lambdas": "quorum(lambda: find(x=1), lambda: look(2), k=2)",
    "quorum of partials": "quorum(partial(find, x=1), partial(look, 2), k=2)",
    "helper": "sync_helper()",
}
HELPERS = """
async def helper():
    return await pay(x=7)

def sync_helper():
    return pay(x=7)
"""


class Recorder:
    """A runtime port that notes where each step was made."""

    def __init__(self, sites: Sites) -> None:
        self.sites = sites
        self.seen: set[tuple[str, str]] = set()

    def note(self, key: str) -> Any:
        caller = self.sites.caller()
        self.seen.add((caller.origin.place if caller else "nowhere", key))
        return self.later() if _inside() else None

    async def later(self) -> int:
        return 1

    def call_tool(self, step: ToolStep) -> Any:
        return self.note(step.key)

    def call_gated(self, step: GatedStep) -> Any:
        return self.note(step.call.key)

    def gate(self, step: Any) -> Any:
        return self.note("")

    def group(self, step: Any) -> Any:
        caller = self.sites.caller()
        origin = caller.origin if caller else None

        async def start(branch: Any) -> Any:
            if asyncio.iscoroutine(branch):
                return await branch
            BRANCH.set(origin)
            return await asyncio.to_thread(call_branch, branch)

        running_ = run_group(step, [lambda branch=branch: start(branch) for branch in step.branches])
        return running_ if _inside() else asyncio.run(running_)


def _inside() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def read(text: str) -> Iterator[tuple[str, str]]:
    program = read_flows(MemorySources({"flows.py": text}), flows=("flows.py",), source_roots=(".",))
    assert not [item for item in program.findings if item.code in ("dynamic-tool", "syntax-error")]
    (flow,) = program.flows
    for node in flow.graph.nodes:
        if node.kind is Kind.CALL and not node.echo and not node.dead:
            yield str(node.span), node.key


@pytest.mark.parametrize(
    ("body", "is_async"),
    [(body, True) for body in ASYNC.values()] + [(body, False) for body in SYNC.values()],
    ids=[*ASYNC, *(f"sync {name}" for name in SYNC)],
)
def test_a_step_is_found_where_the_reader_has_it(body: str, is_async: bool) -> None:
    head = "async def main" if is_async else "def main"
    text = f"{HEAD}{HELPERS}\n@flow\n{head}(x=0):\n{textwrap.indent(body, '    ')}\n"
    code = compile(text, "/verified/flows.py", "exec", dont_inherit=True)
    module: dict[str, Any] = {"__name__": "flows"}
    exec(code, module)
    sites = Sites({"/verified/flows.py": SourceFile("flows.py", text.encode())})
    recorder = Recorder(sites)
    with running(recorder):  # type: ignore[arg-type]
        result = module["main"]()
        if is_async:
            asyncio.run(_awaited(result))
    expected = set(read(text))
    if body.startswith("if x"):
        assert recorder.seen < expected
    else:
        assert recorder.seen == expected


async def _awaited(value: Any) -> Any:
    return await value


def test_a_step_outside_verified_sources_has_no_place() -> None:
    assert Sites({}).caller() is None


def test_python_without_columns_is_refused(tmp_path: Path) -> None:
    code = "from keel.runtime.sites import check_positions\ncheck_positions()"
    found = subprocess.run([sys.executable, "-X", "no_debug_ranges", "-c", code], capture_output=True, text=True)
    assert found.returncode == 1
    assert "keeps no columns" in found.stderr
    check_positions()
