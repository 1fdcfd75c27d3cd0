"""Programs and packages whose names imitate others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.model import ServerSpec
from keel.core.text import excerpt
from keel.manifest.launch import masked_command
from keel.rules.config.interface import ConfigContext, ConfigRule, config_meta
from keel.rules.config.known import LAUNCHERS, PACKAGES, SCOPES
from keel.rules.config.launchers import packages, program
from keel.rules.config.packages import Ecosystem, Package
from keel.rules.interface import Precision, Severity

_SHORTEST = 8
"""At one letter's distance, shorter names are neighbours by chance."""


class ConfusablePackage(ConfigRule):
    """Compares what launches name with well-known names and with the packages of the project's other servers."""

    meta = config_meta(
        "confusable-package",
        "a launch names a program or package that looks like another one",
        "A name one glance away from a trusted one is how a stranger's program is started with your credentials.",
        "compare the name with its publisher's documentation; if it is right, suppress the finding with a reason",
        '{"mcpServers": {"files": {"command": "npx", "args": ["@modelcontextprotoco1/server-memory@1.0.0"]}}}',
        "OWASP MCP04:2025 Software Supply Chain Attacks & Dependency Tampering",
        "SAFE-T1003 Malicious MCP-Server Distribution",
        "UTS 39",
        "CWE-1007",
        severity=Severity.ERROR,
        precision=Precision.HEURISTIC,
    )

    def check(self, project: ConfigContext) -> Iterator[Finding]:
        """Yield an error for what looks the same, and a warning for what is one letter or a scope away."""
        fetched = [(server, package) for server in project.servers for package in packages(masked_command(server))]
        own = {package.name for _, package in fetched}
        for server in project.servers:
            yield from self._program(server)
        for server, package in fetched:
            known = {*PACKAGES.get(package.ecosystem, ()), *own} - {package.name}
            like = _imitated(package, known)
            if like:
                name, severity, how = like
                message = (
                    f"server `{server.name}` starts `{excerpt(package.name, 80)}`, which {how} `{excerpt(name, 80)}`"
                )
                yield self.about(server, f"/command/{package.index}", message, severity=severity)

    def _program(self, server: ServerSpec) -> Iterator[Finding]:
        name = program(server.command[0]) if server.command else ""
        if name in LAUNCHERS or not name:
            return
        like = next((known for known in sorted(LAUNCHERS) if not name.isascii() and _look(known) == _look(name)), None)
        if like:
            message = f"server `{server.name}` starts `{excerpt(name, 80)}`, which looks like `{like}`"
            yield self.about(server, "/command/0", message)


_Imitation = tuple[str, Severity, str]
"""(the imitated name, how bad, how it imitates)"""


def _imitated(package: Package, known: set[str]) -> _Imitation | None:
    """Return what a package imitates, the plainest imitation first."""
    name = _plain(package.name, package.ecosystem)
    others = {other: _plain(other, package.ecosystem) for other in sorted(known)}
    scope = name.partition("/")[0] if name.startswith("@") else ""
    if name in others.values() or scope in SCOPES:
        return None  # another spelling of the same package, or its owner's own
    return (_scope(scope) if scope else None) or _name(name, others)


def _scope(scope: str) -> _Imitation | None:
    for other in sorted(SCOPES):
        if _look(other) == _look(scope):
            return other, Severity.ERROR, "looks like the scope"
        if _near(scope, other):
            return other, Severity.WARNING, "differs by one letter from the scope"
    return None


def _name(name: str, others: dict[str, str]) -> _Imitation | None:
    for other, plain in others.items():
        if _look(plain) == _look(name):
            return other, Severity.ERROR, "looks like"
    for other, plain in others.items():
        if _bare(plain) == _bare(name):
            return other, Severity.WARNING, "differs only in separators from"
        if _near(name, plain):
            return other, Severity.WARNING, "differs by one letter from"
    return None


def _plain(name: str, ecosystem: Ecosystem) -> str:
    """Return a name as its registry compares it (PyPI: PEP 503)."""
    if ecosystem is Ecosystem.PYPI:
        return re.sub(r"[-_.]+", "-", name).lower()
    return name.removeprefix("docker.io/") if ecosystem is Ecosystem.IMAGE else name


def _look(name: str) -> str:
    """Return what a name looks like, separators kept."""
    from keel.rules.names.shared import look  # noqa: PLC0415 - its tables are only needed where something is fetched

    return "-".join(look(part) for part in re.split(r"[-_./]", name))


def _bare(name: str) -> str:
    return re.sub(r"[-_./@]", "", name)


def _near(one: str, two: str) -> bool:
    from keel.rules.names.shared import one_letter_apart  # noqa: PLC0415 - see `_look`

    return min(len(one), len(two)) >= _SHORTEST and one_letter_apart(one, two)
