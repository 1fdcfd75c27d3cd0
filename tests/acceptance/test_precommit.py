"""The pre-commit hook, run by the real pre-commit: an environment of its own, then no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.acceptance.harness import Keel, put, surface, tool
from tests.command_lines import ROOT

SHIPPED = (".pre-commit-hooks.yaml", "LICENSE", "README.md", "pyproject.toml", "src")
MANIFEST = """\
version: 1
servers: {alpha: {surface: alpha.json}}
tools: [{tool: alpha/wipe, effect: dangerous, idempotency: none}]
"""
# The project imports what is not installed anywhere: the hook must not need it.
FLOW = """\
import not_installed_anywhere

from keel import flow, gated, mcp_tool

wipe = mcp_tool("alpha", "wipe")


@flow
async def settle(q: str) -> None:
    await gated(wipe)(q=q)
"""


def run(cwd: Path, *words: str, prefix: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(
        [*prefix, *words], cwd=cwd, env=kept | environment, capture_output=True, text=True, timeout=900
    )


def git(cwd: Path, *words: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    done = run(cwd, "git", *who, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@cache
def without_network() -> tuple[str, ...]:
    """Return what starts a program in a network namespace of its own, where the system allows it."""
    unshare = ("unshare", "--map-root-user", "--net")
    if shutil.which("unshare") and subprocess.run([*unshare, "true"], capture_output=True).returncode == 0:
        return unshare
    return ()


@pytest.mark.real
@pytest.mark.timeout(900)
def test_c108_the_hook_judges_a_monorepo_in_isolation_and_without_network(tmp_path: Path) -> None:
    hooks, root, home = tmp_path / "keel", tmp_path / "monorepo", tmp_path / "home"
    for name in SHIPPED:
        source = ROOT / name
        copied = shutil.copytree if source.is_dir() else shutil.copyfile
        (hooks / name).parent.mkdir(parents=True, exist_ok=True)
        copied(source, hooks / name)
    git(hooks, "init", "-q")
    git(hooks, "add", ".")
    git(hooks, "commit", "-qm", "keel")
    config = f"repos: [{{repo: '{hooks}', rev: {git(hooks, 'rev-parse', 'HEAD')}, hooks: [{{id: keel-check}}]}}]\n"
    for name in ("services/a", "services/b"):
        put(
            root / name,
            {
                "keel.yaml": MANIFEST,
                "flows.py": FLOW.replace("import not_installed_anywhere\n", ""),
                "alpha.json": surface(tool("wipe")),
            },
        )
        assert Keel(root)("freeze", "--project", name).code == 0
        put(root / name, {"flows.py": FLOW})
    put(root, {".pre-commit-config.yaml": config, "tools/script.py": "print()\n"})
    git(root, "init", "-q")
    git(root, "add", ".")

    home.mkdir()
    environment = {"PRE_COMMIT_HOME": str(home)}
    installed = run(root, sys.executable, "-m", "pre_commit", "install-hooks", **environment)
    if installed.returncode != 0:
        pytest.skip(f"pre-commit could not install the hook: {installed.stdout[-300:]}")

    def check() -> subprocess.CompletedProcess[str]:
        dead = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
        return run(root, sys.executable, "-m", "pre_commit", "run", prefix=without_network(), **environment, **dead)

    clean = check()
    assert clean.returncode == 0, clean.stdout
    put(root / "services/b", {"flows.py": FLOW.replace("gated(wipe)", "wipe")})
    git(root, "add", ".")
    unsafe = check()
    assert unsafe.returncode == 1
    assert "error[approval-missing]" in unsafe.stdout
    assert "--> services/b/flows.py:" in unsafe.stdout
