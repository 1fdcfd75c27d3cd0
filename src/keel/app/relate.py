"""`keel relate`: the relation of two schemas with witnesses, for one pair or for many lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from keel.compat.jsonl import answer, classify, undecided
from keel.core.finding import InputErrors, Location, finding
from keel.core.jsontext import Fault, JsonFault, JsonSyntaxError, escape_token, parse, parse_strict
from keel.core.text import excerpt
from keel.store.files import read_bytes

MAX_LINE = 32 * 1024 * 1024
"""Bytes of one line, as for a line of the protocol."""


def relate_files(old: Path, new: Path) -> str:
    """Return the relation of two schema files as one line of JSON.

    Raises:
        InputErrors: if a file is not JSON.
        FileError: if a file cannot be read.
    """
    return _line(classify(_read(old), _read(new)))


def relate_lines(lines: Iterable[bytes]) -> Iterator[tuple[str, bool]]:
    """Yield one answer for each line `{"id","old","new"}`, as soon as the line is there.

    Args:
        lines: UTF-8 text; empty lines are passed over.

    Yields:
        (answer, whether the line could be read); one that could not is answered with `error`.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            value = _answer(line, number)
            yield _line(value), "error" not in value


def _answer(line: bytes, number: int) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        return {"id": None, "error": f"line {number} is longer than {MAX_LINE:,} bytes"}
    try:
        value, faults = parse(line)
    except JsonSyntaxError as error:
        return {"id": None, "error": f"line {number}: {error.message}"}
    identifier = value.get("id") if isinstance(value, dict) else None
    large = _beyond_doubles(value, faults)
    if large:
        return {"id": None if large.startswith("/id") else identifier, "error": f"line {number}: {_why(large)}"}
    if faults and isinstance(value, dict) and {"old", "new"} <= value.keys():
        # The line is understood; that a schema in it is not is an answer.
        return undecided(identifier, f"the schemas cannot be compared: {faults[0].detail}")
    return answer(value)


def _read(path: Path) -> Any:
    data = read_bytes(path)
    try:
        value, faults = parse(data)
        large = _beyond_doubles(value, faults)
        if large:
            at = Location(file=path.name, pointer=large)
            raise InputErrors([finding("input-error", f"`{path.name}`: {_why(large)}", location=at)])
        return parse_strict(data)
    except JsonSyntaxError as error:
        at = Location(file=path.name, line=error.line, column=error.column)
        raise InputErrors(
            [finding("input-error", f"`{path.name}` is not JSON: {error.message}", location=at)]
        ) from error


def _beyond_doubles(value: Any, faults: Iterable[JsonFault]) -> str:
    """Return the pointer of a number that a double cannot hold, empty when there is none.

    Other programs read it as infinite (RFC 8259 section 6), so that they could not verify what is answered.
    """
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        pointer, item = stack.pop()
        if isinstance(item, dict):
            stack.extend((f"{pointer}/{escape_token(name)}", inner) for name, inner in item.items())
        elif isinstance(item, list):
            stack.extend((f"{pointer}/{index}", inner) for index, inner in enumerate(item))
        elif isinstance(item, int) and abs(item) > sys.float_info.max:
            return pointer
    return next((fault.pointer for fault in faults if fault.fault is Fault.NUMBER_RANGE), "")


def _why(pointer: str) -> str:
    return f"a double cannot hold the number at `{excerpt(pointer, 100)}`"


def _line(value: object) -> str:
    # ASCII, since a witness may hold what no terminal's encoding can show.
    return json.dumps(value) + "\n"
