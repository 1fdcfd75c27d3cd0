"""`keel diff`: what a reviewer of a pull request is told, without any server."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.acceptance.harness import Keel, put, surface, tool
from tests.acceptance.test_drift import FLOW, MANIFEST, OBJECT, tools

NEEDS_TENANT = {**OBJECT, "required": ["q", "tenant"]}
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")


def git(keel: Keel, *arguments: str) -> str:
    done = subprocess.run([*GIT, *arguments], cwd=keel.root, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def reviewed(keel: Keel) -> Keel:
    """Return a project in git whose branch froze a server that now needs `tenant`, and loosened its manifest."""
    put(keel.root, {"keel.yaml": MANIFEST, "flows/support.py": FLOW, "search.json": tools()})
    assert keel("freeze").code == 0
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "one"], ["checkout", "-qb", "work"]):
        git(keel, *command)
    put(keel.root, {"search.json": tools(NEEDS_TENANT), "keel.yaml": MANIFEST + "fail_on: {widened: never}\n"})
    assert keel("freeze", "search").code == 0
    git(keel, "commit", "-qam", "two")
    return keel


def test_a_branch_is_told_by_what_it_breaks(reviewed: Keel) -> None:
    for arguments in (["main...HEAD"], ["HEAD~1"], ["HEAD~1", "HEAD"], ["main..work"]):
        done = reviewed.json("diff", *arguments)
        assert done.code == 0
        assert {"input-breaking", "manifest-loosened"} <= set(done.codes)
        (found,) = [item for item in done.report["findings"] if item["code"] == "input-breaking"]
        assert "`triage` breaks at flows/support.py:9: `search/query` now requires `tenant`" in found["message"]
        assert found["site"] == "triage@flows/support.py:9:17"
    assert reviewed.json("diff").report["findings"] == []


def test_fail_on_makes_a_gate_of_it(reviewed: Keel) -> None:
    assert reviewed("diff", "main...HEAD", "--fail-on", "error").code == 1
    assert reviewed("diff", "main...HEAD", "--fail-on", "never").code == 0
    assert reviewed("diff", "nowhere...HEAD").code == 2


def test_the_printed_command_takes_exactly_the_reviewed_surface(reviewed: Keel) -> None:
    command = re.search(r"`keel (freeze search --expect search=k1:[0-9a-f]{64})`", reviewed("diff", "main...HEAD").out)
    assert command is not None
    assert reviewed(*command[1].split()).code == 0
    put(reviewed.root, {"search.json": tools()})
    assert "unexpected-surface" in reviewed.json(*command[1].split()).codes


def test_markdown_is_short_and_folded(reviewed: Keel) -> None:
    text = reviewed("diff", "main...HEAD", "--format", "markdown").out
    assert text.startswith("<!-- keel diff -->\n\n### keel `diff: 1 error, 2 warnings (")
    assert "| 1 | error | `input-breaking` |" in text
    assert "<details" in text
    assert "`triage` breaks at flows/support.py:9" in text
    assert len(text) < 3_000


def test_blobs_and_files(reviewed: Keel) -> None:
    path = "keel.lock.d/search.json"
    assert reviewed.json("diff", f"main:{path}", f"HEAD:{path}").codes == ["input-breaking"]
    assert reviewed.json("diff", f"main:{path}", path).codes == ["input-breaking"]
    assert "search/query" in reviewed("diff", f"main:{path}", path).out
    assert reviewed.json("diff", "main:keel.lock", "keel.lock").codes == ["input-breaking"]
    assert reviewed("diff", "main:keel.lock", path).code == 2


def test_git_diff_shows_meaning_and_text(reviewed: Keel) -> None:
    """The two configurations of docs/drift.md."""
    put(reviewed.root, {".gitattributes": "keel.lock.d/*.json diff=keel\n"})
    python = f"PYTHONWARNINGS=error '{_python()}' -m keel"
    driver = f'f() {{ {python} diff "$2" "$5"; }}; f'
    out = git(reviewed, "-c", f"diff.keel.command={driver}", "diff", "main", "HEAD", "--", "keel.lock.d")
    assert "now requires `tenant`" in out
    gone = git(
        reviewed,
        "-c",
        f"diff.keel.command={driver}",
        "diff",
        "HEAD",
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "--",
        "keel.lock.d/search.json",
    )
    assert "tool-removed" in gone
    text = git(
        reviewed, "-c", f"diff.keel.textconv={python} diff --textconv", "diff", "main", "HEAD", "--", "keel.lock.d"
    )
    assert '-  /inputSchema/required ["q"]' in text
    assert '+  /inputSchema/required ["q", "tenant"]' in text


def _python() -> str:
    import sys

    return sys.executable


def test_text_conversion_unfolds_and_shows_what_hides(keel: Keel) -> None:
    put(keel.root, {"s.json": surface(tool("a", "One.\nTwo\u200b.\x1b[31m")), "broken.json": "{\x1b"})
    out = keel("diff", "--textconv", "s.json").out
    assert "tools a\n  /description\n    One.\n    Two\\u{200b}.\\u{1b}[31m\n" in out
    assert "\n  /inputSchema/properties/q/type string\n" in out
    assert keel("diff", "--textconv", "broken.json").out == "{\\u{1b}\n"
    assert keel("diff", "--textconv", "gone.json").code == 2
    assert keel("diff", "--textconv").code == 2


def test_a_tool_that_cannot_be_judged_is_not_passed_over(keel: Keel) -> None:
    sound = surface(tool("a"))
    put(keel.root, {"old.json": sound, "new.json": sound.replace('"name": "a"', '"name": "a", "name": "a"')})
    for files in (("old.json", "new.json"), ("new.json", "old.json")):
        done = keel.json("diff", *files)
        assert (done.code, done.codes, done.gaps) == (3, ["control-text"], ["schema-not-judged"])
        assert done.report["not_checked"][0]["what"] == "new.json a"
    assert keel("diff", "old.json", "new.json", "--fail-on", "error").code == 1
    assert keel("diff", "old.json", "keel.yaml").code == 2


def test_a_server_that_goes_names_the_flows_that_call_it(reviewed: Keel) -> None:
    put(
        reviewed.root,
        {
            "keel.yaml": MANIFEST.replace("search: {surface: search.json}", "other: {surface: o.json}"),
            "o.json": surface(tool("x")),
        },
    )
    assert reviewed("freeze").code in (0, 1)
    done = reviewed.json("diff", "HEAD")
    gone = next(item for item in done.report["findings"] if item["code"] == "tool-removed")
    assert "server `search` with 2 tools is gone; `triage` breaks at flows/support.py:9" in gone["message"]
    assert "and 1 more place" in gone["message"]
