"""`keel run` as users run it: a terminal, a store, a kill and a restart, a rehearsal; effects are counted outside."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import KEPT, Keel, Result, put

WORKSHOP = Path(__file__).parent.parent / "fakes" / "workshop.py"
FLOWS = '''
from pathlib import Path
import time
from keel import flow, gated, human_gate, mcp_tool, tool

echo = mcp_tool("shop", "echo")
say = mcp_tool("shop", "say")


@tool(effect="write")
def record(number: int, folder: str, pause: float) -> int:
    """Write one line for each call, and take a while before and after it."""
    time.sleep(pause)
    with open(f"{folder}/effects.txt", "a") as file:
        file.write(f"{number}\\n")
    time.sleep(pause)
    return number


@flow
async def announce(text: str) -> dict:
    print("the flow says hello")
    found = await echo(text=text)
    await human_gate(f"say {text}?")
    await say(text=text)
    return {"said": found["text"]}


@flow
def announce_sync(text: str) -> dict:
    found = echo(text=text)
    human_gate(f"say {text}?")
    say(text=text)
    return {"said": found["text"]}


@flow
async def shout(text: str) -> str:
    await gated(say, "Shout?")(text=text)
    return "shouted"


@flow
async def work(folder: str, pause: float) -> list:
    return [await record(number, folder, pause) for number in range(4)]
'''
MANIFEST = """
version: 1
defaults: {timeout_s: 20}
servers:
  shop:
    command: [PYTHON, WORKSHOP, JOURNAL]
tools:
  - {tool: shop/echo, effect: read, idempotency: native}
  - {tool: shop/say, effect: dangerous, idempotency: none}
  - record
network: []
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    text = MANIFEST.replace("PYTHON", sys.executable).replace("WORKSHOP", str(WORKSHOP))
    put(
        folder,
        {
            "keel.toml": 'flows = ["flows.py"]\n',
            "keel.yaml": text.replace("JOURNAL", str(folder / "journal.jsonl")),
            "flows.py": FLOWS,
        },
    )
    keel = Keel(folder)
    frozen = keel("freeze", "--once")
    assert frozen.code == 0, frozen.err + frozen.out
    bundled = keel("bundle", "--output", "app.keel")
    assert (folder / "app.keel").exists(), bundled.out
    return folder


@pytest.fixture
def keel(root: Path) -> Keel:
    for name in ("journal.jsonl", "effects.txt"):
        (root / name).unlink(missing_ok=True)
    return Keel(root)


def said(root: Path) -> list[str]:
    """Return what reached the dangerous tool."""
    file = root / "journal.jsonl"
    events = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [event["arguments"]["text"] for event in events if event.get("called") == "say"]


def arguments(flow: str, value: dict[str, Any], *more: str) -> list[str]:
    return ["run", flow, "--bundle", "app.keel", "--allow-unsigned", "--input", json.dumps(value), *more]


