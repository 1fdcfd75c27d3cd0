"""The audit log: a file that only grows, each line chained to the one before and on the disk before it counts."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

from keel.core.model import Json
from keel.core.text import escape
from keel.errors import KeelError
from keel.runtime.ports import AuditLog, Clock, StoreUnavailable
from keel.store import chain
from keel.store.chain import Link, NotAnEntry
from keel.store.private import create_private, prepare, refuse_forgetful, unavailable
from keel.store.worker import Worker

_BLOCK = 64 * 1024
MAX_LINE = 16 * 1024 * 1024
"""Longest event; a longer one is refused, so that the end of a file is always found."""


@dataclass(frozen=True, slots=True)
class _Work:
    """Events of one caller, and whether they have to reach the disk."""

    events: tuple[Mapping[str, Json], ...]
    durable: bool


class AuditFile(AuditLog):
    """One audit log, which several processes may write at the same time.

    A thread writes, so that no event loop waits for the disk; events that wait share one fsync. Each turn holds the
    file's lock (`flock`), continues whatever is at its end, and is over only once everything is on the disk.
    """

    def __init__(self, path: Path, descriptor: int, clock: Clock, *, fsync: bool) -> None:
        """Take over an open file; use `open`."""
        self._path = path
        self._descriptor = descriptor
        self._clock = clock
        self._fsync = fsync
        self._size: int | None = None
        """How long the file was when we last wrote; None when its end has to be read."""
        self._link = Link()
        self._turn = Lock()
        """Held by whichever thread writes: `flock` tells processes apart, and not threads."""
        self._worker: Worker[_Work] = Worker("keel-audit", self._append)

    @classmethod
    def open(cls, path: Path, clock: Clock, *, fsync: bool = True) -> Self:
        """Open a log, creating it and its folder where they are missing, and check its end.

        Args:
            path: the file.
            clock: gives each event its time.
            fsync: whether an event is on the disk before `append` returns; without it, it survives the end of the
                process but not a loss of power.

        Raises:
            StoreUnavailable: if the file cannot be written, or its last line is not an entry.
        """
        prepare(path)
        create_private(path)
        refuse_forgetful(path)
        flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        try:
            descriptor = os.open(path, flags)
        except OSError as error:
            raise unavailable(path, error) from error
        log = cls(path, descriptor, clock, fsync=fsync)
        try:
            with _locked(descriptor):
                log._end()
        except OSError as error:
            log.close()
            raise unavailable(path, error) from error
        except BaseException:
            log.close()
            raise
        return log

    async def append(self, event: Mapping[str, Json], *, durable: bool = True) -> None:
        """Append one event; see `AuditLog.append`."""
        await self.append_all((event,), durable=durable)

    async def append_all(self, events: Sequence[Mapping[str, Json]], *, durable: bool = True) -> None:
        """Append several events in their order, all of them or none; see `AuditLog.append_all`."""
        work = _Work(tuple(events), durable)
        if events and (durable or not self._at_once(work)):
            await self._worker.do(work)

    def _at_once(self, work: _Work) -> bool:
        """Write what need not wait for the disk here and now, unless somebody else is writing.

        Raises:
            StoreUnavailable: if it cannot be written.
        """
        if self._descriptor < 0 or not self._turn.acquire(blocking=False):
            return False
        try:
            with _locked(self._descriptor, wait=False):
                (outcome,) = self._write((work,))
        except BlockingIOError:
            return False
        except OSError as error:
            self._size = None
            raise unavailable(self._path, error) from error
        except StoreUnavailable:
            self._size = None
            raise
        finally:
            self._turn.release()
        if isinstance(outcome, BaseException):
            raise outcome
        return True

    def close(self) -> None:
        """Finish what was begun and let go of the file."""
        self._worker.close()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, works: Sequence[_Work]) -> Sequence[object]:
        try:
            with self._turn, _locked(self._descriptor):
                return self._write(works)
        except OSError as error:
            self._size = None
            return [unavailable(self._path, error)] * len(works)
        except StoreUnavailable as error:
            self._size = None
            return [error] * len(works)

    def _write(self, works: Sequence[_Work]) -> Sequence[object]:
        """Write the lines of all events with one fsync; an event that is not JSON keeps only its own work out."""
        link, lines = self._end()
        outcomes: list[object] = []
        for work in works:
            try:
                data, link = self._lines(link, work.events)
            except KeelError as error:
                outcomes.append(error)
            else:
                lines += data
                outcomes.append(None)
        if lines:
            self._put(lines, durable=self._fsync and any(work.durable for work in works))
        self._link = link
        return outcomes

    def _lines(self, link: Link, events: Sequence[Mapping[str, Json]]) -> tuple[bytes, Link]:
        lines = b""
        for event in events:
            data, link = chain.line(link, self._clock.now(), event)
            if len(data) > MAX_LINE:
                raise StoreUnavailable(
                    f"an event of {len(data):,} bytes is longer than {MAX_LINE:,}", hint="record a digest of it"
                )
            lines += data
        return lines, link

    def _put(self, data: bytes, *, durable: bool) -> None:
        before = os.fstat(self._descriptor).st_size
        left = memoryview(data)
        while left:
            # What a full disk leaves half written is recorded as torn once there is room again.
            left = left[os.write(self._descriptor, left) :]
        if durable:
            _to_disk(self._descriptor)
        self._size = before + len(data)

    def _end(self) -> tuple[Link, bytes]:
        """Return what the next line continues, and what must be written before it to close a torn line.

        Raises:
            StoreUnavailable: if the file was removed, cut, or ends in a line that is not an entry.
        """
        found = os.fstat(self._descriptor)
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
            raise StoreUnavailable(
                f"the audit log `{escape(str(self._path))}` has been removed", hint="restore it, then start again"
            )
        if self._size is not None and found.st_size < self._size:
            raise StoreUnavailable(
                f"the audit log `{escape(str(self._path))}` has been cut while it was in use", hint=_VERIFY
            )
        if found.st_size == self._size:
            return self._link, b""
        last, torn, closed = _tail(self._descriptor, found.st_size)
        link = self._checked(last)
        self._link, self._size = link, found.st_size if closed and not torn else None
        closing = b"" if closed else b"\n"
        for data in torn:
            recorded, link = chain.line(link, self._clock.now(), chain.torn_event(data))
            closing += recorded
        return link, closing

    def _checked(self, data: bytes | None) -> Link:
        if data is None:
            return Link()
        try:
            return chain.parse(data).link
        except NotAnEntry as error:
            raise StoreUnavailable(
                f"the last line of the audit log `{escape(str(self._path))}` is not as it was written: {error}",
                hint=_VERIFY,
            ) from error


_VERIFY = "run `keel audit verify`, keep the file as evidence, and begin another one"


def _tail(descriptor: int, size: int) -> tuple[bytes | None, list[bytes], bool]:
    """Return a file's last line that was written whole, the torn ones after it, and whether the very last was closed.

    There is at most one torn line for each writer that was killed since, for whoever comes next records it.

    Raises:
        StoreUnavailable: if no line ends within reach.
    """
    data, start = b"", size
    while start:
        start = max(0, start - _BLOCK)
        data = os.pread(descriptor, size - start, start)
        lines = data.removesuffix(b"\n").split(b"\n")
        complete = lines if start == 0 else lines[1:]  # the first one may have begun earlier
        torn: list[bytes] = []
        for one in reversed(complete):
            if not chain.is_torn(one):
                return one, torn[::-1], data.endswith(b"\n")
            torn.append(one)
        if len(data) > 2 * MAX_LINE:
            raise StoreUnavailable("the audit log ends in something that is no audit log", hint=_VERIFY)
    return None, torn[::-1] if size else [], not size or data.endswith(b"\n")


def _to_disk(descriptor: int) -> None:
    """Wait until what was written is on the disk; only the size of the file matters beside its content."""
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        getattr(os, "fdatasync", os.fsync)(descriptor)


@contextmanager
def _locked(descriptor: int, *, wait: bool = True) -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return
    import fcntl  # noqa: PLC0415 - not on every system

    fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
