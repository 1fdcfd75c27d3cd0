"""What CI meets: exit codes apart, stable reports, and no way in for the text of servers, through the real command line."""

from __future__ import annotations

import json
import re
import sys

import pytest

from keel.errors import ExitCode
from keel.report.registry import FORMATS
from tests.acceptance.harness import Keel, put, surface, tool

MANIFEST = """\
version: 1
servers: {alpha: {surface: alpha.json}}
tools:
  - {tool: alpha/read, effect: read, idempotency: native}
"""
FLOW = """\
from keel import flow, mcp_tool

read = mcp_tool("alpha", "read")


@flow
async def look(q: str) -> None:
    await read(q=q)
"""
HOSTILE = (
    "x\n::error::owned ##[set-output name=a]b\x1b[31m <script>alert(1)</script> @everyone [a](https://evil.example) ```"
)


@pytest.fixture
def sound(keel: Keel) -> Keel:
    """Return a runner in a frozen project without findings."""
    put(keel.root, {"keel.yaml": MANIFEST, "flows.py": FLOW, "alpha.json": surface(tool("read"))})
    assert keel("freeze", "-q").code == 0
    return keel


def test_c102_drift_a_missing_server_and_a_wrong_flag_have_different_codes(sound: Keel) -> None:
    put(sound.root, {"alpha.json": surface(tool("read", "Reads and forwards."))})
    assert sound("drift", "-q").code == ExitCode.FINDINGS
    assert sound("drift", "--fail-onn", "error").code == ExitCode.USAGE
    url = "servers: {alpha: {url: 'http://127.0.0.1:9/mcp', timeout_s: 2}}"
    put(sound.root, {"keel.yaml": MANIFEST.replace("servers: {alpha: {surface: alpha.json}}", url)})
    sound("freeze", "-q")
    assert sound("drift", "-q").code == ExitCode.INCOMPLETE
    epilog = " ".join(sound("drift", "--help").out.split()) + " ".join(sound("--help").out.split())
    assert "0 clean, 1 findings at or above --fail-on, 2 usage or a broken input file, 3 could not complete" in epilog


def test_c103_a_breaking_change_fails_by_default_and_passes_only_when_asked_to(sound: Keel) -> None:
    broken = {
        "type": "object",
        "properties": {"other": {"type": "integer"}},
        "required": ["other"],
        "additionalProperties": False,
    }
    put(sound.root, {"alpha.json": surface(tool("read", schema=broken))})
    assert sound("drift", "-q").code == ExitCode.FINDINGS
    assert sound("drift", "-q", "--fail-on", "never").code == ExitCode.OK
    assert sound("drift", "-q", KEEL_FROZEN="1", KEEL_FAIL_ON="never", CI="true").code == ExitCode.FINDINGS


def test_c109_a_json_report_has_no_time_path_or_colour_and_is_the_same_twice(sound: Keel) -> None:
    first = sound("check", "--format", "json", FORCE_COLOR="1", CLICOLOR_FORCE="1")
    assert first.out == sound("check", "--format", "json", PYTHONHASHSEED="7", TZ="Asia/Tokyo").out
    assert "ROOT" not in first.out
    assert "\x1b" not in first.out + first.err
    assert first.report["schema_version"] == 1
    assert set(first.report["counts"]) == {"error", "warning", "info", "not_checked"}


def test_c033_check_of_an_untrusted_checkout_starts_and_imports_nothing(sound: Keel) -> None:
    trap = sound.root / "sprung"
    command = [sys.executable, "-c", f"open({str(trap)!r}, 'w')"]
    put(
        sound.root,
        {
            ".mcp.json": json.dumps({"mcpServers": {"evil": {"command": command[0], "args": command[1:]}}}),
            "keel.toml": 'mcp-config = [".mcp.json"]\n',
            "flows.py": f"open({str(trap)!r}, 'w')\n{FLOW}",
            "conftest.py": f"open({str(trap)!r}, 'w')\n",
            "sitecustomize.py": f"open({str(trap)!r}, 'w')\n",
        },
    )
    for words in (("check",), ("init",), ("bundle",), ("show",), ("freeze", "--check"), ("lint", "alpha.json")):
        sound(*words)
        assert not trap.exists(), words


@pytest.mark.parametrize("command", ["drift", "lint"])
def test_text_of_servers_is_data_in_every_format(sound: Keel, command: str) -> None:
    hostile = tool("read", HOSTILE, title=HOSTILE, annotations={"readOnlyHint": HOSTILE})
    schema = {
        "type": "object",
        "properties": {HOSTILE: {"type": "string", "description": HOSTILE}},
        "required": [HOSTILE],
    }
    other = {**tool("other"), "name": HOSTILE, "inputSchema": schema}
    put(sound.root, {"alpha.json": surface(hostile, other, instructions=HOSTILE)})
    words = ("drift", "-q") if command == "drift" else ("lint", "alpha.json", "--strict")
    result = sound(*words, "-v", *(f"--format={kind}:out.{kind}" for kind in FORMATS))
    assert (result.code, result.out) == (ExitCode.FINDINGS, "")
    for kind in FORMATS:
        text = (sound.root / f"out.{kind}").read_text(encoding="utf-8")
        assert "owned" in text, kind
        for line in text.splitlines():
            assert line.isprintable(), (kind, line)
            assert "##[" not in line, (kind, line)
            assert not re.match(r"\s*::(?!(error|warning|notice) file=)", line), (kind, line)
        assert kind != "junit" or "<script>" not in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_there_for_shells(keel: Keel, shell: str) -> None:
    result = keel(_KEEL_COMPLETE=f"source_{shell}")
    assert result.code == 0
    assert "keel" in result.out
    offered = keel(
        _KEEL_COMPLETE=f"complete_{shell}",
        COMP_WORDS="keel fre",
        COMP_CWORD="1",
        _TYPER_COMPLETE_ARGS="keel fre",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
    )
    assert "freeze" in offered.out


def test_init_freeze_check_from_a_client_configuration(keel: Keel) -> None:
    put(keel.root, {".mcp.json": json.dumps({"mcpServers": {"a/down": {"url": "http://127.0.0.1:9/mcp"}}})})
    assert keel("init").code == 0
    result = keel.json("freeze", "-q", "--timeout", "2")
    assert (result.code, result.gaps) == (3, ["unreachable"])
    assert "lock-stale" in keel.json("check").codes
