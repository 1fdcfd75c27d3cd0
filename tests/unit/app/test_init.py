"""`keel init`: finds, writes, never overwrites, and says what it did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keel.app.init import CLIENTS, init
from keel.app.outcome import Outcome
from keel.core.finding import InputErrors
from keel.store.project import find_project

SERVERS = {
    "mcpServers": {"search": {"command": "uvx", "args": ["search-mcp==2.3.1"], "env": {"API_KEY": "ghp_" + "a1B2" * 9}}}
}

FLOW = """\
from keel import flow, gated, mcp_tool

open("imported", "w").close()
query = mcp_tool("search", "query")
refund = mcp_tool("billing", "refund")
unused = mcp_tool("search", "unused")


@flow
async def settle(q: str) -> None:
    await query(q=q)
    await gated(refund)(q=q)
"""


def put(root: Path, file: str, text: str) -> None:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(text, encoding="utf-8")


def snapshot(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def run(root: Path, *files: Path) -> Outcome:
    return init(root.resolve(), files)


@pytest.mark.parametrize("file", CLIENTS)
def test_every_client_configuration_is_found(tmp_path: Path, file: str) -> None:
    put(tmp_path, file, '[mcp_servers.search]\ncommand = "uvx"\n' if file.endswith(".toml") else json.dumps(SERVERS))
    outcome = run(tmp_path)
    assert "+ keel.yaml: 1 server: search" in outcome.lines
    project = find_project(tmp_path)
    assert [server.name for server in project.servers] == ["search"]
    assert project.config.mcp_config == (file,)


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    put(tmp_path, ".mcp.json", json.dumps(SERVERS))
    run(tmp_path)
    before = snapshot(tmp_path)
    outcome = run(tmp_path)
    assert snapshot(tmp_path) == before
    assert [line[0] for line in outcome.lines] == ["="] * 4
    assert outcome.hints == ("`keel freeze`, then `keel check`",)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    mine = {
        "keel.yaml": "version: 1\n",
        "keel.toml": "# mine\n",
        "keel.schema.json": "{}",
        ".gitattributes": "keel.lock -diff",
    }
    for file, text in mine.items():
        put(tmp_path, file, text)
    run(tmp_path)
    assert snapshot(tmp_path) == {file: text.encode() for file, text in mine.items()}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "keel.lock merge=union\n"),
        ("* text=auto", "* text=auto\nkeel.lock merge=union\n"),
        ("a b\r\n", "a b\r\nkeel.lock merge=union\r\n"),
    ],
)
def test_git_attributes_are_appended_to(tmp_path: Path, before: str | None, after: str) -> None:
    if before is not None:
        (tmp_path / ".gitattributes").write_bytes(before.encode())
    run(tmp_path)
    assert (tmp_path / ".gitattributes").read_bytes() == after.encode()


def test_a_secret_is_named_and_never_copied(tmp_path: Path) -> None:
    put(tmp_path, ".mcp.json", json.dumps(SERVERS))
    outcome = run(tmp_path)
    written = b"".join(data for file, data in snapshot(tmp_path).items() if file != ".mcp.json")
    assert b"ghp_" not in written
    assert "ghp_" not in repr(outcome)
    assert any("set SEARCH_API_KEY" in hint for hint in outcome.hints)
    assert find_project(tmp_path).servers[0].env == (("API_KEY", "secret://search_api_key"),)


def test_a_file_outside_the_project_is_copied_without_its_path(tmp_path: Path) -> None:
    project, desktop = tmp_path / "project", tmp_path / "home" / "claude_desktop_config.json"
    project.mkdir()
    put(tmp_path, "home/claude_desktop_config.json", json.dumps(SERVERS))
    run(project, desktop)
    assert str(tmp_path) not in (project / "keel.yaml").read_text()
    assert find_project(project).config.mcp_config == ()
    assert find_project(project).servers[0].command == ("uvx", "search-mcp==2.3.1")


def test_an_existing_configuration_decides_what_is_imported(tmp_path: Path) -> None:
    put(tmp_path, "pyproject.toml", "[tool.keel]\nmanifest = 'conf/keel.yaml'\n")
    put(tmp_path, ".mcp.json", json.dumps(SERVERS))
    outcome = run(tmp_path)
    assert not (tmp_path / "keel.toml").exists()
    assert (tmp_path / "conf/keel.yaml").read_text().startswith("# yaml-language-server: $schema=../keel.schema.json\n")
    assert find_project(tmp_path).servers[0].command == ("uvx", "search-mcp==2.3.1")
    assert 'add `search_api_key = "SEARCH_API_KEY"` to `secrets` in `pyproject.toml`' in outcome.hints


def test_c023_a_broken_client_configuration_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    put(tmp_path, ".mcp.json", '{"mcpServers": {"a": {"command": "x"}')
    put(tmp_path, ".cursor/mcp.json", '{"mcpServers": {"b": {}}}')
    before = snapshot(tmp_path)
    with pytest.raises(InputErrors) as caught:
        run(tmp_path)
    assert {item.location.file for item in caught.value.findings} == {".mcp.json", ".cursor/mcp.json"}
    assert all(item.location.line for item in caught.value.findings)
    assert snapshot(tmp_path) == before


def test_settings_without_servers_are_passed_over(tmp_path: Path) -> None:
    put(tmp_path, ".gemini/settings.json", '{"theme": "dark"}')
    outcome = run(tmp_path)
    assert "= .gemini/settings.json names no servers" in outcome.lines
    assert find_project(tmp_path).servers == ()


def test_c034_nothing_of_the_home_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "home/.mcp.json", json.dumps(SERVERS))
    put(tmp_path, "home/.gemini/settings.json", json.dumps(SERVERS))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    run(tmp_path / "project")
    assert find_project(tmp_path / "project").servers == ()


def test_flows_are_read_and_not_run(tmp_path: Path) -> None:
    put(tmp_path, ".mcp.json", json.dumps({"mcpServers": {"search": {"command": "uvx"}}}))
    put(tmp_path, "flows.py", FLOW)
    outcome = run(tmp_path)
    granted = find_project(tmp_path).manifest.tools
    assert granted is not None
    assert [grant.tool for grant in granted] == ["billing/refund", "search/query"]
    assert "flows call tools of `billing`, which no client configuration has: add it to `servers`" in outcome.hints
    assert not (tmp_path / "imported").exists()
