"""The entry of the configuration that accepts a finding for a while: who may have one, and its text."""

from __future__ import annotations

from keel.core.codes import CODES, Severity
from keel.core.finding import Finding


def accepts(code: str) -> bool:
    """Tell whether a code may be suppressed; lint rules, which are not in the registry of codes, may."""
    info = CODES.get(code)
    return info is None or info.suppressible


def block(item: Finding) -> str:
    """Return the TOML to paste into `keel.toml`, or an empty string where nothing may excuse the finding.

    Reason and date are left empty on purpose: keel refuses the entry until a person has filled them in.
    """
    key = item.location.key or item.location.file
    if not key or not accepts(item.code) or (item.severity is Severity.ERROR and not item.digest):
        return ""
    pairs = {"code": item.code, "key": key, **({"digest": item.digest} if item.digest else {})}
    lines = [f"{name} = {_quoted(text)}" for name, text in pairs.items()]
    return "\n".join(["[[suppress]]", *lines, 'reason = ""', 'until = ""']) + "\n"


def _quoted(text: str) -> str:
    """Return a basic string of TOML in printable ASCII."""
    return '"' + "".join(_written(char) for char in text) + '"'


def _written(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return char if " " <= char <= "~" else f"\\U{ord(char):08X}"
