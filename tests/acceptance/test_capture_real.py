"""Published servers over stdio: what keel captures is what they put on the wire.

Each server is looked for beside the interpreter and on the PATH: a virtual environment or `npm install --prefix` into
any folder, and its folder of programs on the PATH, are enough.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from keel.capture.interface import Captured, Launch
from keel.capture.run import capture_all
from keel.core.digest import normal_tool, surface_digest
from keel.core.model import Transport, VolatileMask
from keel.drift.volatile import apply_masks

pytestmark = pytest.mark.real

ENV = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "keel", "version": "1"},
}


PACKAGES = {
    "mcp-server-time": "mcp-server-time from PyPI",
    "mcp-server-git": "mcp-server-git from PyPI",
    "mcp-server-fetch": "mcp-server-fetch from PyPI",
    "mcp-server-everything": "@modelcontextprotocol/server-everything from npm",
    "mcp-server-filesystem": "@modelcontextprotocol/server-filesystem from npm",
    "mcp-server-memory": "@modelcontextprotocol/server-memory from npm",
}


def script(name):
    beside = Path(sys.executable).with_name(name)
    path = str(beside) if beside.exists() else shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is neither beside the interpreter nor on the PATH: install {PACKAGES[name]}")
    return path


def raw_exchange(argv):
    """Ask by hand, with nothing between the wire and `json`."""
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with subprocess.Popen(
        argv, env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        results = {}
        for message in messages:
            child.stdin.write(json.dumps(message).encode() + b"\n")
            child.stdin.flush()
            while "id" in message and message["id"] not in results:
                answer = json.loads(child.stdout.readline())
                if "result" in answer:
                    results[answer["id"]] = answer["result"]
        child.stdin.close()
    return results[1], results[2]["tools"]


def capture(argv, **more):
    settings = {"protocol": "2025-11-25", **more}
    twice = settings.pop("twice", False)
    (outcome,) = capture_all(
        [Launch("real", Transport.STDIO, argv=argv, env=ENV, **settings)], second_start=twice
    ).values()
    assert isinstance(outcome, Captured), outcome
    return outcome


@pytest.mark.parametrize("name", PACKAGES)
def test_a_capture_equals_the_wire(name):
    argv = (script(name), *(("/tmp",) if name == "mcp-server-filesystem" else ()))
    hello, tools = raw_exchange(argv)
    outcome = capture(argv)
    assert list(outcome.surface.tools) == [normal_tool(tool) for tool in sorted(tools, key=lambda tool: tool["name"])]
    kept = ("protocolVersion", "serverInfo", "capabilities", "instructions")
    assert outcome.surface.initialize == {key: hello[key] for key in kept if key in hello}
    assert outcome.findings == ()


def test_both_eras_of_a_server_list_the_same_tools():
    argv = (script("mcp-server-git"),)
    modern = capture(argv, protocol=None)
    assert modern.surface.initialize["protocolVersion"] == "2026-07-28"
    assert modern.surface.tools == capture(argv).surface.tools


def test_the_time_server_writes_its_time_zone_into_its_tools_and_a_mask_settles_it():
    argv = (script("mcp-server-time"),)
    outcome = capture(argv, twice=True)
    found = [finding for finding in outcome.findings if finding.code == "unstable-definition"]
    assert found
    assert {finding.location.key for finding in found} <= {"real/convert_time", "real/get_current_time"}
    masks = tuple(
        VolatileMask(finding.location.key.partition("/")[2], finding.location.pointer, "'[A-Za-z_/]+'")
        for finding in found
    )
    settled = capture(argv, twice=True, volatile=masks)
    assert settled.findings == ()
    digests = {surface_digest(apply_masks(item.surface, masks)) for item in (outcome, settled)}
    assert len(digests) == 1
