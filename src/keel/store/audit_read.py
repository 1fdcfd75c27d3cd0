"""Reading audit logs: their entries, and whether the chain is whole."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from keel.core.finding import Finding, Location, finding
from keel.core.text import escape, excerpt, plural
from keel.store import chain
from keel.store.chain import Entry, Link, NotAnEntry
from keel.store.files import FileError


@dataclass(frozen=True, slots=True)
class VerifiedLog:
    """What a verification found."""

    findings: tuple[Finding, ...]
    head: Link
    """The last entry: how many there are, and the hash to keep elsewhere."""


def verify_audit(path: Path, expect_head: str = "") -> VerifiedLog:
    """Verify every line of an audit log and how they hang together.

    A chain shows what was altered, removed, inserted or moved within it. It cannot show that its end is missing, nor
    that all of it was written anew: for that, keep its head elsewhere and expect it.

    Args:
        path: the file.
        expect_head: a hash that the log must hold; it may have grown since.

    Raises:
        FileError: if the file cannot be read.
    """
    checking = _Checking(path.name, expect_head)
    with _reading(path) as file:
        for number, data in enumerate(file, 1):
            checking.line(number, data.removesuffix(b"\n"))
    return VerifiedLog(checking.end(), checking.link)


def entries(path: Path) -> Iterator[Entry | int]:
    """Yield every entry of a log, and in the place of each line that is none its number.

    Raises:
        FileError: if the file cannot be read.
    """
    with _reading(path) as file:
        for number, data in enumerate(file, 1):
            try:
                yield chain.parse(data.removesuffix(b"\n"))
            except NotAnEntry:
                yield number


@contextmanager
def _reading(path: Path) -> Iterator[BinaryIO]:
    """Open a log while nobody is writing a line."""
    try:
        with path.open("rb") as file:
            if sys.platform != "win32":
                import fcntl  # noqa: PLC0415 - not on every system

                fcntl.flock(file, fcntl.LOCK_SH)
            yield file
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(f"`{escape(str(path))}` cannot be read: {reason}", hint="name the audit log") from error


@dataclass(slots=True)
class _Checking:
    """A verification under way."""

    name: str
    expected: str
    link: Link = field(default_factory=Link)
    seen: bool = False
    torn: list[tuple[int, bytes]] = field(default_factory=list)
    """Lines that say nothing, torn ones for all we know, which no entry has recorded yet."""
    recording: bool = False
    """Whether the entry at hand recorded one of them, and further ones wait for theirs."""
    findings: list[Finding] = field(default_factory=list)

    def line(self, number: int, data: bytes) -> None:
        try:
            entry = chain.parse(data)
        except NotAnEntry as error:
            claimed = _claimed(data)
            if not claimed:
                self.torn.append((number, data))
                return
            self._say("audit-altered", number, f"line {number:,} was altered: {error}")
            self._forgive()
            self.link = Link(self.link.seq + 1, claimed)
            return
        self.recording = False
        altered = 0 if self._records_torn(number, entry) else len(self.torn)
        if not self.recording:
            self._forgive()
        self._follows(number, entry, altered)
        self.link = entry.link
        self.seen = self.seen or entry.hash == self.expected

    def end(self) -> tuple[Finding, ...]:
        if not all(chain.is_torn(data) for _, data in self.torn):
            self._forgive()
        for number, data in self.torn:
            message = f"line {number:,} ends after {plural(len(data), 'byte')}: its writer was stopped"
            self._say("audit-torn", number, message)
        if self.expected and not self.seen:
            message = f"the log does not hold the expected hash `{excerpt(self.expected)}`: its end is missing"
            self._say("audit-head-missing", self.link.seq or 1, message)
        return tuple(self.findings)

    def _records_torn(self, number: int, entry: Entry) -> bool:
        """Tell whether an entry records the torn lines that none has recorded yet, one at a time in their order."""
        if entry.event.get("event") != chain.TORN:
            return False
        if not self.torn or dict(entry.event) != chain.torn_event(self.torn[0][1]):
            self._say("audit-broken", number, f"line {number:,} records a torn line that is not there")
            return False
        where, data = self.torn.pop(0)
        size = plural(len(data), "byte")
        self._say(
            "audit-torn", where, f"line {where:,} ends after {size}: its writer was stopped, says line {number:,}"
        )
        self.recording = bool(self.torn)
        return True

    def _follows(self, number: int, entry: Entry, altered: int) -> None:
        """Judge whether an entry continues the one before it, some altered lines aside."""
        if altered and entry.seq == self.link.seq + 1 + altered:
            return
        if entry.prev != self.link.hash or entry.seq != self.link.seq + 1:
            self._say("audit-broken", number, f"line {number:,} does not continue the one before: {self._gap(entry)}")

    def _gap(self, entry: Entry) -> str:
        between = entry.seq - self.link.seq - 1
        if between > 0:
            return f"{plural(between, 'event')} before it {'is' if between == 1 else 'are'} missing"
        if between < 0:
            return f"it is event {entry.seq:,} and follows event {self.link.seq:,}"
        return "the event before it is not the one that it was written after"

    def _forgive(self) -> None:
        """Report lines that say nothing and that no entry records: they were not torn but altered."""
        for number, _ in self.torn:
            self._say("audit-altered", number, f"line {number:,} was altered: it is no entry of an audit log")
        self.torn.clear()

    def _say(self, code: str, number: int, message: str) -> None:
        self.findings.append(finding(code, message, location=Location(file=self.name, line=number, column=1)))


def _claimed(data: bytes) -> str:
    """Return the hash that an altered line still says it has, so that the lines after it are judged by themselves."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    own = value.get("hash") if isinstance(value, dict) else None
    return own if isinstance(own, str) else ""
