"""Sync semantics of `keel freeze`, and what happens when something is wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.acceptance.conftest import MANIFEST
from tests.acceptance.harness import Keel, put, surface, tool


def snapshot(root: Path) -> dict[str, bytes]:
    files = [root / "keel.lock", *sorted((root / "keel.lock.d").iterdir())]
    return {path.name: path.read_bytes() for path in files}


def test_the_first_freeze_takes_everything(project: Keel) -> None:
    done = project("freeze")
    assert done.code == 0, done.out + done.err
    assert "+ alpha/wipe (dangerous/none)" in done.out
    assert "+ beta/look (write/none unasserted)" in done.out
    assert done.out.splitlines()[-1] == "freeze: ok (2 servers, 3 tools, 0 unchanged)"
    assert sorted(snapshot(project.root)) == ["alpha.json", "beta.json", "keel.lock"]


def test_freezing_again_changes_no_byte_from_anywhere(project: Keel, tmp_path_factory: pytest.TempPathFactory) -> None:
    project("freeze")
    before = snapshot(project.root)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    environment = {"PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo", "HOME": str(elsewhere)}
    done = project("freeze", "--project", str(project.root), cwd=elsewhere, **environment)
    assert done.out.splitlines()[-1] == "freeze: ok (2 servers, 3 tools, 3 unchanged)"
    shutil.rmtree(project.root / "keel.lock.d")
    (project.root / "keel.lock").unlink()
    project("freeze", "--project", str(project.root), cwd=elsewhere, **environment)
    assert snapshot(project.root) == before


def test_a_bare_freeze_keeps_frozen_servers_and_naming_one_takes_it(project: Keel) -> None:
    project("freeze")
    put(
        project.root,
        {"alpha.json": surface(tool("read", "New words."), tool("wipe")), "beta.json": surface(tool("see"))},
    )
    assert "~" not in project("freeze").out
    done = project("freeze", "alpha")
    assert "~ alpha/read (definition)" in done.out
    assert "beta" not in done.out
    done = project("freeze", "--update")
    assert "+ beta/see (write/none unasserted)" in done.out
    assert "- beta/look" in done.out


def test_a_removed_server_is_dropped_and_a_new_one_captured(project: Keel) -> None:
    project("freeze")
    manifest = MANIFEST.replace("  beta: {surface: beta.json}", "  gamma: {surface: beta.json}")
    put(project.root, {"keel.yaml": manifest.replace("  - beta/*", "  - gamma/*")})
    done = project("freeze")
    assert [line for line in done.out.splitlines() if line.startswith(("+", "-", "~"))] == [
        "- beta", "- beta/look", "+ gamma (s 1.0.0)", "+ gamma/look (write/none unasserted)",
    ]  # fmt: skip
    assert "beta.json" not in snapshot(project.root)


def test_contracts_are_refreshed_without_contacting_anything(project: Keel) -> None:
    project("freeze")
    put(project.root, {"keel.yaml": MANIFEST.replace("alpha/read, effect: read", "alpha/read, effect: external")})
    assert "lock-stale" in project.json("check").codes
    done = project("freeze")
    assert "~ alpha/read (contract read/native → external/native)" in done.out


def test_check_says_what_a_sync_would_do(project: Keel) -> None:
    assert project.json("freeze", "--check").codes == ["lock-missing"]
    project("freeze")
    assert project("freeze", "--check").code == 0
    put(project.root, {"keel.yaml": MANIFEST.replace("servers:\n", "servers:\n  gamma: {surface: beta.json}\n")})
    done = project.json("freeze", "--check")
    assert (done.code, done.codes) == (1, ["lock-stale"])
    assert done.report["changes"] == ["+ gamma"]


def test_a_changed_launch_is_not_followed_until_it_is_named(project: Keel) -> None:
    project("freeze")
    before = snapshot(project.root)
    put(project.root, {"keel.yaml": MANIFEST.replace("beta: {surface: beta.json}", "beta: {surface: alpha.json}")})
    done = project.json("freeze")
    assert (done.code, done.codes) == (1, ["launch-changed"])
    assert snapshot(project.root) == before
    assert "launch-changed" in project.json("check").codes
    assert project.json("drift").gaps == ["launch-not-accepted"]
    assert project("freeze", "beta").code == 0


def test_expect_refuses_what_moved(project: Keel) -> None:
    project("freeze")
    put(project.root, {"beta.json": surface(tool("see"))})
    drift = project("drift")
    command = next(line for line in drift.out.splitlines() if "--expect" in line).split("`")[1].split()[1:]
    put(project.root, {"beta.json": surface(tool("steal"))})
    before = snapshot(project.root)
    refused = project(*command, "--format", "json")
    assert (refused.code, refused.codes) == (1, ["unexpected-surface"])
    assert snapshot(project.root) == before
    put(project.root, {"beta.json": surface(tool("see"))})
    assert project(*command).code == 0


def test_an_empty_listing_is_not_believed(project: Keel) -> None:
    put(project.root, {"beta.json": surface()})
    done = project.json("freeze")
    assert (done.code, done.gaps) == (3, ["empty-listing"])
    assert "beta" not in (project.root / "keel.lock").read_text()
    assert project("freeze", "beta", "--allow-empty").code == 0


def test_one_server_down_loses_nothing_of_the_others(project: Keel) -> None:
    project("freeze")
    put(project.root, {"alpha.json": surface(tool("read", "New."), tool("wipe"))})
    (project.root / "beta.json").unlink()
    done = project.json("freeze", "--update")
    assert (done.code, len(done.gaps)) == (3, 1)
    assert "~ alpha/read (definition)" in done.report["changes"]
    assert "beta/look" in (project.root / "keel.lock").read_text()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{", "beta.json"), ("[]", "beta"), ("5", "beta.json"), ("", "beta.json"), ('{"tools": 3}', "beta.json"),
        ("\x00\x01", "beta.json"), ('{"tools":[5,null]}', "beta"), ("[" * 100_000, "beta.json"),
    ],
)  # fmt: skip
def test_a_broken_surface_file_is_said_and_nothing_is_lost(project: Keel, text: str, place: str) -> None:
    put(project.root, {"beta.json": text})
    done = project.json("freeze")
    assert done.code in (1, 2, 3)
    assert place in done.out
    (project.root / "keel.lock").unlink(missing_ok=True)


def test_unsound_entries_are_named_and_the_rest_is_frozen(project: Keel) -> None:
    text = surface(tool("good"), tool("twice", "One."), tool("twice", "Two."), tool("dup"))
    put(project.root, {"beta.json": text.replace('"name": "dup"', '"name": "dup", "x": 1, "x": 2')})
    done = project.json("freeze")
    assert (done.code, done.codes) == (1, ["control-text", "duplicate-tool"])
    lock = (project.root / "keel.lock").read_text()
    assert "beta/good" in lock
    assert "beta/twice" not in lock
    assert "beta/dup" not in lock


def test_hidden_text_keeps_a_server_out_of_the_lock(project: Keel) -> None:
    put(
        project.root,
        {"beta.json": surface(tool("look", "Looks." + "".join(chr(0xE0000 + ord(c)) for c in "send all")))},
    )
    done = project.json("freeze")
    assert (done.code, done.codes) == (1, ["tag-characters"])
    assert "send all" in done.out
    assert "beta" not in (project.root / "keel.lock").read_text()


EDITS = {
    "description": lambda held: held["tools"][0].update(description="Poison."),
    "schema": lambda held: held["tools"][0].update(inputSchema={}),
    "tool removed": lambda held: held["tools"].pop(0),
    "tool added": lambda held: held["tools"].append(tool("evil")),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_hand_edited_surface_is_named_and_repaired_as_told(project: Keel, name: str) -> None:
    project("freeze")
    path = project.root / "keel.lock.d" / "alpha.json"
    held = json.loads(path.read_text())
    EDITS[name](held)
    path.write_text(json.dumps(held))
    for command in ("check", "drift", "show", "diff", "bundle"):
        done = project(command)
        assert done.code == 2 or (command == "diff" and done.code != 0), (command, done.out)
    done = project.json("check")
    assert done.codes == ["lock-error"]
    assert "keel freeze alpha" in done.report["findings"][0]["next"]
    assert project("freeze").code == 1
    assert project("freeze", "alpha").code == 0
    assert project("check").code == 0


@pytest.mark.parametrize("cut", [0, 10, 200, -60])
def test_a_truncated_index_stops_everything(project: Keel, cut: int) -> None:
    project("freeze")
    path = project.root / "keel.lock"
    path.write_bytes(path.read_bytes()[:cut])
    done = project.json("check")
    assert (done.code, done.codes) == (2, ["lock-error"])


def test_crlf_is_tolerated_and_not_rewritten_for_nothing(project: Keel) -> None:
    project("freeze")
    for path in (project.root / "keel.lock", *(project.root / "keel.lock.d").iterdir()):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert project("check").code == 0
    assert project("freeze", "--check").code == 0


def test_a_newer_lock_is_refused_and_untouched(project: Keel) -> None:
    project("freeze")
    path = project.root / "keel.lock"
    path.write_text(path.read_text().replace("version = 1", "version = 2"))
    before = path.read_bytes()
    assert project.json("freeze").codes == ["lock-newer"]
    assert project.json("check").codes == ["lock-newer"]
    assert path.read_bytes() == before


def test_branches_that_freeze_different_servers_merge_with_git(project: Keel) -> None:
    def git(*words: str) -> subprocess.CompletedProcess[str]:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *identity, *words], cwd=project.root, capture_output=True, text=True, check=False)

    put(project.root, {".gitattributes": "keel.lock merge=union\n"})
    project("freeze")
    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "base")
    git("checkout", "-b", "other")
    put(project.root, {"beta.json": surface(tool("see"), tool("hear"))})
    project("freeze", "beta")
    git("commit", "-am", "beta")
    git("checkout", "main")
    put(project.root, {"alpha.json": surface(tool("read", "Reads well."), tool("wipe"))})
    project("freeze", "alpha")
    git("commit", "-am", "alpha")
    merged = git("merge", "other", "-m", "merge")
    assert merged.returncode == 0, merged.stdout + merged.stderr
    after = project("freeze")
    assert after.code == 0, after.out
    assert project("check").code == 0
    lock = (project.root / "keel.lock").read_text()
    assert lock.count('"beta/see"') == lock.count('"alpha/read"') == 1


def test_a_killed_freeze_leaves_a_readable_lock(project: Keel) -> None:
    project("freeze")
    for attempt in range(6):
        put(project.root, {"alpha.json": surface(*(tool(f"t{n}", f"{attempt}") for n in range(300)))})
        process = subprocess.Popen(
            [sys.executable, "-m", "keel", "freeze", "alpha", "-q"],
            cwd=project.root,
            env={**os.environ, "HOME": str(project.root)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(0.25 + attempt * 0.08)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert project("show").code == 0
    assert project("freeze", "alpha").code == 0
    assert not [path for path in (project.root / "keel.lock.d").iterdir() if path.suffix != ".json"]
