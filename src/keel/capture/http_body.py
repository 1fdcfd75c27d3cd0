"""The body of an HTTP response on its way to the SDK: each message passes the tap, as JSON or as an event."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator, Callable

import httpx2

from keel.capture.sse import EventReader, EventTooLong
from keel.capture.tap import Tap

JSON = "application/json"
EVENTS = "text/event-stream"


def media_type(response: httpx2.Response) -> str:
    """Return the media type of a response in lower case, without parameters."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


class TappedStream(httpx2.AsyncByteStream):
    """The body of a response: each message is read by the tap, and goes on in the form that the tap returns.

    Args:
        response: the response whose body it is.
        tap: keeps what was sent.
        method: the method that the response answers; empty for a stream of notifications.
        heard: told the response's status whenever a message of the protocol was read.
    """

    def __init__(self, response: httpx2.Response, tap: Tap, method: str, heard: Callable[[int], None]) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        self._stream = response.stream
        self._events = media_type(response) == EVENTS
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        self._inflate = zlib.decompressobj(wbits=47) if encoding in ("gzip", "x-gzip", "deflate") else None
        self._tap = tap
        self._method = method
        self._status = response.status_code
        self._heard = heard

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the body as the SDK reads it."""
        if self._events:
            reader = EventReader(self._tap.limit)
            async for chunk in self._chunks():
                try:
                    for event in reader.feed(chunk):
                        yield event.encoded(self._carried(event.data))
                except EventTooLong:
                    self._tap.too_long()
            return
        body = bytearray()
        async for chunk in self._chunks():
            body += chunk
            if len(body) > self._tap.limit:
                self._tap.too_long()
        yield self._carried(bytes(body))

    async def aclose(self) -> None:
        """Close the response."""
        await self._stream.aclose()

    async def _chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            if self._inflate is None:
                yield chunk
                continue
            rest = chunk
            while rest:
                part = self._inflate.decompress(rest, 1024 * 1024)
                rest = self._inflate.unconsumed_tail
                yield part

    def _carried(self, data: bytes) -> bytes:
        value = self._tap.received(data, method=self._method)
        if value is None:
            return data.replace(b"\n", b"")
        self._heard(self._status)
        return json.dumps(value).encode("ascii")
