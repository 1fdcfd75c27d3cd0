"""Files that are not what they should be: pipes, folders, dangling links, devices, numbers without end."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.harness import Keel, put


@pytest.mark.parametrize("name", ["keel.yaml", "keel.toml", "keel.lock", "keel.lock.d/alpha.json"])
@pytest.mark.parametrize("kind", ["folder", "dangling link", "loop", "pipe"])
def test_what_is_there_and_cannot_be_read_is_not_absent(project: Keel, name: str, kind: str) -> None:
    project("freeze")
    path = project.root / name
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path.name if kind == "loop" else "nowhere")
    done = project.json("check")
    if name == "keel.toml" and kind == "pipe":
        assert done.code == 0  # an empty configuration sets nothing
    elif name == "keel.yaml" and kind == "pipe":
        assert done.code in (1, 2)
    else:
        assert done.code == 2, done.out


@pytest.mark.parametrize("words", [["verify", "p"], ["lint", "p"], ["relate", "p", "p"], ["check", "--lock", "p"]])
def test_a_pipe_that_nobody_writes_to_is_no_hang(project: Keel, words: list[str]) -> None:
    os.mkfifo(project.root / "p")
    assert project(*words).code in (1, 2)


def test_a_pipe_that_somebody_writes_to_is_read(project: Keel) -> None:
    command = f'"{sys.executable}" -m keel lint <(cat alpha.json)'
    done = subprocess.run(["bash", "-c", command], cwd=project.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lint: " in done.stdout


def test_a_number_without_end_in_the_lock(project: Keel) -> None:
    put(project.root, {"keel.lock": f"x = {'9' * 6000}\n"})
    for words in (["check"], ["freeze", "--check"], ["freeze"]):
        done = project.json(*words)
        assert (done.code, done.codes) == (2, ["lock-error"])


def test_a_device_is_written_to_and_never_replaced(project: Keel) -> None:
    project("freeze")
    assert project("check", "--format", "json:/dev/null").code == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    done = project("check", "--format", "json:/dev/stdout")
    assert done.code == 0
    assert '"schema_version": 1' in done.out


@pytest.mark.parametrize("target", ["nowhere/x.json", ".", "/dev/full"])
def test_a_report_that_cannot_be_written_is_said(project: Keel, target: str) -> None:
    project("freeze")
    done = project("check", "--format", f"json:{target}", "--format", "text")
    assert done.code == 2
    assert "cannot be written" in done.err
    assert done.out.splitlines()[-1].startswith("check: ")


@pytest.mark.parametrize(("redirect", "code"), [("> /dev/full", 3), (">&-", 0), (">&- 2>&-", 0)])
def test_standard_output_that_is_full_or_closed(project: Keel, redirect: str, code: int) -> None:
    project("freeze")
    command = f'"{sys.executable}" -m keel check {redirect}'
    done = subprocess.run(["bash", "-c", command], cwd=project.root, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_grants_are_never_milder_than_what_holds_without_them(project: Keel) -> None:
    put(
        project.root,
        {
            "keel.yaml": "version: 1\ndefaults: {unasserted_effect: dangerous}\nservers:\n  alpha: {surface: alpha.json}\n",
            "flows.py": (project.root / "flows.py").read_text().replace('    await human_gate(f"wipe {q}?")\n', ""),
        },
    )
    project("freeze")
    assert "approval-missing" in project.json("check").codes
    with (project.root / "keel.yaml").open("a") as manifest:
        manifest.write(project("show", "--grants").out)
    project("freeze")
    assert "approval-missing" in project.json("check").codes


def test_check_takes_no_option_that_would_take_something(project: Keel) -> None:
    project("freeze")
    for words in (["--update"], ["alpha"], ["--offline"]):
        assert project("freeze", "--check", *words).code == 2


def test_a_broken_lock_has_one_exit_code_everywhere(project: Keel) -> None:
    project("freeze")
    put(project.root, {"keel.lock.d/alpha.json": "{"})
    for words in (["check"], ["freeze", "--check"], ["drift"], ["show"], ["bundle"]):
        assert project(*words).code == 2, words


def test_a_changed_body_is_work_for_a_sync(project: Keel) -> None:
    tool = 'from keel import tool\n\n\n@tool(effect="read", idempotent=True)\ndef look(q: str) -> str:\n    """Look."""\n    return q{}\n'
    put(project.root, {"flows.py": tool.format("")})
    project("freeze")
    assert project("freeze", "--check").code == 0
    put(project.root, {"flows.py": tool.format(" + q")})
    assert project.json("freeze", "--check").codes[0] == "lock-stale"
    assert "~ look (body)" in project("freeze").out
    assert project("freeze", "--check").code == 0


def test_a_file_where_a_folder_is_needed_is_said(project: Keel) -> None:
    project("freeze")
    put(project.root, {"taken": ""})
    for words in (["capture", "alpha", "beta", "--output", "taken"], ["bundle", "-o", "taken/out.keel"]):
        done = project(*words)
        assert done.code == 2, done.out + done.err
        assert "cannot be created" in done.out + done.err
