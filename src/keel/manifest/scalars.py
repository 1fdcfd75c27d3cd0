"""Text as YAML scalars: plain where that is plainly text, quoted with every unseen character escaped otherwise."""

from __future__ import annotations

from keel.core.text import escape

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-")
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))


def scalar(text: str) -> str:
    """Return a scalar that YAML 1.2, and readers of YAML 1.1, take for this text, also inside `{…}` and `[…]`."""
    if text[:1].isalpha() and set(text) <= _PLAIN and text.lower() not in _WORDS:
        return text
    return f'"{"".join(_escaped(char) for char in text)}"'


def _escaped(char: str) -> str:
    if char in '\\"':
        return f"\\{char}"
    if escape(char) != char:
        return f"\\U{ord(char):08X}"
    return char
