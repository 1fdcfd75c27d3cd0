"""The main job on real servers, as a newcomer would run it: freeze, check, drift, diff, bundle, sign, call, run.

Works in `.demo`: a copy of `fixtures/demo`, an environment with today's servers, and one with an old release of
mcp-server-git, whose own dependencies no longer start under today's SDK.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

TOP = Path(__file__).parents[1]
DEMO = TOP / ".demo"
PROJECT = DEMO / "project"
OLD = ("mcp-server-git==2025.1.14", "mcp<2")
NOW = ("mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19")
KEEL = Path(sys.executable).with_name("keel")
_SIGNED = ("--bundle", "dist/project.keel", "--signer", "keys/release.pub")


def main() -> int:
    """Run the demo; the exit code is 0 only if every step ended as it should."""
    started = time.monotonic()
    old, now = environment("git-2025.1.14", OLD), environment("servers", NOW)
    fresh_project()
    with closing(Notes()) as notes:
        story = Story(notes.port)
        story.tell(old, now)
    took = time.monotonic() - started
    print(f"\ndemo: {story.steps} steps in {took:.0f} s, {story.surprises} ended otherwise than expected")
    return 1 if story.surprises else 0


def environment(name: str, packages: tuple[str, ...]) -> Path:
    """Make a virtual environment with packages, once, and return its folder of programs."""
    folder = DEMO / name
    if not (folder / ".installed").exists():
        print(f"setting up {name}: {', '.join(packages)}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [
            str(folder / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *packages,
        ]
        subprocess.run(pip, check=True)
        (folder / ".installed").touch()
    return folder / "bin"


def fresh_project() -> None:
    """Copy the example project and put it under git."""
    shutil.rmtree(PROJECT, ignore_errors=True)
    shutil.copytree(TOP / "fixtures" / "demo", PROJECT)
    git("init", "--quiet", "--initial-branch", "main")
    commit("The project before keel")


def git(*words: str) -> None:
    """Run git in the example project under an identity of its own."""
    identity = ("-c", "user.name=demo", "-c", "user.email=demo@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *words], cwd=PROJECT, check=True)


def commit(message: str) -> None:
    """Commit everything in the example project."""
    git("add", "--all")
    git("commit", "--quiet", "--message", message)


class Notes:
    """The small HTTP server of the demo, on a free loopback port."""

    def __init__(self) -> None:
        """Start the server and wait until it answers."""
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        command = [sys.executable, str(PROJECT / "servers" / "notes.py"), str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        self.close()
        raise SystemExit("the notes server did not start")

    def close(self) -> None:
        """Stop the server."""
        self.process.terminate()
        self.process.wait(timeout=10)


class Story:
    """Runs keel step by step, showing each command and whether it ended as expected."""

    def __init__(self, port: int) -> None:
        """Args: port of the notes server."""
        self.port = port
        self.steps = 0
        self.surprises = 0

    def tell(self, old: Path, now: Path) -> None:
        """Run every step."""
        then, today = self.path(old, now), self.path(now)
        self.say("The first freeze: two servers over stdio, one over HTTP, and the project's own tool.")
        self.keel("freeze", env=then)
        commit("Freeze the tools")
        self.say("Every gate, without starting anything.")
        self.keel("check", env=then)
        self.say("A flow that asks for an approval and ignores the answer is refused.")
        shutil.copy(PROJECT / "refused" / "hasty.py.txt", PROJECT / "flows" / "hasty.py")
        self.keel("check", "flows/hasty.py", env=then, code=1)
        (PROJECT / "flows" / "hasty.py").unlink()
        self.say("A year passes: the same command now starts another release of mcp-server-git. That is drift.")
        self.keel("drift", "git", env=today, code=1)
        self.say("Accepting it is a decision, and what changed is there to review.")
        self.keel("freeze", "git", env=today)
        self.keel("diff", env=today)
        commit("Accept the new release of git's server")
        self.say("Nothing drifts any more, and what may be deployed goes into one file.")
        self.keel("drift", env=today)
        self.keel("check", env=today)
        self.keel("bundle", env=today)
        self.enforce(today)

    def enforce(self, env: Mapping[str, str]) -> None:
        """Sign the bundle and show that only what it holds can be called."""
        (PROJECT / "keys").mkdir()
        self.say("A release key signs it; whoever runs it names the keys that it accepts.")
        self.keel("keygen", "--output", "keys/release", env=env)
        self.keel("sign", "dist/project.keel", "--key", "keys/release.key", env=env)
        self.keel("verify", "dist/project.keel", "--signer", "keys/release.pub", env=env)
        self.say("Four calls, four outcomes: a result, an unknown tool, arguments that do not fit, no approval yet.")
        here = json.dumps({"repo_path": "."})
        self.keel("call", "git/git_status", *_SIGNED, "--input", here, env=env)
        self.keel("call", "git/git_push", *_SIGNED, "--input", here, env=env, code=1)
        self.keel("call", "git/git_log", *_SIGNED, "--input", json.dumps({"path": "."}), env=env, code=1)
        commit_ = json.dumps({"repo_path": ".", "message": "By the way"})
        self.keel("call", "git/git_commit", *_SIGNED, "--input", commit_, env=env, code=1)
        self.say("A flow runs, each step through the same checks.")
        self.keel("run", "standup", *_SIGNED, "--input", json.dumps({"repository": "."}), env=env)
        self.say("This one waits until a person, elsewhere, has approved the commit that it shows.")
        (PROJECT / "NEWS.txt").write_text("1.4.0: signed bundles\n", encoding="utf-8")
        git("add", "NEWS.txt")
        release = json.dumps({"repository": ".", "version": "1.4.0"})
        self.approved("run", "release", *_SIGNED, "--approve", "store", "--input", release, env=env)
        self.say("Who asked, who approved and what was done stands in a chain that nobody can rewrite unnoticed.")
        self.keel("audit", "verify", env=env)

    def approved(self, *words: str, env: Mapping[str, str]) -> None:
        """Run one keel command and approve, from outside, the gate at which it waits."""
        self.show(words)
        waiting = subprocess.Popen([str(KEEL), *words], cwd=PROJECT, env=env)
        deadline = time.monotonic() + 60
        while waiting.poll() is None and time.monotonic() < deadline:
            gates = [item["id"] for item in self.questions(env) if item["gate"]]
            if gates:
                self.keel("approve", gates[0], "--by", "ada", env=env)
                break
            time.sleep(0.5)
        self.judge(waiting.wait(timeout=60), 0)

    def questions(self, env: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return what waits for a person."""
        done = subprocess.run(
            [str(KEEL), "approve", "--format", "json"], cwd=PROJECT, env=env, check=False, capture_output=True
        )
        return list(json.loads(done.stdout or b"[]"))

    def path(self, *folders: Path) -> Mapping[str, str]:
        """Return an environment in which servers are looked for in these folders first."""
        search = os.pathsep.join([*(str(folder) for folder in folders), os.environ.get("PATH", "")])
        return {**os.environ, "PATH": search, "NOTES_PORT": str(self.port)}

    def say(self, text: str) -> None:
        """Print one line of the story."""
        print(f"\n# {text}", flush=True)

    def keel(self, *words: str, env: Mapping[str, str], code: int = 0) -> None:
        """Run one keel command and compare its exit code."""
        self.show(words)
        self.judge(subprocess.run([str(KEEL), *words], cwd=PROJECT, env=env, check=False).returncode, code)

    def show(self, words: tuple[str, ...]) -> None:
        """Print a command as one would type it."""
        print(f"$ {shlex.join(['keel', *words])}", flush=True)

    def judge(self, code: int, expected: int) -> None:
        """Count a step and say when it did not end as expected."""
        self.steps += 1
        if code != expected:
            self.surprises += 1
            print(f"!! exit code {code}, expected {expected}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
