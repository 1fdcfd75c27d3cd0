"""The name under which a model sees a tool: one function for lint, agents and the gateway."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

SEPARATOR = "__"
"""Between server and tool (DESIGN 2)."""
HASH_LENGTH = 6


@dataclass(frozen=True, slots=True)
class NameRule:
    """Which names a provider accepts."""

    letters: str
    """Accepted characters after the first, as the inside of an ASCII character class."""
    longest: int
    first: str = ""
    """Accepted first characters; empty when the first is like the rest."""


NAME_RULES: dict[str, NameRule] = {
    "": NameRule("A-Za-z0-9_.-", 128),
    "anthropic": NameRule("A-Za-z0-9_-", 64),
    "bedrock": NameRule("A-Za-z0-9_-", 64),
    "gemini-json-schema": NameRule("A-Za-z0-9_.:-", 64, "A-Za-z_"),
    "gemini-parameters": NameRule("A-Za-z0-9_.:-", 64, "A-Za-z_"),
    "openai": NameRule("A-Za-z0-9_-", 64),
    "openai-strict": NameRule("A-Za-z0-9_-", 64),
}
"""By target; the empty target is MCP's own rule (2025-11-25, Tools, Tool Names). Sources: `rules.limits.providers`."""


def exposed_name(server: str, tool: str, target: str = "") -> str:
    """Return the name under which a target's model sees a tool.

    The name is `server__tool`, or the tool's alone when it has no server (a native tool). Each character that the
    target refuses becomes `_`. A name that is too long is cut and ends in `_` and six hexadecimal characters of the
    SHA-256 of the whole name, so that two long names stay distinct and the result depends on nothing else.

    Args:
        server: server name, or an empty string.
        tool: the tool's name as sent.
        target: a key of `NAME_RULES`.

    Raises:
        KeyError: if the target is unknown.
    """
    rule = NAME_RULES[target]
    whole = f"{server}{SEPARATOR}{tool}" if server else tool
    name = re.sub(f"[^{rule.letters}]", "_", whole)
    if rule.first and not re.match(f"[{rule.first}]", name):
        name = f"_{name}"
    return name if len(name) <= rule.longest else _marked(name, whole, HASH_LENGTH, rule)


def exposed_names(keys: Iterable[tuple[str, str]], target: str = "") -> dict[tuple[str, str], str]:
    """Return a name for each of several tools, no two of them the same.

    Names are as `exposed_name` gives them. Where several tools would share one, each of them is cut and marked with
    the hash of its whole name instead, longer as long as a name is shared: which of two came first decides nothing.

    Args:
        keys: (server, tool) of each.
        target: a key of `NAME_RULES`.

    Raises:
        KeyError: if the target is unknown.
    """
    names = {key: exposed_name(*key, target) for key in keys}
    length = HASH_LENGTH
    while shared := _shared(names):
        for key in shared:
            server, tool = key
            whole = f"{server}{SEPARATOR}{tool}" if server else tool
            names[key] = _marked(exposed_name(*key, target), f"{server}/{whole}", length, NAME_RULES[target])
        length += HASH_LENGTH
    return names


def _shared(names: dict[tuple[str, str], str]) -> list[tuple[str, str]]:
    counts: dict[str, int] = {}
    for name in names.values():
        counts[name] = counts.get(name, 0) + 1
    return [key for key, name in names.items() if counts[name] > 1]


def _marked(name: str, whole: str, length: int, rule: NameRule) -> str:
    mark = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:length]
    return f"{name[: rule.longest - length - 1]}_{mark}"
