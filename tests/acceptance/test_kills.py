"""`keel call` and `keel run`, killed at random moments and started again: a counting server sees no effect twice."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import KEPT, Keel, put
from tests.fakes import workshop

KILLS = 50 if os.environ.get("KEEL_TEST_LONG") else 5
"""Of each of the four kinds."""
ENOUGH = 30
"""Kills among which some must have lost an answer."""
SERVER_S = 0.05
"""How long the server takes for a call: the time in which a kill loses an answer."""
STORE, LOG = ".keel/state.sqlite", ".keel/audit.jsonl"
FLOW = """
from keel import flow, mcp_tool

say = mcp_tool("w", "say")


@flow
async def act(text: str, delay: float) -> None:
    await say(text=text, delay=delay)
"""
SETTLED = {"succeeded", "reconciled_succeeded"}


@dataclass
class Fleet:
    """A project whose one operation after the other is started and killed."""

    keel: Keel
    way: str
    hall: Any = None
    """The counting server over HTTP; None where it is a child over stdio."""
    chance: random.Random = field(default_factory=random.Random)
    startup_s: float = 0.0

    def __post_init__(self) -> None:
        server = {"url": f"http://127.0.0.1:{self.hall.server_address[1]}/mcp"} if self.hall else {
            "command": [sys.executable, str(Path(workshop.__file__)), "journal"]
        }  # fmt: skip
        put(self.keel.root, {
            "keel.yaml": "version: 1\n"
            f"servers: {{w: {json.dumps(server)}}}\n"
            "tools: [{tool: w/say, effect: write, idempotency: none, timeout_s: 20}]\n",
            "flows.py": FLOW,
        })  # fmt: skip
        for step in (("freeze",), ("bundle", "-o", "b.keel")):
            done = self.keel(*step)
            assert done.code == 0, done.out + done.err
        self.startup_s = self.measured("warm")

    def argv(self, name: str) -> list[str]:
        """Return the command that does an operation, the same at every start."""
        given = json.dumps({"text": name, "delay": SERVER_S})
        shared = ["--bundle", "b.keel", "--allow-unsigned", "--input", given]
        if self.way == "call":
            return ["call", "w/say", *shared, "--operation", name]
        return ["run", "act", *shared, "--run-id", name, "--approve", "store"]

    def measured(self, name: str) -> float:
        """Return the seconds until the log speaks of the operation, unkilled."""
        with self.started(name) as process:
            begun = time.monotonic()
            self.until_logged(process, 0)
            took = time.monotonic() - begun
            assert process.wait(60) == 0
        return took

    def started(self, name: str) -> subprocess.Popen[bytes]:
        """Start the operation."""
        kept = {key: os.environ[key] for key in KEPT if key in os.environ}
        words = [sys.executable, "-m", "keel", *self.argv(name)]
        environment = {**kept, "HOME": str(self.keel.root), "LC_ALL": "C.UTF-8"}
        return subprocess.Popen(
            words, cwd=self.keel.root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def logged(self) -> int:
        """Return the size of the audit log."""
        log = self.keel.root / LOG
        return log.stat().st_size if log.exists() else 0

    def until_logged(self, process: subprocess.Popen[bytes], before: int) -> None:
        """Wait for the event that is written just before a call leaves, or for the end."""
        until = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < until:
            if self.logged() > before and b'"executing"' in (self.keel.root / LOG).read_bytes()[before:]:
                return
            time.sleep(0.0005)

    def kill(self, name: str) -> bool:
        """Start an operation and kill it: at any moment, or near the moment at which its call leaves."""
        before = self.logged()
        with self.started(name) as process:
            if self.chance.random() < 0.2:
                time.sleep(self.chance.random() * (self.startup_s + 2 * SERVER_S))
            else:
                self.until_logged(process, before)
                time.sleep(self.chance.random() * 2 * SERVER_S)
            process.send_signal(signal.SIGKILL)
            return process.wait() == -signal.SIGKILL

    def counts(self) -> Counter[str]:
        """Return how often the server was called, by operation."""
        if self.hall is not None:
            return Counter(item["arguments"]["text"] for item in self.hall.calls)
        journal = self.keel.root / "journal"
        events = [json.loads(line) for line in journal.read_text().splitlines()]
        return Counter(item["arguments"]["text"] for item in events if "called" in item)

    def again(self, name: str) -> int:
        """Start an operation, let it end, and return its exit code."""
        with self.started(name) as process:
            return process.wait(60)

    def key(self, name: str) -> str:
        """Return the key of an operation of unknown outcome, as its latest start was told it."""
        for line in reversed((self.keel.root / LOG).read_bytes().splitlines()):
            with suppress(ValueError):
                event = json.loads(line)["event"]
                if event["event"] == "decided" and event.get("decision") == "outcome_unknown":
                    return str(event["detail"]["operation"])
        raise AssertionError(name)

    def let_leases_run_out(self) -> None:
        """Let the time pass after which whoever holds an operation counts as gone."""
        with closing(sqlite3.connect(self.keel.root / STORE)) as store, store:
            store.execute("UPDATE keel_operations SET lease_until = 0")

    def operations(self, *words: str) -> list[dict[str, Any]]:
        """Return the operations of the store."""
        done = self.keel("audit", "operations", "--format", "json", *words)
        assert done.code == 0, done.err
        found: list[dict[str, Any]] = json.loads(done.out)
        return found


@pytest.fixture(params=["stdio", "http"])
def hall(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Yield the counting server over HTTP, or None."""
    if request.param == "stdio":
        yield None
        return
    server = workshop.http_workshop()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
