"""What commands over the stores print: records as JSON that no terminal obeys, and spans of time in words."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from keel.core.text import LOG_COMMAND

if TYPE_CHECKING:
    from keel.runtime.model import ApprovalRecord, Operation

_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def as_json(value: Any, *, indent: int | None = 2) -> str:
    """Return JSON in ASCII with a line feed: no control character, no log command, nothing invisible."""
    return LOG_COMMAND.sub(r"#\\u0023", json.dumps(value, indent=indent)) + "\n"


def fields_of(record: ApprovalRecord | Operation) -> dict[str, Any]:
    """Return a record as JSON; a question and what became of it side by side."""
    value = asdict(record)
    return {**value.pop("request", {}), **value}


def duration(seconds: float) -> str:
    """Return a span of time in its largest unit, such as `3 minutes`; `0 seconds` when it is over."""
    left = max(0, int(seconds))
    size, name = next(((size, name) for size, name in _UNITS if left >= size), (1, "second"))
    count = left // size
    return f"{count} {name}{'' if count == 1 else 's'}"
