"""Text helpers: escaping of foreign text, excerpts, nearest names, plurals."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable

_SAFE_CONTROL = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
LOG_COMMAND = re.compile(r"##(?=\[|vso\[|teamcity\[)", re.IGNORECASE)
"""What CI systems obey wherever it stands in a line of a log: the GitHub and Azure runners, TeamCity."""
_BLANKS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")


def escape(text: str) -> str:
    r"""Return foreign text with everything that a terminal or a reader would not see made visible.

    Control, format, surrogate, private and unassigned characters, variation selectors and blank fillers become
    `\u{…}`, so that a report never re-emits what it warns of; so do log commands that CI obeys within a line.
    """
    if "##" in text:
        text = LOG_COMMAND.sub(r"#\\u{23}", text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(char) for char in text)


def _visible(char: str) -> str:
    if char in _SAFE_CONTROL:
        return _SAFE_CONTROL[char]
    category = unicodedata.category(char)
    selector = 0xFE00 <= ord(char) <= 0xFE0F or 0xE0100 <= ord(char) <= 0xE01EF
    odd_space = category == "Zs" and char != " "
    if category in _HIDDEN or selector or odd_space or char in _BLANKS:
        return f"\\u{{{ord(char):x}}}"
    return char


def excerpt(text: str, limit: int = 80) -> str:
    """Return escaped text cut to at most `limit` characters, with an ellipsis when something was cut."""
    escaped = escape(text[: limit + 1])
    return escaped if len(escaped) <= limit else escaped[: limit - 1] + "…"


def words_of(error: BaseException) -> str:
    """Return what an exception says; nothing where saying it fails, for its class may be anybody's."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - foreign code
        return ""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, or None when none is close."""
    names = sorted(known)
    folded = {item.casefold(): item for item in reversed(names)}
    if name.casefold() in folded:
        return folded[name.casefold()]
    matches = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return matches[0] if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the sentence `did you mean ...?` for the nearest known name, or an empty string."""
    match = nearest(name, known)
    return f"did you mean `{match}`?" if match else ""


def plural(count: int, noun: str, many: str = "") -> str:
    """Return `1 tool`, `2 tools`; `many` gives an irregular plural."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def size(count: int) -> str:
    """Return a number of bytes for people: `300 bytes`, `64 KiB`, `32 MiB`; only whole units are written as such."""
    for unit, name in ((1024 * 1024, "MiB"), (1024, "KiB")):
        if count >= unit and count % unit == 0:
            return f"{count // unit:,} {name}"
    return plural(count, "byte")