@pytest.mark.parametrize("way", ["call", "run"])
def test_a_killed_operation_is_done_once_or_said_to_be_unknown(keel: Keel, way: str, hall: Any) -> None:
    seed = int.from_bytes(os.urandom(4), "big")
    fleet = Fleet(keel, way, hall, random.Random(seed))
    names, killed = _killed(fleet)
    fleet.let_leases_run_out()
    unknown = {item["key"] for item in fleet.operations("--unknown")}
    for name in names:  # whatever became of it, the same command once more
        assert fleet.again(name) in (0, 3), (seed, name)
    states = {item["key"]: item["state"] for item in fleet.operations()}
    assert set(states.values()) <= {"succeeded", "outcome_unknown"}, (seed, states)
    assert {key for key, state in states.items() if state == "outcome_unknown"} == unknown, seed
    assert len(states) == len(names) + 1, seed
    assert unknown or killed < ENOUGH, "no kill came between sending and answer"
    assert [name for name, count in fleet.counts().items() if count > 1] == [], seed

    unseen = _settled(fleet, names, unknown)
    assert fleet.operations("--unknown") == []
    assert fleet.counts() == dict.fromkeys([*names, "warm"], 1), seed
    assert {item["state"] for item in fleet.operations()} <= SETTLED, seed
    assert keel.json("audit", "verify").codes in ([], ["audit-torn"]), seed
    print(f"{way}: {killed} kills, {len(names)} operations, {len(unknown)} unknown ({unseen} not applied), none twice")


def _killed(fleet: Fleet) -> tuple[list[str], int]:
    """Start operations and kill them, each up to three times; returns their names and how many kills there were."""
    names: list[str] = []
    killed = 0
    while killed < KILLS:
        names.append(f"op-{len(names)}")
        for _ in range(fleet.chance.randrange(1, 4)):
            killed += fleet.kill(names[-1])
            if fleet.chance.random() < 0.5:
                fleet.let_leases_run_out()
    return names, killed


def _settled(fleet: Fleet, names: list[str], unknown: set[str]) -> int:
    """Settle what nobody but the server knows by its count, and do what it has not seen; returns how many that were.

    Until it is settled, an operation of unknown outcome is not sent again.
    """
    seen, unseen = fleet.counts(), 0
    for name in names:
        if fleet.again(name) == 0:
            continue
        key = fleet.key(name)
        assert key in unknown
        unseen += not seen[name]
        done = fleet.keel("audit", "settle", key, "--applied" if seen[name] else "--not-applied", "--by", "counter")
        assert done.code == 0, done.err
        assert fleet.again(name) == 0
    return unseen
