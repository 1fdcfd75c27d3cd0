"""Cutting a stream of bytes into lines, none longer than a limit: of longer ones only both ends are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_END = 4096
"""How much of either end of an overlong line is kept, in bytes."""


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line beyond the limit."""

    ends: bytes
    """Its first and its last bytes."""


class LineReader:
    """Collects bytes until a line is whole.

    Args:
        limit: longest line, in bytes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._line = bytearray()
        self._head = b""

    @property
    def overlong(self) -> bool:
        """Whether the line that has begun is beyond the limit."""
        return bool(self._head)

    def feed(self, chunk: bytes) -> Iterator[bytes | LongLine]:
        """Take bytes and yield each line that they complete, without its end."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._add(part)
            yield self._taken()
        self._add(rest)

    def rest(self) -> bytes | LongLine | None:
        """Return the last line, which has no end, or None if there is none."""
        return self._taken() if self._line or self._head else None

    def _add(self, part: bytes) -> None:
        self._line += part
        if len(self._line) > self._limit or self._head:
            self._head = self._head or bytes(self._line[:_END])
            del self._line[:-_END]

    def _taken(self) -> bytes | LongLine:
        line = bytes(self._line)
        long = LongLine(self._head + line) if self._head else None
        self._line.clear()
        self._head = b""
        return long or line
