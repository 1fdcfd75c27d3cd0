"""Standard input and output in an event loop: read and written by threads that nobody has to wait for."""

from __future__ import annotations

import asyncio
import os
import queue
import select
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
_CHUNK = 64 * 1024
_WAITING = 64
"""How many chunks of input may wait; a client that writes faster has to wait."""
_AT_ONCE = 4096
"""A pipe that can be written to takes so many bytes without blocking (POSIX, `PIPE_BUF`), at least on Linux."""


@contextmanager
def standard_streams() -> Iterator[tuple[int, int]]:
    """Give the standard streams to the protocol alone: whatever else is printed meanwhile goes to standard error."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    sys.stdout.flush()
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    os.close(nowhere)
    try:
        yield incoming, outgoing
    finally:
        # The duplicates stay open: a thread may still wait on them.
        sys.stdout.flush()
        os.dup2(incoming, 0)
        os.dup2(outgoing, 1)


class Input:
    """What a file descriptor gives, in chunks.

    Args:
        descriptor: what is read.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(_WAITING)
        threading.Thread(target=self._run, name="keel-stdin", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield chunks until the end."""
        while chunk := await self._chunks.get():
            self._room.release()
            yield chunk

    def _run(self) -> None:
        chunk = b"-"
        while chunk:
            self._room.acquire()
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except OSError:
                chunk = b""
            if not _tell(self._loop, self._chunks.put_nowait, chunk):
                return


class Output:
    """Writes to a file descriptor, one message at a time.

    Args:
        descriptor: what is written to.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._turn = asyncio.Lock()
        self._waiting: queue.SimpleQueue[tuple[bytes, asyncio.Future[bool]]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def send(self, data: bytes) -> bool:
        """Write a whole message; returns whether anybody still reads."""
        async with self._turn:
            if len(data) <= _AT_ONCE and self._writable():
                return self._written(data)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="keel-stdout", daemon=True)
                self._thread.start()
            done: asyncio.Future[bool] = self._loop.create_future()
            self._waiting.put((data, done))
            return await done

    def _writable(self) -> bool:
        try:
            return bool(select.select([], [self._descriptor], [], 0)[1])
        except (OSError, ValueError):
            return False

    def _written(self, data: bytes) -> bool:
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            return False
        return True

    def _run(self) -> None:
        while True:
            data, done = self._waiting.get()
            written = self._written(data)
            if not _tell(self._loop, _finish, (done, written)):
                return


def _finish(item: tuple[asyncio.Future[bool], bool]) -> None:
    done, written = item
    if not done.done():
        done.set_result(written)


def _tell(loop: asyncio.AbstractEventLoop, heard: Callable[[T], None], what: T) -> bool:
    """Have the loop do something; returns whether there still is one."""
    try:
        loop.call_soon_threadsafe(heard, what)
    except RuntimeError:
        return False
    return True