def start(root: Path, line: list[str], **options: Any) -> subprocess.Popen[str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return subprocess.Popen(
        [sys.executable, "-m", "keel", *line],
        cwd=root,
        env={**kept, "HOME": str(root), "LC_ALL": "C.UTF-8", "TERM": "dumb"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


# -- the store --------------------------------------------------------------------------------------


def asked(process: subprocess.Popen[str]) -> str:
    """Wait for a run to ask for an approval, and return its id."""
    assert process.stderr is not None
    heard = ""
    while (found := re.search(r"keel approve (\S+)", heard)) is None:
        line = process.stderr.readline()
        assert line, heard
        heard += line
    return found.group(1)


@pytest.mark.parametrize(("flow", "word"), [("announce", "approve"), ("announce_sync", "deny"), ("shout", "approve")])
def test_another_process_decides(keel: Keel, flow: str, word: str) -> None:
    process = start(keel.root, arguments(flow, {"text": flow}, "--approve", "store"), stdin=subprocess.DEVNULL)
    approval = asked(process)
    assert said(keel.root) == []
    decided = keel(word, approval, "--comment", "seen")
    assert decided.code == 0, decided.err + decided.out
    out, err = process.communicate(timeout=60)
    value = json.loads(out)
    if word == "approve":
        assert process.returncode == 0, err
        assert value["ok"] is True
        assert said(keel.root) == [flow]
        assert err.splitlines()[-1].startswith(f"run: ok ({flow}, ")
    else:
        assert process.returncode == 1
        assert value["error"]["code"] == "approval-denied"
        assert said(keel.root) == []
        assert err.splitlines()[-1].startswith("run: approval-denied")


@pytest.mark.parametrize("flow", ["announce", "shout"])
def test_a_run_that_goes_on_finds_what_was_approved_meanwhile(keel: Keel, flow: str) -> None:
    line = arguments(flow, {"text": flow}, "--approve", "store", "--run-id", f"later-{flow}")
    process = start(keel.root, line, stdin=subprocess.DEVNULL)
    approval = asked(process)
    process.kill()
    process.communicate()
    assert keel("approve", approval).code == 0
    again: Result = keel(*line)
    assert (again.code, json.loads(again.out)["ok"]) == (0, True), again.err
    assert "keel approve" not in again.err
    assert said(keel.root) == [flow]


# -- the terminal -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1)])
def test_the_terminal_decides(keel: Keel, typed: str, code: int) -> None:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(keel.root)
        line = [sys.executable, "-m", "keel", *arguments("announce", {"text": "hi"})]
        os.execve(sys.executable, line, {**kept, "HOME": str(keel.root), "TERM": "dumb"})
    shown, answered, limit = "", False, time.monotonic() + 60
    while time.monotonic() < limit:
        ready, _, _ = select.select([terminal], [], [], 1)
        if ready:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data.decode()
        if not answered and "approve? [y/N]" in shown:
            assert "say hi?" in shown
            os.write(terminal, typed.encode())
            answered = True
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == code, shown
    assert said(keel.root) == (["hi"] if code == 0 else [])


# -- rehearsals -------------------------------------------------------------------------------------


def test_a_dry_run_executes_nothing(keel: Keel, root: Path) -> None:
    found = keel(*arguments("announce", {"text": "hi"}, "--dry-run", "--format", "json"))
    assert found.code == 0, found.err
    value = json.loads(found.out)
    assert (value["ok"], value["dry_run"], value["value"]) == (True, True, {"said": ""})
    assert [(entry["kind"], entry["name"], entry["outcome"]) for entry in value["trace"]] == [
        ("call", "shop/echo", "ok"),
        ("gate", "human_gate", "ok"),
        ("call", "shop/say", "ok"),
    ]
    assert not (root / "journal.jsonl").exists()
    assert found.err.splitlines()[-1] == "run: ok (announce, 3 steps, nothing was executed)"
    assert "the flow says hello" in found.err


def test_fixtures_answer_a_dry_run(keel: Keel) -> None:
    given = json.dumps({"shop/echo": {"text": "from the fixture"}})
    found = keel(*arguments("announce", {"text": "hi"}, "--dry-run", "--fixtures", given))
    assert json.loads(found.out)["value"] == {"said": "from the fixture"}
    wrong = json.dumps({"shop/echo": {"text": 7}})
    found = keel(*arguments("announce", {"text": "hi"}, "--dry-run", "--fixtures", wrong))
    assert found.code == 1
    assert json.loads(found.out)["error"]["code"] == "invalid_result"
    found = keel(*arguments("announce", {"text": "hi"}, "--dry-run", "--fixtures", json.dumps({"shop/ecko": {}})))
    assert (found.code, found.out) == (2, "")
    assert "did you mean `shop/echo`?" in found.err


# -- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flow", "value", "message"),
    [
        ("anounce", {}, "the bundle holds no flow `anounce`"),
        ("announce", {}, "missing a required argument"),
        ("announce", {"text": "x", "loud": True}, "unexpected keyword argument"),
        ("work", {"folder": ".", "pause": "long"}, "does not fit the types"),
    ],
)
def test_usage(keel: Keel, flow: str, value: dict[str, Any], message: str) -> None:
    found = keel(*arguments(flow, value))
    assert found.code == 2
    assert message in found.out + found.err


def test_a_changed_source_is_refused(keel: Keel, root: Path) -> None:
    file = root / "flows.py"
    before = file.read_text()
    file.write_text(before + "# changed\n")
    try:
        found = keel(*arguments("announce", {"text": "x"}))
    finally:
        file.write_text(before)
    assert found.code == 2
    assert "source-changed" in found.err
    assert said(root) == []


def test_an_unsigned_bundle_needs_a_word(keel: Keel) -> None:
    found = keel("run", "announce", "--bundle", "app.keel", "--input", '{"text": "x"}')
    assert found.code == 2
    assert "bundle-unsigned" in found.err


# -- kills ------------------------------------------------------------------------------------------


def test_a_killed_run_goes_on_and_repeats_no_effect(keel: Keel, root: Path) -> None:
    rng = random.Random(7)
    for number in range(6):
        (root / "effects.txt").unlink(missing_ok=True)
        line = arguments("work", {"folder": str(root), "pause": 0.08}, "--run-id", f"kill-{number}", "-q")
        process = start(root, line, stdin=subprocess.DEVNULL, start_new_session=True)
        # From the first effect on, anywhere within the 0.16 seconds that each of the next takes.
        limit = time.monotonic() + 30
        while not (root / "effects.txt").exists() and time.monotonic() < limit:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.4))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        again: Result = keel(*line)
        effects = (root / "effects.txt").read_text().split()
        assert len(effects) == len(set(effects)), effects
        value = json.loads(again.out)
        if value["ok"]:
            assert effects == ["0", "1", "2", "3"]
            assert value["value"] == [0, 1, 2, 3]
        else:
            assert again.code in (1, 3)
            assert len(effects) < 5


def test_the_same_run_twice_is_one(keel: Keel, root: Path) -> None:
    line = arguments("work", {"folder": str(root), "pause": 0}, "--run-id", "twice")
    first, second = keel(*line), keel(*line)
    assert json.loads(first.out) == json.loads(second.out)
    assert (root / "effects.txt").read_text().split() == ["0", "1", "2", "3"]
    assert second.err.count("(recorded)") == 4
