"""JSON with comments and trailing commas, as MCP clients write it, to plain values with positions."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from keel.core.jsontext import MAX_DIGITS
from keel.core.text import excerpt
from keel.manifest.problems import Document, LineMap, Path, Position, Problem

MAX_CHARACTERS = 2 * 1024 * 1024
"""Longer text is refused."""
MAX_DEPTH = 64
"""Deeper nesting is refused."""

_TOKEN = re.compile(
    r"""
      (?P<skip>[ \t\r\n]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)
    | (?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")
    | (?P<mark>[\[\]{},:])
    | (?P<bare>[A-Za-z0-9+.-]+)
    | (?P<bad>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_END = ("end", "", -1)
_SMALLER = "write a smaller number"


class _Broken(Exception):
    def __init__(self, message: str, hint: str, offset: int) -> None:
        super().__init__(message)
        self.message, self.hint, self.offset = message, hint, offset


class _Limit(_Broken):
    """The text is JSON, and more of it than is read."""


def read_jsonc(text: str) -> Document:
    """Read JSON that may hold comments and trailing commas.

    Repeated keys are problems; a syntax error ends the reading. Source of the syntax: RFC 8259, and the comments and
    commas of Visual Studio Code's settings files.
    """
    text = text.removeprefix("\ufeff")
    lines = LineMap(text)
    if len(text) > MAX_CHARACTERS:
        return _refused(Problem((), f"the file is longer than {MAX_CHARACTERS:,} characters"))
    reader = _Reader(text, lines)
    try:
        value = reader.document()
    except _Broken as error:
        offset = error.offset if error.offset >= 0 else len(text.rstrip())
        prefix = "" if isinstance(error, _Limit) else "not JSON: "
        return _refused(Problem((), f"{prefix}{error.message}", error.hint, lines.at(offset)))
    return Document(value, reader.values, reader.keys, tuple(reader.problems))


def _refused(problem: Problem) -> Document:
    return Document(problems=(problem,), readable=False)


def _check_size(number: str, offset: int) -> None:
    if len(number) > MAX_DIGITS:
        raise _Limit(f"a number of {len(number):,} characters; at most {MAX_DIGITS:,} are read", _SMALLER, offset)
    if not math.isfinite(float(number)):
        raise _Limit(f"number `{excerpt(number, 40)}` is out of range", _SMALLER, offset)


class _Reader:
    """A reader with one token of look-ahead; its recursion is bounded by `MAX_DEPTH`."""

    def __init__(self, text: str, lines: LineMap) -> None:
        self._tokens = (
            (match.lastgroup or "", match.group(), match.start())
            for match in _TOKEN.finditer(text)
            if match.lastgroup != "skip"
        )
        self._lines = lines
        self._token = _END
        self._advance()
        self.values: dict[Path, Position] = {}
        self.keys: dict[Path, Position] = {}
        self.problems: list[Problem] = []

    def _advance(self) -> None:
        self._token = next(self._tokens, _END)

    def _expect(self, mark: str, what: str) -> None:
        if self._token[1] != mark or self._token[0] != "mark":
            raise self._broken(f"expected {what}")
        self._advance()

    def _broken(self, message: str) -> _Broken:
        kind, found, offset = self._token
        hint = "a comma, a quote or a bracket is missing here or just before"
        if kind == "end":
            return _Broken(f"{message}, but the file ends", "close what is open", offset)
        if found == '"':
            return _Broken("a text is not closed in its line", "add the closing quote", offset)
        if found == "'":
            return _Broken("texts stand in double quotes", "write `\"` for `'`", offset)
        return _Broken(f"{message}, found `{excerpt(found, 40)}`", hint, offset)

    def document(self) -> Any:
        value = self._value((), 0)
        if self._token is not _END:
            raise self._broken("expected the end of the file")
        return value

    def _value(self, path: Path, depth: int) -> Any:
        kind, found, offset = self._token
        self.values[path] = self._lines.at(offset)
        if depth > MAX_DEPTH:
            raise _Limit(f"nesting is deeper than {MAX_DEPTH} levels", "flatten the document", offset)
        if found == "{" and kind == "mark":
            return self._object(path, depth)
        if found == "[" and kind == "mark":
            return self._array(path, depth)
        if kind not in ("text", "bare"):
            raise self._broken("expected a value")
        value = self._scalar(path)
        self._advance()
        return value

    def _scalar(self, path: Path) -> Any:
        kind, found, offset = self._token
        if kind == "bare" and _NUMBER.fullmatch(found):
            _check_size(found, offset)
        try:
            value = json.loads(found)
        except ValueError:
            raise _Broken(f"`{excerpt(found, 40)}` is no JSON value", "put text in double quotes", offset) from None
        if isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
            hint = "write the whole character"
            self.problems.append(Problem(path, "the text holds half of a surrogate pair", hint, self._lines.at(offset)))
        return value

    def _object(self, path: Path, depth: int) -> dict[str, Any]:
        self._advance()
        built: dict[str, Any] = {}
        while self._token[1] != "}" or self._token[0] != "mark":
            if self._token[0] != "text":
                raise self._broken("expected a key in double quotes or `}`")
            at = self._lines.at(self._token[2])
            name = self._scalar(path)
            here = (*path, name)
            self._advance()
            self._expect(":", "`:`")
            if name in built:
                first = self.keys[here].line
                message = f"key `{excerpt(name, 60)}` is repeated; it stands already in line {first}"
                self.problems.append(Problem(here, message, "keep one of them", at))
            self.keys.setdefault(here, at)
            built[name] = self._value(here, depth + 1)
            self._separate("}")
        self._advance()
        return built

    def _array(self, path: Path, depth: int) -> list[Any]:
        self._advance()
        built: list[Any] = []
        while self._token[1] != "]" or self._token[0] != "mark":
            built.append(self._value((*path, len(built)), depth + 1))
            self._separate("]")
        self._advance()
        return built

    def _separate(self, close: str) -> None:
        """Read the comma after a member; the last one may stand or not."""
        if self._token[1] == close and self._token[0] == "mark":
            return
        self._expect(",", f"`,` or `{close}`")
