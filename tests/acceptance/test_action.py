"""The GitHub Action: every command in it exists, and its steps do what they say, run by bash with a stand-in for `gh`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.acceptance.harness import put, surface, tool
from tests.command_lines import ROOT, in_shell, parse

ACTION: dict[str, Any] = YAML(typ="safe", pure=True).load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
HOOKS: list[dict[str, Any]] = YAML(typ="safe", pure=True).load(
    (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
)
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")

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
GH = f"""#!{sys.executable}
import json, os, pathlib, sys
log = pathlib.Path(os.environ["GH_LOG"])
words = ["BODY" if word.endswith("keel-drift.md") else word for word in sys.argv[1:]]
log.write_text(log.read_text() + json.dumps(words) + "\\n")
if words[:2] == ["issue", "list"]:
    print(os.environ["GH_ISSUE"])
"""


def test_every_command_in_the_action_exists() -> None:
    lines = [line for step in STEPS for line in in_shell(step["run"])]
    assert {line.split()[1] for line in lines} == {"check", "diff", "freeze", "drift"}
    for line in lines:
        parse(line)


def test_scripts_hold_no_expressions() -> None:
    assert not [step["name"] for step in STEPS if "${{" in step["run"]]


def test_the_action_uses_no_other_action() -> None:
    assert [step for step in STEPS if "uses" in step] == []


def test_the_hook_is_a_command_that_exists() -> None:
    (hook,) = HOOKS
    assert hook["id"] == "keel-check"
    parse(hook["entry"])


@dataclass
class Runner:
    """Enough of the Actions runner for this action: environment files, step outputs, conditions."""

    root: Path
    event: str = "push"
    issue: str = ""
    inputs: dict[str, str] = field(default_factory=dict)
    base: str = ""
    out: str = ""

    @property
    def temp(self) -> Path:
        return self.root.parent / "temp"

    def run(self) -> dict[str, int]:
        """Run the steps and return the exit code of each that was run."""
        shutil.rmtree(self.temp, ignore_errors=True)
        put(self.temp, {"bin/gh": GH, "gh.log": "", "summary": "", "outputs": "", "path": ""})
        (self.temp / "bin/gh").chmod(0o755)
        outputs: dict[str, str] = {}
        codes: dict[str, int] = {}
        for step in STEPS:
            if step["name"] == "Install keel" or not self.wanted(step, outputs, failed=any(codes.values())):
                continue
            codes[step["name"]] = self.step(step)
            outputs = dict(line.split("=", 1) for line in (self.temp / "outputs").read_text().splitlines())
        return codes

    def wanted(self, step: dict[str, Any], outputs: dict[str, str], *, failed: bool) -> bool:
        condition = step.get("if", "")
        if not condition:
            return not failed
        name = re.search(r"steps\.plan\.outputs\.([a-z-]+) == 'true'", condition)
        return name is None or outputs.get(name[1]) == "true"

    def step(self, step: dict[str, Any]) -> int:
        values = {
            "github.event.pull_request.base.sha": self.base,
            "github.repository": "o/r",
            "github.token": "TOKEN",
            **{f"inputs.{name}": str(about.get("default", "")) for name, about in ACTION["inputs"].items()},
            **{f"inputs.{name}": value for name, value in self.inputs.items()},
        }
        given = {
            name: EXPRESSION.sub(lambda match: values[match[1]], text) for name, text in step.get("env", {}).items()
        }
        given = {name: EXPRESSION.sub(lambda match: values[match[1]], text) for name, text in given.items()}
        files = {
            "GITHUB_OUTPUT": "outputs",
            "GITHUB_STEP_SUMMARY": "summary",
            "GITHUB_PATH": "path",
            "GH_LOG": "gh.log",
        }
        environment = {
            "PATH": os.pathsep.join((str(self.temp / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])),
            "HOME": str(self.temp),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_EVENT_NAME": self.event,
            "GH_ISSUE": self.issue,
            **{name: str(self.temp / file) for name, file in files.items()},
            **given,
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.root, env=environment, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        self.out += done.stdout
        return done.returncode

    @property
    def gh(self) -> list[list[str]]:
        """What `gh` was called with."""
        return [json.loads(line) for line in (self.temp / "gh.log").read_text().splitlines()]


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *who, *arguments], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a work tree with a frozen, sound project and one commit."""
    root = tmp_path_factory.mktemp("repository")
    put(root, {"keel.yaml": MANIFEST, "flows.py": FLOW, "alpha.json": surface(tool("read"))})
    subprocess.run([sys.executable, "-m", "keel", "freeze", "-q"], cwd=root, check=True, capture_output=True)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


