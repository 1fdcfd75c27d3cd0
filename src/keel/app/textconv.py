"""One surface file as lines of text, for the text conversion of `git diff`: texts unfolded, hidden characters shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from keel.capture.replay import read_surface
from keel.core.digest import surface_value
from keel.core.finding import InputErrors
from keel.core.jsontext import escape_token
from keel.core.text import escape
from keel.store.files import read_bytes


def textconv(path: Path) -> str:
    """Return a surface file so that a line-wise difference of it can be read; another file as it is, escaped.

    Raises:
        FileError: if the file cannot be read.
    """
    data = read_bytes(path)
    try:
        surface, _ = read_surface(data, path.stem, path.name)
        lines = _document(surface_value(surface))
    except InputErrors:
        lines = (escape(line) for line in data.decode("utf-8", "replace").splitlines())
    return "".join(f"{line}\n" for line in lines)


def _document(value: dict[str, Any]) -> Iterator[str]:
    for name, held in value.items():
        if name == "initialize":
            yield from _value(held, name)
            continue
        for item in held:
            yield ""
            yield f"{name} {escape(str(item.get('name', item.get('uri', ''))))}"
            yield from _value({field: part for field, part in item.items() if field != "name"}, "")


def _value(value: Any, at: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _value(item, f"{at}/{escape(escape_token(name))}")
    elif isinstance(value, str) and "\n" in value:
        yield f"  {at}"
        yield from (f"    {escape(line)}" for line in value.split("\n"))
    else:
        shown = escape(value) if isinstance(value, str) else escape(json.dumps(value, ensure_ascii=False))
        yield f"  {at} {shown}"
