"""The lines of an audit log: each holds the hash of the one before it and its own.

Recipe: a line is the canonical JSON (`keel.core.canonical`: RFC 8785 but for large integers) of an object with `seq`,
`time`, `prev`, `event` and `hash`, and a line feed. `hash` is `sha256:` and the hexadecimal SHA-256 of the canonical
JSON of the same object without `hash`. `prev` is the `hash` of the entry before, empty in the first; `seq` counts
from 1. A line that was not written to its end stays in the file, and the next entry records it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from keel.core.canonical import canonical_bytes
from keel.core.digest import digest_bytes
from keel.core.model import Json

TORN = "torn_line"
"""The `event` that records a line which was not written to its end."""

_BEGINNING = b'{"event":'


@dataclass(frozen=True, slots=True)
class Link:
    """Where a chain stands: what the next line continues."""

    seq: int = 0
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One whole line."""

    seq: int
    time: str
    prev: str
    hash: str
    event: Mapping[str, Json]

    @property
    def link(self) -> Link:
        """What the next line continues."""
        return Link(self.seq, self.hash)


class NotAnEntry(ValueError):
    """A line that is no entry, or one whose hash is not that of what it says."""


def line(after: Link, seconds: float, event: Mapping[str, Json]) -> tuple[bytes, Link]:
    """Return the line that continues a chain, and where the chain stands then.

    Args:
        after: what it continues.
        seconds: the time, since the epoch.
        event: what is recorded.

    Raises:
        CanonicalError: if the event is not JSON; lone surrogates are replaced by their escapes instead.
    """
    moment = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    # The names are in canonical order, so that `hash` can be put between the parts of the text that it is taken of.
    head = _BEGINNING + canonical_bytes(_storable(event))
    tail = b',"prev":"%b","seq":%d,"time":"%b"}' % (after.hash.encode(), after.seq + 1, moment.encode())
    own = digest_bytes(head + tail)
    return b'%b,"hash":"%b"%b\n' % (head, own.encode(), tail), Link(after.seq + 1, own)


def parse(data: bytes) -> Entry:
    """Return the entry of a line, its own hash verified.

    Raises:
        NotAnEntry: if it is none, its hash differs, or it is not the canonical text of what it says.
    """
    try:
        value = json.loads(data)
        if not isinstance(value, dict) or set(value) != {"event", "hash", "prev", "seq", "time"}:
            raise NotAnEntry("it is no entry of an audit log")
        canonical = canonical_bytes(value)
        own = value.pop("hash")
        expected = digest_bytes(canonical_bytes(value))
    except (ValueError, RecursionError) as error:
        raise NotAnEntry("it is no entry of an audit log") from error
    if own != expected:
        raise NotAnEntry("its hash is not that of what it says")
    if canonical != data or not _typed(value):
        raise NotAnEntry("it is not written as keel writes it")
    return Entry(value["seq"], value["time"], value["prev"], own, value["event"])


def is_torn(data: bytes) -> bool:
    """Tell whether a line is the beginning of an entry, not written to its end: only its last character closes it."""
    if not (data.startswith(_BEGINNING) or _BEGINNING.startswith(data)):
        return False
    try:
        json.loads(data)
    except RecursionError:
        return False
    except ValueError:
        return True
    return False


def torn_event(data: bytes) -> dict[str, Json]:
    """Return the event that records a torn line: its size and digest, by which it is told from another."""
    return {"event": TORN, "size": len(data), "digest": digest_bytes(data)}


def _typed(value: dict[str, Any]) -> bool:
    kinds = {"seq": int, "time": str, "prev": str, "event": dict}
    return all(type(value[name]) is kind for name, kind in kinds.items())


def _storable(value: Any) -> Any:
    """Return a value with lone surrogates, which have no UTF-8, written as their escapes."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return value
