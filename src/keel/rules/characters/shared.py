"""What the character rules share: naming code points, and walking the texts that are not plain."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from keel.core.text import excerpt
from keel.rules.view import Role, Text

REFERENCES = ("OWASP MCP03:2025 Tool Poisoning", "SAFE-T1402 Instruction Steganography", "CWE-1007", "UTR 36")
_SHOWN = 4


def code_points(chars: Iterable[str]) -> str:
    """Return distinct code points in order of appearance, such as `U+200B, U+2060`, at most four."""
    seen = list(dict.fromkeys(chars))
    shown = ", ".join(f"U+{ord(char):04X}{_name(char)}" for char in seen[:_SHOWN])
    return shown + (f" and {len(seen) - _SHOWN} more" if len(seen) > _SHOWN else "")


def _name(char: str) -> str:
    name = unicodedata.name(char, "")
    return f" {name.lower()}" if name else ""


def place(text: Text) -> str:
    """Say what a text is, for a message."""
    if text.role is Role.NAME:
        return "the tool's name"
    if text.role is Role.KEY:
        return f"the key `{excerpt(text.raw, 40)}`"
    return f"the text at `{excerpt(text.pointer, 80)}`"


def around(text: str, start: int) -> str:
    """Return an escaped excerpt that begins shortly before a place."""
    return excerpt(text[max(0, start - 20) : start + 60], 80)
