"""The vocabulary of manifest and configuration: aliases, patterns of names, and which keys go together."""

from __future__ import annotations

from collections.abc import Mapping

from keel.core.model import Effect

EFFECTS: Mapping[str, Effect] = {
    "read": Effect.READ,
    "write": Effect.WRITE,
    "external": Effect.EXTERNAL,
    "dangerous": Effect.DANGEROUS,
    "none": Effect.READ,
    "write_reversible": Effect.WRITE,
    "write_irreversible": Effect.DANGEROUS,
    "external_communication": Effect.EXTERNAL,
}
"""Effects by every word that names them."""

LAUNCHES = ("command", "url", "surface", "import")
"""The keys of a server of which at most one may stand."""

PRIMITIVES = ("tools", "prompts", "resources")

WILDCARD_KEYS = ("tool", "approval", "owner", "reason")
"""What a `server/*` grant may hold: nothing that asserts or loosens for tools that do not exist yet."""

GATE_NAME = "human_gate"
"""The one name that is reserved beside those that begin with `_`."""

DARK = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
SERVER_NAME = rf"(?!{GATE_NAME}$)[A-Za-z0-9][A-Za-z0-9._-]{{0,62}}"
NATIVE_NAME = rf"(?!_)(?!{GATE_NAME}$)[^\s/*{DARK}]{{1,256}}"
MCP_KEY = rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,62}}/(?:\*|[^\s*{DARK}](?:[^*{DARK}]{{0,254}}[^\s*{DARK}])?)"
TOOL_KEY = rf"(?:{MCP_KEY}|{NATIVE_NAME})"
PLAIN = rf"[^\s{DARK}](?:[^{DARK}]{{0,1998}}[^\s{DARK}])?"
"""One line of text that neither begins nor ends with white space."""
DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
POINTER = r"(?:/(?:[^~/]|~[01])*)*"
"""RFC 6901 section 3."""
HOST = (
    r"(?:\*\.)?(?=[^:]{1,253}(?::|$))[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
    r"(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
)
"""A host name (RFC 1123 section 2.1) with at most one leading wildcard label and an optional port."""
RELATIVE = rf"(?![/\\~]|[A-Za-z]:)[^{DARK}\\]{{1,1024}}"
"""A path that does not name this machine."""
REFERENT = r"[A-Za-z_][A-Za-z0-9_.-]{0,127}"
"""The name of a secret."""
VARIABLE = r"[A-Za-z_][A-Za-z0-9_]{0,127}"


def is_reserved(name: str) -> bool:
    """Tell whether a native tool or a server may not bear this name."""
    return name.startswith("_") or name == GATE_NAME
