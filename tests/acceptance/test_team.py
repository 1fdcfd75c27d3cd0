"""A lock under a team: branches, kills, two freezes at once, several machines."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from keel.app.freeze import FreezeOptions, freeze
from keel.app.outcome import Outcome
from keel.cli.wiring import open_context
from keel.core.finding import InputErrors
from keel.store import files as store_files
from keel.store import locks as store_locks
from keel.store.locks import LockFiles, load, save
from tests.acceptance.harness import Keel, put, surface, tool
from tests.acceptance.servers import Servers, bytes_of
from tests.unit.store.test_locks import build


class Team:
    """A git repository in which several people freeze."""

    def __init__(self, root: Path, *, union: bool) -> None:
        self.root = root
        put(root, {".gitattributes": "keel.lock merge=union\n" if union else "keel.lock -text\n"})
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> subprocess.CompletedProcess[str]:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *identity, *words], cwd=self.root, capture_output=True, text=True, check=False)

    def manifest(self, servers: list[str], tools: Mapping[str, str] | None = None) -> None:
        grants = [f"  - {{tool: {key}, effect: {effect}, idempotency: none}}" for key, effect in (tools or {}).items()]
        lines = ["version: 1", "servers:", *(f"  {name}: {{surface: {name}.json}}\n" for name in servers)]
        lines += (
            [f"tools:\n{chr(10).join(grants)}\n{chr(10).join(f'  - {name}/*' for name in servers)}"] if tools else []
        )
        put(self.root, {"keel.yaml": "\n".join(lines) + "\n"})

    def server(self, name: str, *tools: dict[str, Any]) -> None:
        put(self.root, {f"{name}.json": surface(*tools)})

    def freeze(self, *servers: str, **options: Any) -> Outcome:
        return freeze(open_context(project=self.root), FreezeOptions(servers=servers, **options))

    def commit(self) -> None:
        self.git("add", "-A")
        assert self.git("commit", "-qm", "work").returncode == 0

    def codes(self, outcome: Outcome) -> list[str]:
        return sorted({item.code for item in outcome.report.findings})

    def merge(self) -> None:
        """Merge the branch `other` into `main`, accepting whatever git leaves behind but conflicts in the inputs."""
        merged = self.git("merge", "-q", "other", "-m", "merge")
        assert merged.returncode in (0, 1), merged.stderr

    def same_as_fresh(self) -> None:
        """Compare the lock with one frozen from nothing."""
        merged = bytes_of(self.root)
        for name in merged:
            (self.root / name).unlink()
        self.freeze()
        assert bytes_of(self.root) == merged


@pytest.fixture(params=[True, False], ids=["union", "markers"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Team:
    """Return a repository with two frozen servers on `main`, and a branch `other`."""
    team = Team(tmp_path, union=request.param)
    team.manifest(["beta", "mu"])
    team.server("beta", tool("look"), tool("touch"))
    team.server("mu", tool("one"), tool("two"))
    team.freeze()
    team.commit()
    team.git("branch", "other")
    return team


def test_both_add_neighbours(team: Team) -> None:
    team.manifest(["beta", "gamma", "mu"])
    team.server("gamma", tool("g1"), tool("g2"))
    assert team.codes(team.freeze()) == []
    team.commit()
    team.git("checkout", "-q", "other")
    team.manifest(["beta", "delta", "mu"])
    team.server("delta", tool("d1"), tool("d2"))
    team.freeze()
    team.commit()
    team.git("checkout", "-q", "main")
    team.merge()
    team.manifest(["beta", "delta", "gamma", "mu"])
    done = team.freeze()
    assert (team.codes(done), done.report.not_checked) == ([], ())
    assert len(load(open_context(project=team.root).files).index.servers) == 4
    team.same_as_fresh()


def test_both_create_the_lock(tmp_path: Path) -> None:
    for union in (True, False):
        team = Team(tmp_path / str(union), union=union) if (tmp_path / str(union)).mkdir() is None else None
        assert team is not None
        put(team.root, {"README": "x"})
        team.commit()
        team.git("branch", "other")
        team.manifest(["alpha"])
        team.server("alpha", tool("a"))
        team.freeze()
        team.commit()
        team.git("checkout", "-q", "other")
        team.manifest(["zeta"])
        team.server("zeta", tool("z"))
        team.freeze()
        team.commit()
        team.git("checkout", "-q", "main")
        team.merge()
        team.manifest(["alpha", "zeta"])
        assert team.codes(team.freeze()) == []
        team.same_as_fresh()


def test_each_changes_another_server(team: Team) -> None:
    team.server("beta", tool("look", "Looks elsewhere."), tool("touch"))
    team.freeze("beta")
    team.commit()
    team.git("checkout", "-q", "other")
    team.server("mu", tool("one"), tool("three"))
    team.freeze("mu")
    team.commit()
    team.git("checkout", "-q", "main")
    team.merge()
    assert team.codes(team.freeze()) == []
    team.same_as_fresh()


def test_one_removes_a_tool_and_the_other_changes_its_neighbour(team: Team) -> None:
    team.server("beta", tool("look"))
    team.freeze("beta")
    team.commit()
    team.git("checkout", "-q", "other")
    team.server("mu", tool("alone", "New."), tool("one"), tool("two"))
    team.freeze("mu")
    team.commit()
    team.git("checkout", "-q", "main")
    team.merge()
    assert team.codes(team.freeze()) == []
    assert "beta/touch" not in (team.root / "keel.lock").read_text()
    team.same_as_fresh()


def test_one_removes_a_server_and_the_other_changes_its_neighbour(team: Team) -> None:
    team.manifest(["beta"])
    (team.root / "mu.json").unlink()
    team.freeze()
    team.commit()
    team.git("checkout", "-q", "other")
    team.server("beta", tool("look"), tool("zoom"))
    team.freeze("beta")
    team.commit()
    team.git("checkout", "-q", "main")
    team.merge()
    assert team.codes(team.freeze()) == []
    assert "mu" not in (team.root / "keel.lock").read_text()
    team.same_as_fresh()


def test_both_change_contracts_of_neighbours(team: Team) -> None:
    team.manifest(["beta", "mu"], {"beta/look": "read"})
    team.freeze()
    team.commit()
    team.git("checkout", "-q", "other")
    team.manifest(["beta", "mu"], {"beta/touch": "external"})
    team.freeze()
    team.commit()
    team.git("checkout", "-q", "main")
    team.merge()
    team.manifest(["beta", "mu"], {"beta/look": "read", "beta/touch": "external"})
    assert team.codes(team.freeze()) == []
    text = (team.root / "keel.lock").read_text()
    assert '"beta/look" = { effect = "read"' in text
    assert '"beta/touch" = { effect = "external"' in text
    team.same_as_fresh()


def test_both_change_one_server_and_only_that_one_is_named(team: Team) -> None:
    team.server("beta", tool("look", "Ours."))
    team.freeze("beta")
    team.commit()
    team.git("checkout", "-q", "other")
    team.server("beta", tool("look", "Theirs."))
    team.freeze("beta")
    team.commit()
    team.git("checkout", "-q", "main")
    team.merge()
    assert "<<<<<<<" in (team.root / "keel.lock.d/beta.json").read_text()
    team.server("beta", tool("look", "Both."))
    done = team.freeze()
    assert {(item.code, item.location.key) for item in done.report.findings} == {("lock-conflict", "beta")}
    assert "keel freeze beta" in done.report.findings[0].next
    assert team.codes(team.freeze("beta")) == []
    team.same_as_fresh()


def test_a_check_of_a_merge_says_that_freeze_has_work_and_writes_nothing(team: Team) -> None:
    put(
        team.root,
        {
            "keel.lock": (team.root / "keel.lock")
            .read_text()
            .replace("[tools]\n", "<<<<<<< a\n[tools]\n=======\n>>>>>>> b\n")
        },
    )
    before = bytes_of(team.root)
    done = team.freeze(check=True)
    assert team.codes(done) == ["lock-stale"]
    assert bytes_of(team.root) == before
    with pytest.raises(InputErrors, match="merge conflict"):
        load(open_context(project=team.root).files)


def kill_at(limit: int, place: LockFiles) -> bool:
    """Save in a child process that dies, without any clean-up, before line `limit` of the writing code; False if it ended."""
    child = os.fork()
    if child == 0:  # pragma: no cover - no tracing survives here
        watched, left = {store_files.__file__, store_locks.__file__}, limit

        def trace(frame: Any, event: str, _: object) -> Any:
            nonlocal left
            if frame.f_code.co_filename not in watched:
                return None
            if event == "line":
                left -= 1
                if left < 0:
                    os._exit(9)
            return trace

        sys.settrace(trace)
        save(place, NEW)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


OLD, NEW = build("a", "b", "c", "d"), build("b", "c", "d", "e", text="y")


def test_a_kill_at_every_point_of_a_write_leaves_the_old_lock_or_the_new_one(tmp_path: Path) -> None:
    kills, seen = 0, set()
    while True:
        root = tmp_path / "p"
        root.mkdir()
        place = LockFiles(root, root / "keel.lock")
        save(place, OLD)
        killed = kill_at(kills, place)
        held = load(place)
        assert held in (OLD, NEW)
        seen.add(held == NEW)
        save(place, NEW)
        assert load(place) == NEW
        assert sorted(path.name for path in root.iterdir()) == ["keel.lock", "keel.lock.d"]
        assert sorted(path.name for path in place.folder.iterdir()) == ["b.json", "c.json", "d.json", "e.json"]
        shutil.rmtree(root)
        if not killed:
            break
        kills += 1
    assert kills >= 200
    assert seen == {True, False}


def test_two_freezes_at_once_lose_nothing(keel: Keel) -> None:
    project = Servers(keel, ["left", "right"])
    project.behave({"left": "slow-start", "right": "slow-list"})
    environment = {**os.environ, "HOME": str(keel.root)}
    command = [sys.executable, "-m", "keel", "freeze", "--once"]
    both = [
        subprocess.Popen([*command, name], cwd=keel.root, env=environment, stdout=subprocess.PIPE)
        for name in project.servers
    ]
    assert [process.wait(60) for process in both] == [0, 0]
    for process in both:
        assert process.stdout is not None
        process.stdout.close()
    assert set(bytes_of(keel.root)) == {"keel.lock", "keel.lock.d/left.json", "keel.lock.d/right.json"}
    assert keel("freeze", "--check").code == 0


def test_a_check_reaches_nothing(keel: Keel) -> None:
    project = Servers(keel, ["one", "two"])
    assert keel("freeze", "--once").code == 0
    put(keel.root, {"serve.py": "open('started', 'w').close()"})
    project.servers["two"]["command"].append("--changed")
    project.servers["new"] = project.entry("new")
    project.write()
    done = keel.json("freeze", "--check")
    assert (done.code, done.codes) == (1, ["launch-changed", "lock-stale"])
    assert keel.json("check").codes[:2] == ["cross-server-collision", "launch-changed"]
    assert keel.json("drift", "new", "two").gaps == ["launch-not-accepted"] * 2
    assert not (keel.root / "started").exists()
    project.servers.pop("new")
    project.write()
    refused = keel.json("freeze")
    assert (refused.code, refused.codes) == (1, ["launch-changed"])
    assert not (keel.root / "started").exists()


def test_a_monorepo_of_six_projects_keeps_six_locks(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for number in range(6):
        root = tmp_path / "services" / f"s{number}"
        put(
            root,
            {"keel.yaml": "version: 1\nservers: {it: {surface: it.json}}\n", "it.json": surface(tool(f"t{number}"))},
        )
        freeze(open_context(project=root), FreezeOptions())
    held = [bytes_of(tmp_path / "services" / f"s{number}") for number in range(6)]
    assert len({locked["keel.lock"] for locked in held}) == 6
    assert not (tmp_path / "keel.lock").exists()
    put(tmp_path / "services/s3", {"it.json": surface(tool("t3", "Changed."))})
    freeze(open_context(project=tmp_path / "services/s3"), FreezeOptions(servers=("it",)))
    after = [bytes_of(tmp_path / "services" / f"s{number}") for number in range(6)]
    assert [number for number in range(6) if after[number] != held[number]] == [3]
    keel = Keel(tmp_path)
    assert keel.json("check", "services").code in (0, 1)


MACHINES = {
    "here": sys.executable,
    **{name: os.environ.get(f"KEEL_TEST_{name}", "") for name in ("PYTHON312", "PYTHON313")},
}
FLOWS = '''
from keel import tool
from typing import Literal

@tool(effect="read", idempotent=True)
def weigh(items: list[str], unit: Literal["kg", "lb"] = "kg", limit: float | None = None) -> dict[str, float]:
    """Weigh items and return the weight of each."""
    return {}
'''


def test_machines_differ_and_bytes_do_not(tmp_path: Path) -> None:
    found = {name: path for name, path in MACHINES.items() if path and Path(path).exists()}
    locks = {}
    for index, (name, python) in enumerate(found.items()):
        root = Path(tempfile.mkdtemp(prefix=f"machine-{index}-", dir=tmp_path))
        keel = Keel(root)
        project = Servers(keel, ["s"], env={"PINNED": "1"})
        project.mark = "same"
        project.servers = {"s": {**project.entry("s"), "command": ["python3", "serve.py", "now/s"]}}
        project.write()
        put(root, {"flows.py": FLOWS, "home/x": ""})
        environment = {
            "TZ": ["Asia/Tokyo", "America/Lima", "UTC"][index],
            "HOME": str(root / "home"),
            "LC_ALL": ["C", "C.UTF-8", "POSIX"][index],
        }
        done = subprocess.run(
            [python, "-m", "keel", "freeze", "--once", "--format", "json"],
            cwd=root, env={"PATH": f"{Path(python).parent}:{os.environ['PATH']}", "PYTHONHASHSEED": str(index), **environment},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (name, done.stdout, done.stderr)
        locks[name] = bytes_of(root)
    assert all(held == locks["here"] for held in locks.values())
    if len(found) < 3:
        pytest.skip(f"compared {', '.join(found)}; set KEEL_TEST_PYTHON312 and KEEL_TEST_PYTHON313 for the others")
