"""TOML text to plain values with positions.

The values are the standard library's, which keeps no positions; a second walk over the tokens of text that is known
to be valid TOML 1.0 finds where each key and value stands.
"""

from __future__ import annotations

import re
import tomllib
from datetime import date, datetime
from typing import Any

from keel.core.text import excerpt
from keel.manifest.problems import Document, LineMap, Path, Position, Problem

MAX_CHARACTERS = 2 * 1024 * 1024
"""Longer text is refused."""

_TOKEN = re.compile(
    r'''
      (?P<skip>[ \t\r]+|\#[^\n]*)
    | (?P<end>\n)
    | (?P<text>"""(?:[^\\"]|\\.|"{1,2}(?!"))*"{3,5}
             |\'\'\'(?:[^']|'{1,2}(?!'))*'{3,5}
             |"(?:[^"\\\n]|\\.)*"
             |'[^'\n]*')
    | (?P<mark>[\[\]{},=.])
    | (?P<bare>[^\s\[\]{},=.\#"']+)
    ''',
    re.VERBOSE | re.DOTALL,
)


def read_toml(text: str) -> Document:
    """Read a TOML document; a syntax error becomes the only problem.

    Dates become their text, `YYYY-MM-DD`; other times stay values that no field accepts.
    """
    text = text.removeprefix("\ufeff")
    if len(text) > MAX_CHARACTERS:
        return _broken(Problem((), f"the file is longer than {MAX_CHARACTERS:,} characters"))
    try:
        value = _plain(tomllib.loads(text))
        locator = _Locator(text)
        locator.walk()
    except RecursionError:
        return _broken(Problem((), "nesting is too deep to read", "flatten the document", Position()))
    except ValueError as error:
        return _broken(_syntax(error, text))
    return Document(value, locator.values, locator.keys)


def _broken(problem: Problem) -> Document:
    return Document(problems=(problem,), readable=False)


def _syntax(error: ValueError, text: str) -> Problem:
    message = str(error)
    place = re.search(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)", message)
    if place is None:
        return Problem((), f"not TOML: {excerpt(message, 120)}", "", Position())
    at = Position(int(place[1]), int(place[2])) if place[1] else LineMap(text).at(len(text.rstrip()))
    return Problem((), f"not TOML: {excerpt(message[: place.start()], 120)}", "", at)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, date) and not isinstance(value, datetime) else value


class _Locator:
    """Walks the tokens of valid TOML and notes where each path's key and value stand."""

    def __init__(self, text: str) -> None:
        lines = LineMap(text)
        self._tokens = [
            (match.lastgroup, match.group(), lines.at(match.start()))
            for match in _TOKEN.finditer(text)
            if match.lastgroup != "skip"
        ]
        self._next = 0
        self._arrays: dict[Path, int] = {}
        self.values: dict[Path, Position] = {(): Position()}
        self.keys: dict[Path, Position] = {}

    def walk(self) -> None:
        table: Path = ()
        while self._next < len(self._tokens):
            kind, mark, at = self._tokens[self._next]
            if kind == "end":
                self._next += 1
            elif mark == "[":
                table = self._header(at)
            else:
                self._pair(table)

    def _mark(self) -> str:
        return self._tokens[self._next][1] if self._next < len(self._tokens) else ""

    def _header(self, at: Position) -> Path:
        self._next += 1
        is_array = self._mark() == "["
        self._next += is_array
        names = self._names()
        self._next += 1 + is_array
        path: Path = ()
        for index, name in enumerate(names):
            path = (*path, name)
            self.keys.setdefault(path, at)
            self.values.setdefault(path, at)
            if is_array and index == len(names) - 1:
                self._arrays[path] = self._arrays.get(path, -1) + 1
            if path in self._arrays:
                path = (*path, self._arrays[path])
                self.values.setdefault(path, at)
        return path

    def _names(self) -> list[str]:
        """Read a dotted key up to the mark behind it."""
        names: list[str] = []
        while self._mark() not in ("]", "=", ""):
            kind, name, _ = self._tokens[self._next]
            if kind == "text":
                names.append(tomllib.loads(f"key = {name}")["key"])
            elif kind == "bare":
                names.append(name)
            self._next += 1
        return names

    def _pair(self, table: Path) -> None:
        at = self._tokens[self._next][2]
        path = table
        for name in self._names():
            path = (*path, name)
            self.keys.setdefault(path, at)
            self.values.setdefault(path, at)
        self._next += 1
        self._value(path)

    def _value(self, path: Path) -> None:
        _, mark, at = self._tokens[self._next]
        self.values[path] = at
        self._next += 1
        if mark == "[":
            self._list(path)
        elif mark == "{":
            while self._mark() not in ("}", ""):
                if self._mark() in (",", "\n"):
                    self._next += 1
                else:
                    self._pair(path)
            self._next += 1
        else:
            # A number or time with a dot is several tokens.
            while self._mark() not in (",", "]", "}", "\n", ""):
                self._next += 1

    def _list(self, path: Path) -> None:
        index = 0
        while self._mark() not in ("]", ""):
            if self._mark() in (",", "\n"):
                self._next += 1
            else:
                self._value((*path, index))
                index += 1
        self._next += 1
