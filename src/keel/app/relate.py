"""`keel relate`: the relation of two schemas with witnesses, for one pair or for many lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from keel.compat.jsonl import answer, classify, undecided
from keel.core.finding import InputErrors, Location, finding
from keel.core.jsontext import JsonSyntaxError, parse, parse_strict
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
    if faults and isinstance(value, dict) and {"old", "new"} <= value.keys():
        # The line is understood; that a schema in it is not is an answer.
        return undecided(value.get("id"), f"the schemas cannot be compared: {faults[0].detail}")
    return answer(value)


def _read(path: Path) -> Any:
    try:
        return parse_strict(read_bytes(path))
    except JsonSyntaxError as error:
        at = Location(file=path.name, line=error.line, column=error.column)
        raise InputErrors(
            [finding("input-error", f"`{path.name}` is not JSON: {error.message}", location=at)]
        ) from error


def _line(value: object) -> str:
    # ASCII, since a witness may hold what no terminal's encoding can show.
    return json.dumps(value) + "\n"
