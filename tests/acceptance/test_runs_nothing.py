"""DESIGN rule 2: the commands that judge start no process, open no socket, import no user code and no client library.

A tripwire is laid by an audit hook (PEP 578) that the interpreter itself calls, so that no import order or private
API slips past it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import FLOW, MANIFEST
from tests.acceptance.harness import Keel, put, surface, tool

HOOK = """\
import os, sys
_log = os.open(os.environ["TRIPWIRE"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
_events = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
def _hook(event, arguments):
    if event.startswith(_events) and event != "socket.__new__" or event == "import":
        text = f"{event} {arguments[0] if arguments else ''} {arguments[1] if event == 'subprocess.Popen' else ''}"
        os.write(_log, (text.splitlines()[0] + "\\n").encode())
sys.addaudithook(_hook)
"""
HEAVY = ("mcp", "mcp_types", "httpx", "httpx2", "jsonschema", "anyio", "asyncio", "requests", "urllib.request")
USER_CODE = FLOW + '\nopen("IMPORTED", "w").close()\n'
TRAP = MANIFEST + "  - trap/*\n"

COMMANDS = {
    "check": ["check"],
    "freeze --check": ["freeze", "--check"],
    "lint": ["lint", "alpha.json"],
    "relate": ["relate", "old.json", "new.json"],
    "diff files": ["diff", "alpha.json", "beta.json"],
    "show": ["show"],
    "show --grants": ["show", "--grants"],
    "show --config": ["show", "--config"],
    "graph": ["graph", "settle"],
    "explain": ["explain", "approval-missing"],
    "schema": ["schema", "manifest"],
    "bundle": ["bundle", "-o", "out.keel"],
    "verify": ["verify", "first.keel", "--allow-unsigned"],
    "keygen": ["keygen", "-o", "second"],
    "sign": ["sign", "first.keel", "--key", "first.key"],
    "verify --signer": ["verify", "signed.keel", "--signer", "first.pub"],
    "help": ["--help"],
}


@pytest.fixture
def wired(project: Keel, tmp_path_factory: pytest.TempPathFactory) -> Keel:
    """Return a project whose flows betray being imported and whose manifest names a server that betrays being started."""
    put(project.root, {"old.json": '{"type": "object"}', "new.json": '{"type": "string"}'})
    project("freeze")
    project("bundle", "-o", "first.keel")
    project("keygen", "-o", "first")
    project("sign", "first.keel", "--key", "first.key", "-o", "signed.keel")
    trap = f"  trap: {{command: [\"{sys.executable}\", -c, \"open('STARTED', 'w').close()\"]}}\n"
    put(project.root, {"keel.yaml": TRAP.replace("servers:\n", f"servers:\n{trap}"), "flows.py": USER_CODE})
    site = tmp_path_factory.mktemp("site")
    put(site, {"sitecustomize.py": HOOK})
    project.environment |= {"PYTHONPATH": str(site), "TRIPWIRE": str(site / "log")}
    return project


def events(project: Keel) -> list[str]:
    path = Path(project.environment["TRIPWIRE"])
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def imported(lines: list[str]) -> set[str]:
    return {line.split()[1] for line in lines if line.startswith("import ")}


@pytest.mark.parametrize("name", COMMANDS)
def test_judging_runs_nothing(wired: Keel, name: str) -> None:
    done = wired(*COMMANDS[name])
    assert done.code in (0, 1), done.out + done.err
    lines = events(wired)
    assert lines, "the tripwire did not work"
    assert [line for line in lines if not line.startswith("import ")] == []
    loaded = {
        module for module in imported(lines) for heavy in HEAVY if module == heavy or module.startswith(f"{heavy}.")
    }
    assert not loaded
    assert not (wired.root / "IMPORTED").exists()
    assert not (wired.root / "STARTED").exists()


def test_diff_of_revisions_runs_only_git_plumbing(wired: Keel) -> None:
    import subprocess

    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "base")):
        subprocess.run(["git", *identity, *words], cwd=wired.root, check=True)
    marker = wired.root / "HELPER"
    helper = f'touch "{marker}"; cat'
    for key in ("core.fsmonitor", "diff.x.textconv", "core.sshCommand", "filter.x.smudge", "core.pager"):
        subprocess.run(["git", "config", key, helper], cwd=wired.root, check=True)
    put(wired.root, {".gitattributes": "* diff=x filter=x\n", "beta.json": surface(tool("see"))})
    done = wired.json("diff")
    assert done.code == 0, done.out + done.err
    started = [line for line in events(wired) if not line.startswith("import ")]
    assert started
    assert all(line.startswith("subprocess.Popen git") for line in started), started
    assert all(any(verb in line for verb in ("rev-parse", "cat-file", "ls-tree", "merge-base")) for line in started)
    assert not marker.exists()


def test_the_tripwire_sees_what_it_must(wired: Keel) -> None:
    (wired.root / "keel.lock").unlink()
    wired("freeze")
    lines = events(wired)
    assert any(line.startswith("subprocess.Popen") or "fork" in line for line in lines)
    assert "mcp" in imported(lines)
    assert (wired.root / "STARTED").exists()


def test_importing_keel_for_flows_is_light() -> None:
    import subprocess

    code = "import sys; from keel import flow, tool; import json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"pydantic", "pydantic_core", "mcp", "httpx2", "rich", "typer", "ruamel.yaml", "asyncio"}
