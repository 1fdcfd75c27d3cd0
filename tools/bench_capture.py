"""Speed of capture and of large locks: wall time to the slowest server, CPU seconds and memory of 10,000 tools, a soak.

`python tools/bench_capture.py [network] [lock] [soak[=N]]`; everything without arguments. Prints a table as
`tools/bench.py` does.
"""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from bench import TOP, Table, big_surface, measure

KEEL = [sys.executable, "-m", "keel"]


def hostile() -> ModuleType:
    """Load the fake server of the tests."""
    spec = importlib.util.spec_from_file_location("hostile", TOP / "tests" / "fakes" / "hostile.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class Project:
    """A folder whose servers are frozen from nothing again and again."""

    folder: Path
    entries: dict[str, object]
    options: tuple[str, ...] = ()
    code: int = 0
    """The exit code to expect."""
    best: float = float("inf")
    """The least wall time so far, in seconds."""

    def freeze(self) -> None:
        """Freeze once, from nothing."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / "keel.yaml").write_text(json.dumps({"version": 1, "servers": self.entries}))
        shutil.rmtree(self.folder / "keel.lock.d", ignore_errors=True)
        (self.folder / "keel.lock").unlink(missing_ok=True)
        argv = [*KEEL, "freeze", "-q", *self.options]
        start = time.monotonic()
        done = subprocess.run(argv, cwd=self.folder, check=False, capture_output=True, text=True)
        self.best = min(self.best, time.monotonic() - start)
        if done.returncode != self.code:
            raise SystemExit(f"keel freeze ended with {done.returncode}: {done.stdout}{done.stderr}")


ROUNDS = 5
"""How often each project is frozen, in turn, so that a busy moment of the machine strikes all of them."""


def network(table: Table, folder: Path) -> None:
    """Freeze servers that take a second each: 20 alike, and 60 of which half are fast and three fail."""
    fake = hostile()
    made = {name: fake.http_server(name)[0] for name in ("quiet", "slow-list", "401", "empty", "500")}
    urls = {name: {"url": f"http://127.0.0.1:{server.server_address[1]}/mcp"} for name, server in made.items()}
    slow = {f"s{n}": urls["slow-list"] for n in range(28)}
    mixed = {**slow, **{f"q{n}": urls["quiet"] for n in range(29)}}
    mixed |= {f"bad-{name}": urls[name] for name in ("401", "empty", "500")}
    sixteen = ("--jobs", "16")
    quiet = Project(folder / "quiet", {"s": urls["quiet"]})
    twenty = Project(folder / "twenty", {f"s{n}": urls["slow-list"] for n in range(20)})
    group = Project(folder / "group", slow, sixteen)
    whole = Project(folder / "whole", mixed, sixteen, code=3)
    for _ in range(ROUNDS):
        for project in (quiet, twenty, group, whole):
            project.freeze()
    print(f"{'start-up: one server that answers at once':<58} {quiet.best:>9.3f} s")
    table.row("20 servers of 1 s each, beyond start-up, to the slowest", twenty.best - quiet.best, 1.4, "x")
    ratio = (whole.best - quiet.best) / (group.best - quiet.best)
    table.row("60 mixed servers, 3 failing, to their 28 slow ones alone", ratio, 1.3, "x")
    # 28 servers of one second, 16 at a time, take two rounds at best.
    ideal = (whole.best - quiet.best) / 2
    print(f"{'60 mixed servers, 16 at a time, to two ideal rounds':<58} {ideal:>9.3f} x")


def lock(table: Table, folder: Path) -> None:
    """Check and compare 10,000 tools."""
    for name, changed in (("big", 0), ("other", 300)):
        (folder / name).mkdir()
        (folder / name / "keel.yaml").write_text("version: 1\nservers: {big: {surface: big.json}}\n")
        (folder / name / "big.json").write_text(big_surface(10_000, changed=changed))
    freeze = measure([*KEEL, "freeze", "big", "-q"], folder / "big", runs=1)
    subprocess.run([*KEEL, "freeze", "-q"], cwd=folder / "other", check=True, stdout=subprocess.DEVNULL)
    print(f"{'10,000 tools: freeze':<58} {freeze.cpu_s:>9.3f} s CPU")
    cold = measure([*KEEL, "check"], folder / "big", runs=1)
    table.row("10,000 tools: first check", cold.cpu_s, 2.0, "s CPU")
    warm = measure([*KEEL, "check"], folder / "big", runs=5)
    table.row("10,000 tools: check of the same bytes again", warm.cpu_s, 0.6, "s CPU")
    diff = measure([*KEEL, "diff", "big/keel.lock", "other/keel.lock"], folder, runs=3)
    table.row("10,000 tools: diff of two locks", diff.cpu_s, 3.0, "s CPU")
    table.row("10,000 tools: peak memory", max(x.peak_mib for x in (freeze, cold, warm, diff)), 300, "MiB")


BEHAVIOURS = (
    *("quiet", "noise", "two-pages", "endless", "repeating", "crash-start", "crash-list", "silence", "empty", "nan"),
    *("list-error", "grandchild", "grandchild-silence", "stubborn", "daemon", "bad-tool", "changed-between"),
    *("surrogate", "duplicates-different", "killed"),
)


def soak(table: Table, folder: Path, rounds: int) -> None:
    """Freeze a server that misbehaves at random again and again, and count what is left behind."""
    mark = f"KEEL_SOAK_{folder.name}"
    fake = TOP / "tests" / "fakes" / "hostile.py"
    (folder / "serve.py").write_text(
        f"import pathlib, runpy, sys\nsys.argv = [{str(fake)!r}, pathlib.Path('now').read_text()]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    server = {"command": [sys.executable, "serve.py"], "env": {"KEEL_SOAK": mark}, "timeout_s": 1.5}
    (folder / "keel.yaml").write_text(json.dumps({"version": 1, "servers": {"s": server}}))
    chance, corrupt, odd = random.Random(7), 0, 0  # noqa: S311 - a repeatable sequence
    (folder / "now").write_text("quiet")
    subprocess.run([*KEEL, "freeze", "-q"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    for _ in range(rounds):
        (folder / "now").write_text(chance.choice(BEHAVIOURS))
        done = subprocess.run([*KEEL, "freeze", "s", "-q"], cwd=folder, check=False, capture_output=True)
        odd += done.returncode not in (0, 1, 3) or b"Traceback" in done.stderr
        corrupt += subprocess.run([*KEEL, "show"], cwd=folder, check=False, capture_output=True).returncode != 0
    left = sorted(path.name for path in folder.rglob("*") if path.is_file())
    strays = [name for name in left if name not in ("keel.lock", "keel.yaml", "now", "s.json", "serve.py")]
    table.row(f"{rounds} freezes of a server that misbehaves: corrupt locks", corrupt, 0, "")
    table.row(f"{rounds} freezes of a server that misbehaves: odd ends", odd, 0, "")
    table.row(f"{rounds} freezes of a server that misbehaves: stray files", len(strays), 0, "")
    table.row(f"{rounds} freezes of a server that misbehaves: processes", len(survivors(mark)), 0, "")


def survivors(mark: str) -> list[str]:
    """Return the processes whose environment holds a mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def main() -> int:
    """Measure what the command line names."""
    wanted = dict(item.partition("=")[::2] for item in sys.argv[1:] or ("network", "lock", "soak"))
    table = Table()
    for name, part in (("network", network), ("lock", lock)):
        if name in wanted:
            with tempfile.TemporaryDirectory() as folder:
                part(table, Path(folder))
    if "soak" in wanted:
        with tempfile.TemporaryDirectory() as folder:
            soak(table, Path(folder), int(wanted["soak"] or 300))
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
