"""Launches of an exact release whose dependencies are chosen anew at every start."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.manifest.launch import masked_command
from keel.rules.config.interface import ConfigContext, ConfigRule, config_meta
from keel.rules.config.launchers import packages
from keel.rules.config.packages import Ecosystem, Package
from keel.rules.interface import Severity


class UnpinnedTree(ConfigRule):
    """Finds exact releases of npm and PyPI that are started without a lockfile, constraints or a date."""

    meta = config_meta(
        "unpinned-tree",
        "a launch names an exact release and leaves its dependencies open",
        "An exact version is not a pin: with today's dependencies many a published server no longer starts, and some"
        " list empty schemas at an unchanged version of their own.",
        "pin the whole tree: a lockfile with `npm ci`, or constraints with `uvx --constraints`",
        '{"mcpServers": {"search": {"command": "npx", "args": ["-y", "search-mcp@2.3.1"]}}}',
        "OWASP MCP04:2025 Software Supply Chain Attacks & Dependency Tampering",
        "CWE-1357",
        severity=Severity.INFO,
        strict_severity=Severity.WARNING,
    )

    def check(self, project: ConfigContext) -> Iterator[Finding]:
        """Yield one finding for each such package."""
        for server in project.servers:
            for package in packages(masked_command(server)):
                if package.exact and not package.settled:
                    message = (
                        f"server `{server.name}` pins `{excerpt(package.name, 80)}` but not what it depends on:"
                        f" `{package.launcher}` chooses that anew"
                    )
                    yield self.about(server, f"/command/{package.index}", message, next=tree_advice(package))


def tree_advice(package: Package) -> str:
    """Return how to pin what a package depends on, or that nothing is left to pin."""
    if package.ecosystem is Ecosystem.NPM:
        return (
            "to pin its dependencies too, commit a `package.json` and `package-lock.json` that hold it, run `npm ci`,"
            " and start `node_modules/.bin/NAME`"
        )
    if package.ecosystem is Ecosystem.PYPI:
        return _PYPI.get(package.launcher, _PYPI["uvx"])
    if package.ecosystem is Ecosystem.DENO:
        return "to pin its dependencies too, commit `deno.lock` and add `--frozen`"
    if package.ecosystem is Ecosystem.IMAGE:
        return "`docker image inspect` shows the digest, which pins all that is in it"
    return "that settles its dependencies too"


_PYPI = {
    "uvx": (
        "to pin its dependencies too, run `uv pip compile` to make `constraints.txt`, and add"
        " `--constraints constraints.txt`"
    ),
    "uv run": "to pin its dependencies too, add it to the project with `uv add` and start `uv run --locked`",
    "pipx run": 'to pin its dependencies too, add `--pip-args="--constraint constraints.txt"`',
    "pip install": "to pin its dependencies too, add `--constraint constraints.txt`",
}