@pytest.fixture
def runner(frozen: Path, tmp_path: Path) -> Runner:
    """Return a runner in a fresh copy."""
    return Runner(Path(shutil.copytree(frozen, tmp_path / "repository")))


def test_a_push_is_checked_and_its_lock_must_be_fresh(runner: Runner) -> None:
    assert runner.run() == {"Decide what to run": 0, "Check": 0, "Freeze --check": 0, "Name the report": 0}
    assert (runner.temp / "summary").read_text().startswith("<!-- keel check -->")
    put(runner.root, {"keel.yaml": MANIFEST.replace("effect: read", "effect: write")})
    codes = runner.run()
    assert (codes["Check"], codes["Freeze --check"]) == (1, 1)
    assert "::error file=keel" in runner.out


def test_a_pull_request_is_checked_and_compared_and_starts_nothing(runner: Runner) -> None:
    runner.event, runner.base = "pull_request", git(runner.root, "rev-parse", "HEAD")
    put(runner.root, {"keel.yaml": MANIFEST + "  - alpha/*\n"})
    git(runner.root, "commit", "-qam", "second")
    codes = runner.run()
    assert set(codes) == {"Decide what to run", "Check", "Diff", "Name the report"}
    assert codes["Diff"] == 0
    assert "<!-- keel diff -->" in (runner.temp / "summary").read_text()
    assert runner.gh == []


@pytest.mark.parametrize("mode", ["drift", "freeze-check", "check drift", "other"])
def test_modes_that_start_something_are_refused_on_pull_requests(runner: Runner, mode: str) -> None:
    runner.event, runner.inputs = "pull_request", {"mode": mode}
    assert runner.run()["Decide what to run"] == 2
    assert "::error title=keel::mode" in runner.out


def test_no_drift_closes_the_issue(runner: Runner) -> None:
    runner.event, runner.issue = "schedule", "7"
    assert runner.run()["Drift"] == 0
    assert [call[:3] for call in runner.gh] == [["issue", "list", "--state"], ["issue", "close", "7"]]


def test_drift_keeps_one_issue(runner: Runner) -> None:
    runner.event = "schedule"
    put(runner.root, {"alpha.json": surface(tool("read", "Reads and forwards."))})
    assert runner.run()["Drift"] == 1
    assert [call[:2] for call in runner.gh] == [["issue", "list"], ["label", "create"], ["issue", "create"]]
    assert runner.gh[-1][-2:] == ["--body-file", "BODY"]
    first = (runner.temp / "keel-drift.md").read_text()
    runner.issue = "7"
    assert runner.run()["Drift"] == 1
    assert runner.gh[1:] == [["issue", "edit", "7", "--body-file", "BODY"]]
    assert (runner.temp / "keel-drift.md").read_text() == first


def test_a_server_that_cannot_be_looked_at_leaves_the_issue_alone(runner: Runner) -> None:
    runner.event, runner.issue = "schedule", "7"
    (runner.root / "alpha.json").unlink()
    assert runner.run()["Drift"] in (2, 3)
    assert [call[:2] for call in runner.gh] == [["issue", "list"]]
