"""YAML 1.2 text to plain values with positions; refuses what could make two readers see two documents.

Source: YAML 1.2.2, core schema (section 10.3). The scanner is ruamel.yaml's; resolution of plain scalars is done here,
because its loaders also know the timestamps, merge keys and sexagesimals of YAML 1.1. Building from events instead of
composing keeps nesting off the Python stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.loader import BaseLoader

from keel.core.text import excerpt
from keel.manifest.problems import Document, LineMap, Path, Position, Problem

MAX_CHARACTERS = 2 * 1024 * 1024
"""Longer text is refused; the longest sensible manifest has a few hundred thousand."""
MAX_DEPTH = 32
"""Deeper nesting is refused; the grammar needs six levels."""

# YAML 1.2.2 production [1] c-printable, without the line breaks that only YAML 1.1 knows (NEL, LS, PS).
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]{1,1000}|0o[0-7]{1,1000}|0x[0-9a-fA-F]{1,1000}")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)


def read_yaml(text: str) -> Document:
    """Read one YAML document.

    Refused, each with its place: duplicate keys, keys that are not text, anchors, aliases, merge keys, tags,
    directives, several documents, nesting beyond `MAX_DEPTH`. All are reported; a syntax error ends the reading.
    """
    text = text.removeprefix("\ufeff")
    lines = LineMap(text)
    if len(text) > MAX_CHARACTERS:
        return _broken(Problem((), f"the file is longer than {MAX_CHARACTERS:,} characters", "split the project"))
    bad = _UNPRINTABLE.search(text)
    if bad:
        message = f"character U+{ord(bad.group()):04X} is not allowed in YAML text"
        return _broken(
            Problem((), message, "remove it, or write it as an escape in double quotes", lines.at(bad.start()))
        )
    directive = _DIRECTIVE.search(text)
    if directive:
        message = "`%` directives are not allowed; the manifest is YAML 1.2 throughout"
        return _broken(Problem((), message, "remove the line", lines.at(directive.start())))
    return _Builder(text, lines).build()


def _broken(problem: Problem) -> Document:
    return Document(problems=(problem,), readable=False)


class _Halt(Exception):
    """Reading cannot go on; the problem is already recorded."""


class _Builder:
    """Builds values from parse events with a stack of its own."""

    def __init__(self, text: str, lines: LineMap) -> None:
        self._text = text
        self._lines = lines
        self._values: dict[Path, Position] = {}
        self._keys: dict[Path, Position] = {}
        self._problems: list[Problem] = []
        self._root: list[Any] = []
        self._stack: list[tuple[Any, Path]] = [(self._root, ())]
        self._key: list[Path | None] = [None]
        self._skipped = 0
        """How many levels of a refused key or repeated value are being passed over."""

    def build(self) -> Document:
        try:
            for event in _events(self._text):
                self._take(event)
        except _Halt:
            return Document(problems=tuple(self._problems), readable=False)
        except _SyntaxProblem as error:
            at = self._lines.at(error.offset)
            self._problems.append(Problem((), error.message, error.next, at))
            return Document(problems=tuple(self._problems), readable=False)
        value = self._root[0] if self._root else None
        return Document(value, self._values, self._keys, tuple(self._problems))

    def _take(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            self._document(event)
        elif kind == "AliasEvent":
            self._report(event, f"alias `*{excerpt(str(event.anchor), 40)}` is not allowed", "write the value out")
            self._put(None, event)
        elif kind == "ScalarEvent":
            self._decorations(event)
            self._scalar(event)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._decorations(event)
            self._open({} if kind == "MappingStartEvent" else [], event)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._stack.pop()
            self._key.pop()

    def _at(self, event: Any) -> Position:
        return self._lines.at(event.start_mark.index)

    def _report(self, event: Any, message: str, next_: str, path: Path | None = None) -> None:
        here = self._path() if path is None else path
        if _REFUSED in here:
            here = here[: here.index(_REFUSED)]
        self._problems.append(Problem(here, message, next_, self._at(event)))

    def _path(self) -> Path:
        """Return the path of the value that comes next."""
        container, path = self._stack[-1]
        pending = self._key[-1]
        if pending is not None:
            return pending
        return (*path, len(container)) if isinstance(container, list) and container is not self._root else path

    def _document(self, event: Any) -> None:
        if self._root:
            self._report(event, "the file holds more than one YAML document", "keep one document", ())
            raise _Halt

    def _decorations(self, event: Any) -> None:
        if event.anchor is not None:
            self._report(event, f"anchor `&{excerpt(str(event.anchor), 40)}` is not allowed", "write the value out")
        tag = getattr(event, "tag", None)
        if tag is not None:
            self._report(
                event, f"tag `{excerpt(str(tag), 60)}` is not allowed", "remove the tag; quote the value if it is text"
            )

    def _scalar(self, event: Any) -> None:
        plain = event.style is None
        container, path = self._stack[-1]
        if isinstance(container, dict) and self._key[-1] is None:
            self._take_key(event, container, path, plain=plain)
            return
        value = _resolve(event.value) if plain else self._whole(event)
        self._put(value, event)

    def _whole(self, event: Any) -> str:
        """Return a scalar's text; escapes of surrogate pairs become the character, as JSON's rules have it."""
        text: str = event.value
        if text.isascii() or not _SURROGATE.search(text):
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self._report(event, "the text holds half of a surrogate pair", "write the whole character")
            return text

    def _take_key(self, event: Any, container: dict[str, Any], path: Path, *, plain: bool) -> None:
        name = self._whole(event)
        here = (*path, name)
        shown = excerpt(name, 60)
        if plain and name == "<<":
            self._report(event, "merge keys (`<<`) are not allowed", "write the keys out", here)
        elif plain and not isinstance(_resolve(name), str):
            self._report(event, f"key `{shown}` is not text", f'write it in quotes: `"{shown}"`', here)
        elif name in container:
            first = self._keys[here]
            self._report(
                event, f"key `{shown}` is repeated; it stands already in line {first.line}", "keep one of them", here
            )
        else:
            self._keys[here] = self._at(event)
            container.setdefault(name, None)
            self._key[-1] = here
            return
        # The value of a refused key is read, so that what follows stays in step, and thrown away.
        self._key[-1] = (*path, _REFUSED)

    def _put(self, value: Any, event: Any) -> Path:
        container, path = self._stack[-1]
        if isinstance(container, dict):
            here = self._key[-1]
            if here is None:
                self._report(event, "a key must be text", "write the key as one word or in quotes", path)
                raise _Halt
            self._key[-1] = None
            if here[-1] is not _REFUSED:
                container[here[-1]] = value
        else:
            here = self._path()
            container.append(value)
        if _REFUSED not in here:
            self._values[here] = self._at(event)
        return here

    def _open(self, container: Any, event: Any) -> None:
        if len(self._stack) > MAX_DEPTH:
            self._report(event, f"nesting is deeper than {MAX_DEPTH} levels", "flatten the document")
            raise _Halt
        here = self._put(container, event)
        self._stack.append((container, here))
        self._key.append(None)


_REFUSED: Any = object()
"""Stands in a path for a key whose value is thrown away."""


def _resolve(text: str) -> Any:
    """Return the value of a plain scalar in the YAML 1.2 core schema."""
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if text[0] not in "-+.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    return float(text.replace(".inf", "inf").replace(".nan", "nan")) if _FLOAT.fullmatch(text) else text


class _SyntaxProblem(Exception):
    """What the scanner could not read."""

    def __init__(self, message: str, next_: str, offset: int) -> None:
        super().__init__(message)
        self.message, self.next, self.offset = message, next_, offset


def _events(text: str) -> Iterator[Any]:
    """Yield parse events lazily, so that a limit stops the scanner too."""
    loader = BaseLoader(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _syntax(error, mark.index if mark else 0, text) from error
    except (YAMLError, ValueError, OverflowError) as error:
        offset = loader.reader.get_mark().index
        raise _SyntaxProblem("an escape names no Unicode character", "write the character itself", offset) from error


def _syntax(error: Any, offset: int, text: str) -> _SyntaxProblem:
    problem = " ".join(str(error.problem or error.context or "cannot be read").split())
    if text[offset : offset + 1] == "\t":
        return _SyntaxProblem("a tab stands where YAML allows only spaces", "indent and separate with spaces", offset)
    if "mapping values are not allowed" in problem:
        return _SyntaxProblem(
            "not YAML: a second `:` in one line, or a wrong indentation", "quote the text that holds `: `", offset
        )
    during = f" {error.context}" if error.context and error.problem else ""
    return _SyntaxProblem(f"not YAML: {excerpt(problem, 120)}{excerpt(during, 80)}", "", offset)
