"""What is wrong with an input document, and where: the step between a parser's complaint and a finding."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.jsontext import escape_token

Path = tuple[str | int, ...]
"""Keys and indexes from the root of a document."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text file."""

    line: int = 1
    """1-based."""
    column: int = 1
    """1-based, in characters."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One error or remark about a document."""

    path: Path
    message: str
    next: str = ""
    position: Position | None = None
    """Where it stands; None is where the path's value stands."""
    on_key: bool = False
    """Whether the key at the path is meant, not its value."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as plain JSON values, with the place of every value and key."""

    value: Any = None
    values: Mapping[Path, Position] = ()  # type: ignore[assignment]
    keys: Mapping[Path, Position] = ()  # type: ignore[assignment]
    problems: tuple[Problem, ...] = ()
    readable: bool = True
    """False when the text broke off, so that the value must not be judged."""
    root: Path = ()
    """Where `value` stands in the file; paths of problems are relative to it, positions are not."""

    def value_at(self, path: Path) -> Position:
        """Return where the value at a path begins, or else the nearest enclosing value."""
        path = (*self.root, *path)
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, Position()) if self.values else Position()

    def key_at(self, path: Path) -> Position:
        """Return where the key at a path stands, or else its value."""
        found = self.keys.get((*self.root, *path)) if self.keys else None
        return found or self.value_at(path)

    def place(self, problem: Problem) -> Position:
        """Return where a problem stands."""
        if problem.position is not None:
            return problem.position
        return self.key_at(problem.path) if problem.on_key else self.value_at(problem.path)


def pointer(path: Path) -> str:
    """Return the RFC 6901 pointer of a path."""
    return "".join(f"/{escape_token(str(part))}" for part in path)


def findings(code: str, file: str, document: Document, problems: Iterable[Problem]) -> tuple[Finding, ...]:
    """Turn problems of a document into findings of one code, each with file, line, column and pointer."""
    built = []
    for problem in problems:
        at = document.place(problem)
        location = Location(file=file, line=at.line, column=at.column, pointer=pointer((*document.root, *problem.path)))
        built.append(finding(code, problem.message, location=location, next=problem.next))
    return tuple(built)


class LineMap:
    """Translates character offsets of a text into lines and columns; a line ends at LF, CR LF or CR."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", text))]

    def at(self, offset: int) -> Position:
        """Return the place of a 0-based character offset."""
        line = bisect_right(self._starts, max(offset, 0))
        return Position(line, offset - self._starts[line - 1] + 1)


def decode(data: bytes, file: str, code: str) -> str:
    """Decode an input file as UTF-8, without a byte order mark.

    Args:
        data: the whole file.
        file: its path relative to the project, for the message.
        code: the code of the finding, such as `manifest-error`.

    Raises:
        InputErrors: if the bytes are not UTF-8; the finding names the line and column of the first bad byte.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        at = LineMap(before).at(len(before))
        found = finding(
            code,
            f"`{file}` is not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}",
            location=Location(file=file, line=at.line, column=at.column),
            next="save the file as UTF-8",
        )
        raise InputErrors([found]) from error
