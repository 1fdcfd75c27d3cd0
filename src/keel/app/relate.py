"""`keel relate`: the relation of two schemas with witnesses, for one pair or for many lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from keel.compat.jsonl import answer, classify
from keel.core.finding import InputErrors, Location, finding
from keel.core.jsontext import JsonSyntaxError, parse_strict
from keel.store.files import read_bytes


def relate_files(old: Path, new: Path) -> str:
    """Return the relation of two schema files as one line of JSON.

    Raises:
        InputErrors: if a file is not JSON.
        FileError: if a file cannot be read.
    """
    return _line(classify(_read(old), _read(new)))


def relate_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield one answer for each line `{"id","old","new"}`; a line that cannot be read is answered with `error`."""
    for line in lines:
        if not line.strip():
            continue
        try:
            value = parse_strict(line)
        except JsonSyntaxError as error:
            yield _line({"id": None, "error": error.message})
        else:
            yield _line(answer(value))


def _read(path: Path) -> Any:
    try:
        return parse_strict(read_bytes(path))
    except JsonSyntaxError as error:
        at = Location(file=path.name, line=error.line, column=error.column)
        raise InputErrors(
            [finding("input-error", f"`{path.name}` is not JSON: {error.message}", location=at)]
        ) from error


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) + "\n"
