"""Entries of manifest and configuration that nothing uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from keel.core.finding import Finding, Location
from keel.core.model import ServerSpec, VolatileMask
from keel.core.schema import follow
from keel.core.text import escape, excerpt
from keel.manifest.references import ReferenceSyntaxError, names, parse_value
from keel.rules.config.interface import ConfigContext, ConfigRule, config_meta
from keel.rules.interface import Severity

_MASKED = "\u2039volatile\u203a"
"""What stands in frozen text where a mask has matched."""


_WINDOW = 65
"""Characters; no mask may match more than one fewer."""


class DeadEntry(ConfigRule):
    """Finds servers that are neither granted nor referenced, secrets that nothing names, masks that hide nothing."""

    meta = config_meta(
        "dead-entry",
        "an entry of the manifest or the configuration has no effect",
        "A server that nothing may use still starts at every freeze, and a leftover secret or mask waits for a misuse.",
        "remove the entry",
        '{"manifest": {"version": 1, "servers": {"search": {"url": "https://search.example/mcp"}}, "tools": []}}',
        "OWASP MCP02:2025 Privilege Escalation via Scope Creep",
        "CWE-1164",
        severity=Severity.INFO,
        strict_severity=Severity.WARNING,
    )

    def check(self, project: ConfigContext) -> Iterator[Finding]:
        """Yield one finding for each dead entry."""
        yield from self._servers(project)
        yield from self._secrets(project)
        for server in project.servers:
            for index, mask in enumerate(server.volatile):
                why = _idle(mask, project, server)
                if why:
                    at = Location(server.file, mask.line, mask.column, server.name, f"/volatile/{index}")
                    yield self.finding(at, f"the mask `{excerpt(mask.match, 60)}` of server `{server.name}` {why}")

    def _servers(self, project: ConfigContext) -> Iterator[Finding]:
        if project.manifest.tools is None:
            return  # any tool may be called
        granted = {grant.tool.partition("/")[0] for grant in project.manifest.tools if "/" in grant.tool}
        used = granted | {key.partition("/")[0] for key in project.referenced if "/" in key}
        for server in project.servers:
            if server.name not in used:
                message = f"server `{server.name}` is configured, but no tool of it is granted and no flow names one"
                hint = f"grant what is needed, such as `{server.name}/TOOL`, or remove the server"
                yield self.about(server, "", message, next=hint)

    def _secrets(self, project: ConfigContext) -> Iterator[Finding]:
        used = {name for server in project.servers for name in _secret_names(server)}
        for source in project.config.secrets:
            if source.name not in used:
                file = project.config.file
                at = Location(file, project.config.line_of(f"secrets/{source.name}"), 0, source.name)
                yield self.finding(at, f"no launch refers to the secret `{escape(source.name)}`")


def _secret_names(server: ServerSpec) -> Iterator[str]:
    texts = [*server.command, server.url, *(text for _, text in (*server.env, *server.headers))]
    if server.client_credentials is not None:
        texts += [server.client_credentials.client_id, server.client_credentials.client_secret]
    for text in texts:
        try:
            yield from names(parse_value(text)).secrets
        except ReferenceSyntaxError:
            continue  # reported where the launch is read


def _idle(mask: VolatileMask, project: ConfigContext, server: ServerSpec) -> str:
    """Say why a mask hides nothing of the frozen surface; empty when it does, or nothing is frozen."""
    surface = project.surfaces.get(server.name)
    if surface is None:
        return ""
    held: Any = surface.initialize
    if mask.tool:
        held = next((tool for tool in surface.tools if tool.get("name") == mask.tool), None)
        if held is None:
            return f"is for the tool `{excerpt(mask.tool, 60)}`, which is not frozen"
    found, text = follow(dict(held), mask.pointer if mask.tool else "/instructions")
    if not found or not isinstance(text, str):
        return f"is for `{excerpt(mask.pointer, 80)}`, where no text is frozen"
    return "" if _MASKED in text or _matches(mask.match, text) else "matches nothing in the frozen text"


def _matches(pattern: str, text: str) -> bool:
    """Tell whether a mask matches anywhere; each attempt sees a window, so that the whole is linear in the text."""
    compiled = re.compile(pattern)
    return any(compiled.match(text, at, at + _WINDOW) for at in range(len(text)))
