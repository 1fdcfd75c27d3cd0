"""Launches that fetch whatever is newest."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.manifest.launch import masked_command
from keel.rules.config.interface import ConfigContext, ConfigRule, config_meta
from keel.rules.config.launchers import packages
from keel.rules.config.packages import Ecosystem, Package
from keel.rules.config.unpinned_tree import tree_advice

_TAKES = {
    Ecosystem.NPM: "takes whatever version is cached or newest",
    Ecosystem.PYPI: "takes whatever version is cached or newest",
    Ecosystem.IMAGE: "takes whatever image the tag names that day",
    Ecosystem.GO: "takes whatever the name means that day",
    Ecosystem.DENO: "takes whatever version is cached or newest",
    Ecosystem.NUGET: "takes whatever version is newest",
}


class UnpinnedLaunch(ConfigRule):
    """Reads the command line of every launcher that fetches what it runs, and asks for an exact version or digest."""

    meta = config_meta(
        "unpinned-launch",
        "a launch fetches a package without an exact version, or an image without a digest",
        "Tomorrow another program starts under the same reviewed command, whoever published it.",
        "name an exact version (an image: a digest), and pin the tree below it with a lockfile",
        '{"mcpServers": {"search": {"command": "npx", "args": ["-y", "search-mcp@latest"]}}}',
        "OWASP MCP04:2025 Software Supply Chain Attacks & Dependency Tampering",
        "SAFE-T1002 Supply Chain Compromise",
        "CWE-1357",
    )

    def check(self, project: ConfigContext) -> Iterator[Finding]:
        """Yield one finding for each package that a launch leaves open."""
        for server in project.servers:
            surface = project.surfaces.get(server.name)
            frozen = surface.server_version if surface is not None else ""
            for package in packages(masked_command(server)):
                if not package.exact:
                    message = f"server `{server.name}` starts {_shown(package)}: `{package.launcher}` {_takes(package)}"
                    yield self.about(server, f"/command/{package.index}", message, next=_advice(package, frozen))


def _shown(package: Package) -> str:
    version = f" at `{excerpt(package.version, 40)}`" if package.version else ""
    lacks = "digest" if package.ecosystem is Ecosystem.IMAGE else "exact version"
    return f"`{excerpt(package.name, 80)}`{version} without {'a' if lacks == 'digest' else 'an'} {lacks}"


def _takes(package: Package) -> str:
    return _TAKES[package.ecosystem]


def _advice(package: Package, frozen: str) -> str:
    said = f" (the frozen server calls itself `{excerpt(frozen, 40)}`)" if frozen else ""
    return f"write `{pinned_form(package)}`{said}; {tree_advice(package)}"


def pinned_form(package: Package) -> str:
    """Return how the launcher is told of one release."""
    name = excerpt(package.name, 120)
    launcher = package.launcher
    if package.ecosystem is Ecosystem.IMAGE:
        return f"{launcher} {name}@sha256:DIGEST"
    if "://" in name or name.startswith(("github:", "gitlab:", "bitbucket:", "gist:")):
        return f"{launcher} {name}{'#' if package.ecosystem is Ecosystem.NPM else '@'}COMMIT"
    if package.ecosystem is Ecosystem.PYPI:
        return _PYPI_FORMS.get(launcher, f"{launcher} {{}}@X.Y.Z").format(name)
    if package.ecosystem is Ecosystem.DENO:
        return f"{launcher} npm:{name}@X.Y.Z"
    if package.ecosystem is Ecosystem.GO:
        return f"{launcher} {name}@vX.Y.Z"
    return f"{launcher}{' -y' if launcher == 'npx' else ''} {name}@X.Y.Z"


_PYPI_FORMS = {
    "uv run": "uv run --with {}==X.Y.Z",
    "pipx run": "pipx run --spec {}==X.Y.Z",
    "pip install": "pip install {}==X.Y.Z",
}
