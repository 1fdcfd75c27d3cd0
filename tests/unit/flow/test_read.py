"""What a program says of itself: flows, native tools, references, agents; and the same bytes every time."""

import json
import subprocess
import sys
from pathlib import Path

from keel.core.graph import Kind, graph_value
from tests.unit.gates.harness import read

SOURCE = """
bot = Reasoner("bot", "m:x", "be kind")
desk = Agent("desk", "m:y", "help", tools=[get, gated(refund)])

@tool(effect="read", idempotent=True)
def look(a: str, retries: int = 0) -> str:
    \"\"\"Look.\"\"\"
    return a

@flow
async def settle(a: str) -> str:
    hit = await get.options(retries=2, timeout_s=5)(a=a)
    for part in hit["parts"]:
        await look(part, retries=3)
    ok = await human_gate(f"pay {a}?", on_reject="return")
    if not ok:
        return "no"
    await refund(a=a)
    return await desk(await think(bot, a))

@flow(entry=False)
def inner(a: str) -> str:
    return a
"""


def test_a_program_lists_what_it_declares():
    program = read(SOURCE)
    assert not program.findings
    assert [(flow.qualified, flow.entry, flow.is_async, flow.called) for flow in program.flows] == [
        ("flow:settle", True, True, False),
        ("flow:inner", False, False, False),
    ]
    (native,) = program.native_tools
    assert (native.key, native.module, native.qualname, native.declaration.effect.value) == (
        "look",
        "flow",
        "look",
        "read",
    )
    assert sorted(item.key for item in program.references) == ["pay/get", "pay/note", "pay/refund"]
    (agent,) = program.agents
    assert [(tool.key, tool.gated) for tool in agent.tools] == [("pay/get", False), ("pay/refund", True)]
    assert [(item.name, item.model) for item in program.reasoners] == [("bot", "m:x")]


def test_steps_keep_their_arguments_and_options():
    nodes = [node for node in read(SOURCE).flows[0].graph.nodes if node.kind is not Kind.ENTRY]
    calls = {node.key: node for node in nodes if node.kind is Kind.CALL}
    assert dict(calls["pay/get"].options) == {"retries": 2, "timeout_s": 5}
    assert [(item.name, item.text) for item in calls["look"].arguments] == [("a", "part"), ("retries", "3")]
    assert len(calls["look"].loops) == 1


def test_the_graph_of_the_bundle_is_json_without_machine_paths():
    value = graph_value(read(SOURCE).flows[0])
    text = json.dumps(value, sort_keys=True)
    assert str(Path.cwd()) not in text
    kinds = [node["kind"] for node in value["nodes"]]
    assert kinds == ["entry", "call", "loop", "call", "gate", "branch", "call", "think", "agent", "return"]
    assert value["nodes"][1]["arguments"] == [{"name": "a", "text": "a", "from": ["parameter a"]}]


def test_the_same_source_gives_the_same_graph_under_any_hash_seed():
    code = (
        "import json, hashlib\n"
        "from keel.core.graph import graph_value\n"
        "from tests.unit.flow.test_read import SOURCE, read\n"
        "print(hashlib.sha256(json.dumps(graph_value(read(SOURCE).flows[0])).encode()).hexdigest())\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_reading_loads_nothing_heavy():
    code = "import sys, keel.flow.read, keel.gates.registry; print([n for n in ('mcp', 'httpx2', 'jsonschema_rs', 'pydantic', 'rich') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
