"""Several projects in one repository: grouping, and paths from its top."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.acceptance.harness import Keel, put, surface, tool

MANIFEST = """\
version: 1
servers: {alpha: {surface: alpha.json}}
tools:
  - {tool: alpha/read, effect: read, idempotency: native}
  - {tool: alpha/wipe, effect: dangerous, idempotency: none}
"""
FLOW = """\
from keel import flow, gated, mcp_tool

read = mcp_tool("alpha", "read")
wipe = mcp_tool("alpha", "wipe")


@flow
async def settle(q: str) -> None:
    await read(q=q)
    await gated(wipe)(q=q)
"""
UNSAFE = FLOW.replace("gated(wipe)", "wipe")


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the top of a work tree with two frozen projects, of which `b` calls without approval."""
    root = tmp_path_factory.mktemp("monorepo")
    (root / ".git").mkdir()
    for name in ("services/a", "services/b"):
        put(root / name, {"keel.yaml": MANIFEST, "flows.py": FLOW, "alpha.json": surface(tool("read"), tool("wipe"))})
        assert Keel(root)("freeze", "--project", name).code == 0
    put(root / "services/b", {"flows.py": UNSAFE})
    put(root, {"tools/script.py": "print()\n"})
    return root


@pytest.fixture
def monorepo(frozen: Path, tmp_path: Path) -> Keel:
    """Return a runner at the top of a fresh copy."""
    return Keel(Path(shutil.copytree(frozen, tmp_path / "monorepo")))


def places(report: dict[str, object]) -> set[str]:
    return {item["location"]["file"] for item in report["findings"] if item["severity"] == "error"}  # type: ignore[attr-defined,index]


def test_a_folder_above_projects_stands_for_all_of_them(monorepo: Keel) -> None:
    result = monorepo.json("check", ".")
    assert result.code == 1
    assert places(result.report) == {"services/b/flows.py"}
    assert all(
        item["site"].startswith("settle@services/b/")
        for item in result.report["findings"]
        if item["code"] == "approval-missing"
    )
    assert "2 projects; services/a: 1 flow" in monorepo("check", ".").out


def test_paths_are_grouped_by_project(monorepo: Keel) -> None:
    assert monorepo("check", "services/a").code == 0
    assert monorepo("check", "services/a/flows.py", "services/b/keel.yaml").code == 0
    assert monorepo("check", "services/a/flows.py", "services/b/flows.py").code == 1
    assert monorepo("check", "tools/script.py").code == 2
    assert monorepo("check", "nowhere").code == 2


def test_from_within_a_project_paths_stay_relative_to_it(monorepo: Keel) -> None:
    result = monorepo("check", "flows.py", "--format", "json", cwd=monorepo.root / "services/b")
    assert places(result.report) == {"flows.py"}


def test_a_broken_project_hides_nothing_of_the_others(monorepo: Keel) -> None:
    put(monorepo.root / "services/a", {"keel.yaml": "version: 1\nserver: {}\n"})
    result = monorepo.json("check", ".")
    assert result.code == 2
    assert places(result.report) == {"services/a/keel.yaml", "services/b/flows.py"}


@pytest.mark.parametrize(
    ("arguments", "cwd"),
    [(("check", "."), "."), (("check",), "services/b"), (("check", "--project", "services/b"), ".")],
)
def test_c104_uris_count_from_the_top_of_the_repository(monorepo: Keel, arguments: tuple[str, ...], cwd: str) -> None:
    result = monorepo(*arguments, "--format", "sarif", "--fail-on", "never", cwd=monorepo.root / cwd)
    (run,) = json.loads(result.out)["runs"]
    uris = {at["physicalLocation"]["artifactLocation"]["uri"] for item in run["results"] for at in item["locations"]}
    assert "services/b/flows.py" in uris
    assert all((monorepo.root / uri).is_file() for uri in uris)


def test_findings_about_a_tool_stand_at_its_line_of_the_lock(monorepo: Keel) -> None:
    folder = monorepo.root / "services/a"
    put(folder, {"alpha.json": surface(tool("read", "Reads no more."), tool("wipe"))})
    result = monorepo("drift", "--format", "sarif", cwd=folder)
    (run,) = json.loads(result.out)["runs"]
    (place,) = [item["locations"][0]["physicalLocation"] for item in run["results"] if item["ruleId"] == "text-changed"]
    lines = Path(folder / "keel.lock").read_text().splitlines()
    assert place["artifactLocation"]["uri"] == "services/a/keel.lock"
    assert lines[place["region"]["startLine"] - 1].startswith('"alpha/read" = ')


def test_one_run_serves_several_formats(monorepo: Keel) -> None:
    folder = monorepo.root / "services/b"
    kinds = ("sarif", "junit", "markdown", "json")
    result = monorepo("check", "--format", "github", *(f"--format={kind}:out.{kind}" for kind in kinds), cwd=folder)
    assert "::error file=services/b/flows.py,line=" in result.out
    assert all((folder / f"out.{kind}").stat().st_size for kind in kinds)
