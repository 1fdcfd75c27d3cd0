"""Server-sent events, byte for byte (WHATWG HTML, section 9.2.6): what a text decoder would repair stays visible."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventTooLong(Exception):
    """One event is longer than the limit."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its data, and the other fields as sent."""

    data: bytes
    fields: tuple[bytes, ...]

    def encoded(self, data: bytes) -> bytes:
        """Return the event with other data; the data must hold no line end."""
        return b"".join(line + b"\n" for line in (*self.fields, b"data: " + data)) + b"\n"


class EventReader:
    """Cuts a stream of bytes into events, however the bytes arrive.

    Args:
        limit: longest event, in bytes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._line = bytearray()
        self._data: list[bytes] = []
        self._fields: list[bytes] = []
        self._size = 0
        self._after_cr = False

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Take bytes and yield each event that they complete.

        Raises:
            EventTooLong: an event exceeds the limit.
        """
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        *ended, rest = _LINE_END.split(chunk)
        for part in ended:
            self._line += part
            line = bytes(self._line)
            self._line.clear()
            event = self._take(line)
            if event is not None:
                yield event
        self._line += rest
        if self._size + len(self._line) > self._limit:
            raise EventTooLong

    def _take(self, line: bytes) -> Event | None:
        if not line:
            event = Event(b"\n".join(self._data), tuple(self._fields)) if self._data or self._fields else None
            self._data, self._fields, self._size = [], [], 0
            return event
        self._size += len(line)
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif name in (b"event", b"id", b"retry"):
            self._fields.append(line)
        return None
