"""The one canonical writer: the same lock gives the same bytes on every machine.

Every line of the index says by itself what it is about, so that a line-wise merge of two branches that touch
different servers or tools is again a valid index.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import tomli_w

from keel.core.digest import definition_digest, digest, surface_digest, surface_value
from keel.core.model import Contract, Policy, Surface
from keel.lockfile.model import (
    VERSION,
    LockedServer,
    LockedTool,
    LockIndex,
    capabilities_of,
    identity_of,
    protocol_of,
)

HEADER = """\
# What the tools of this project were when they were reviewed.
# Written by `keel freeze`; never edit it. Review every changed line, then commit it.
"""

# Characters that an editor or a diff does not show: they are written as JSON escapes, so that a reviewer sees them.
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def index_text(index: LockIndex) -> str:
    """Return the canonical text of an index, with LF line ends."""
    servers = [line for server in sorted(index.servers, key=lambda item: item.name) for line in _server_lines(server)]
    tools = [_tool_line(tool) for tool in sorted(index.tools, key=lambda item: item.key) if "/" in tool.key]
    native = [_tool_line(tool) for tool in sorted(index.tools, key=lambda item: item.key) if "/" not in tool.key]
    sections = (("servers", servers), ("tools", tools), ("native", native))
    body = "\n".join("\n".join([f"[{name}]", *lines, ""]) for name, lines in sections)
    return f"{HEADER}version = {VERSION}\n\n{body}"


def surface_text(surface: Surface) -> str:
    """Return the canonical text of a surface file: pretty, sorted, invisible characters escaped, LF line ends."""
    text = json.dumps(surface_value(surface), ensure_ascii=False, indent=1, sort_keys=True)
    return _UNSEEN.sub(lambda match: json.dumps(match.group())[1:-1], text) + "\n"


def locked_server(name: str, surface: Surface, *, policy: Policy, launch: str) -> LockedServer:
    """Build the index entry of a captured surface."""
    instructions = surface.instructions
    return LockedServer(
        name=name,
        identity=identity_of(surface),
        protocol=protocol_of(surface),
        capabilities=capabilities_of(surface),
        instructions=digest(instructions) if instructions else "",
        surface=surface_digest(surface),
        policy=policy,
        launch=launch,
    )


def locked_tool(
    key: str, wire: Mapping[str, Any], contract: Contract, *, source: str = "", body: str = ""
) -> LockedTool:
    """Build the index line of one tool."""
    return LockedTool(
        key, contract.effect, contract.idempotency, contract.asserted, definition_digest(wire), source, body
    )


def _server_lines(server: LockedServer) -> Iterable[str]:
    facts: dict[str, str | list[str]] = {
        "capabilities": list(server.capabilities),
        "identity": server.identity,
        "instructions": server.instructions,
        "launch": server.launch,
        "policy": server.policy.value,
        "protocol": server.protocol,
        "surface": server.surface,
    }
    for name, value in facts.items():
        if value or name == "capabilities":
            yield f"{_key(server.name)}.{name} = {_value(value)}"


def _tool_line(tool: LockedTool) -> str:
    fields: dict[str, str | bool] = {
        "effect": tool.effect.value,
        "idempotency": tool.idempotency.value,
        "asserted": tool.asserted,
        "definition": tool.definition,
        "source": tool.source,
        "body": tool.body,
    }
    inner = ", ".join(f"{name} = {_value(value)}" for name, value in fields.items() if value != "")
    return f"{_key(tool.key)} = {{ {inner} }}"


def _key(key: str) -> str:
    return _seen(tomli_w.dumps({key: True}).removesuffix(" = true\n"))


def _value(value: str | bool | list[str]) -> str:  # noqa: FBT001 - a TOML value
    if isinstance(value, list):
        # tomli-w spreads arrays over lines; an entry of the index keeps to one.
        return f"[{', '.join(_value(item) for item in value)}]"
    return _seen(tomli_w.dumps({"v": value}).removeprefix("v = ").removesuffix("\n"))


def _seen(text: str) -> str:
    return text if text.isascii() else _UNSEEN.sub(_toml_escape, text)


def _toml_escape(match: re.Match[str]) -> str:
    point = ord(match.group())
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"
