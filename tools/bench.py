"""Speed and size, measured as CPU seconds of whole processes, with ratios taken in one run.

Prints a table; a figure beyond its bound is marked, and the exit code is then 1.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).parents[1]
RUNS = 7


@dataclass(frozen=True)
class Cost:
    """What one command cost, the best of several runs."""

    cpu_s: float
    peak_mib: float


def measure(command: Sequence[str], cwd: Path, *, runs: int = RUNS, ok: tuple[int, ...] = (0,)) -> Cost:
    """Run a command several times and return its least CPU time and its peak memory, children included."""
    best = Cost(float("inf"), 0.0)
    for _ in range(runs):
        process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in ok:
            error = process.stderr.read().decode() if process.stderr else ""
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: {error}")
        cost = Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        if cost.cpu_s < best.cpu_s:
            best = cost
    return best


class Table:
    """Rows of figures against bounds."""

    def __init__(self) -> None:
        """Start empty."""
        self.missed = 0

    def row(self, what: str, value: float, bound: float, unit: str) -> None:
        """Print one figure."""
        mark = "" if value <= bound else "  <-- beyond its bound"
        self.missed += value > bound
        print(f"{what:<58} {value:>9.3f} {unit:<6} bound {bound:g}{mark}", flush=True)


def big_surface(count: int, *, changed: int = 0) -> str:
    """Return a surface file of many tools, the first ones with another description."""
    tools = []
    for index in range(count):
        text = f"Find record number {index} by its key and return it with all its fields." + (
            " Now." if index < changed else ""
        )
        properties = {
            f"field_{n}": {"type": ["string", "null"][n % 2], "description": f"Field {n} of record {index}"}
            for n in range(6)
        }
        tools.append(
            {
                "name": f"find_record_{index:05}",
                "description": text,
                "inputSchema": {"type": "object", "properties": properties, "required": ["field_0", "field_1"]},
            }
        )
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "big", "version": "1"},
    }
    return json.dumps({"initialize": hello, "tools": tools})


def main() -> int:
    """Measure everything."""
    table = Table()
    keel = [sys.executable, "-m", "keel"]
    python = [sys.executable, "-c"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        imports = measure([*python, "import typer, pydantic, ruamel.yaml"], folder)
        print(f"import typer, pydantic, ruamel.yaml: {imports.cpu_s:.3f} s CPU\n")
        table.row("keel --version", measure([*keel, "--version"], folder).cpu_s, 0.12, "s CPU")
        demo = demo_project(folder / "demo")
        check = measure([*keel, "check"], demo)
        table.row("keel check, example project", check.cpu_s, 0.40, "s CPU")
        table.row("keel check, to the bare imports", check.cpu_s / imports.cpu_s, 2.5, "x")
        big = folder / "big"
        big.mkdir()
        (big / "keel.yaml").write_text("version: 1\nservers: {big: {surface: big.json}}\n")
        (big / "big.json").write_text(big_surface(2000))
        freeze = measure([*keel, "freeze", "big", "-q"], big, runs=3)
        reread = measure([*keel, "freeze", "--check"], big, runs=3)
        table.row("2,000 tools: freeze, write and re-read", freeze.cpu_s + reread.cpu_s, 5.0, "s CPU")
        table.row("2,000 tools: peak memory", max(freeze.peak_mib, reread.peak_mib), 300, "MiB")
        shutil.copytree(big, folder / "other")
        (folder / "other" / "big.json").write_text(big_surface(2000, changed=50))
        subprocess.run([*keel, "freeze", "big", "-q"], cwd=folder / "other", check=True, stdout=subprocess.DEVNULL)
        diff = measure([*keel, "diff", "big/keel.lock", "other/keel.lock"], folder, runs=3)
        table.row("2,000 tools: diff of two locks", diff.cpu_s, 2.0, "s CPU")
    return 1 if table.missed else 0


def demo_project(target: Path) -> Path:
    """Copy the example project and freeze it from surface files, as the servers themselves are not measured here."""
    shutil.copytree(TOP / "fixtures" / "demo", target)
    shutil.copytree(TOP / "fixtures" / "bench", target, dirs_exist_ok=True)
    subprocess.run([sys.executable, "-m", "keel", "freeze", "-q"], cwd=target, check=True, stdout=subprocess.DEVNULL)
    return target


if __name__ == "__main__":
    sys.exit(main())
