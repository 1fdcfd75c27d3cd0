"""The ledger in one SQLite file: the default, for one machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from keel.core.text import escape
from keel.errors import KeelError
from keel.runtime.ports import Clock, StoreUnavailable
from keel.store.ledger_sql import SqlLedger
from keel.store.private import create_private, prepare, refuse_open_to_others
from keel.store.tables import CREATE, SCHEMA, Tables
from keel.store.worker import Worker

T = TypeVar("T")

APPLICATION_ID = 0x6B65656C
"""`keel` in ASCII; marks the file as ours (https://www.sqlite.org/pragma.html#pragma_application_id)."""
BUSY_S = 5.0
"""How long another process may hold the file before the store counts as unavailable."""
_COUNTED = "INTEGER PRIMARY KEY AUTOINCREMENT"


class _Work:
    """One transaction of a caller, and whether it has to reach the disk."""

    __slots__ = ("durable", "run")

    def __init__(self, run: Callable[[Tables], object], *, durable: bool) -> None:
        self.run = run
        self.durable = durable


class SqliteLedger(SqlLedger):
    """Approvals and operations in a file in write-ahead mode.

    One thread writes, so that no event loop waits for the disk; transactions that wait share one commit, each in a
    savepoint of its own. Reads of single records need no thread: in this mode they wait for nobody.
    Source: https://www.sqlite.org/wal.html.
    """

    def __init__(self, path: Path, clock: Clock, writer: sqlite3.Connection, reader: sqlite3.Connection) -> None:
        """Take over two connections; use `open`."""
        super().__init__(clock)
        self._path = path
        self._writer = writer
        self._reader = reader
        self._tables = _tables(writer)
        self._seen = _tables(reader)
        self._synchronous = True
        self._worker: Worker[_Work] = Worker("keel-ledger", self._carry_out)

    @classmethod
    def open(cls, path: Path, clock: Clock, *, create: bool = True, busy_s: float = BUSY_S) -> Self:
        """Open a store, creating it, its folder and its tables where they are missing.

        Args:
            path: the file; beside it SQLite keeps `-wal` and `-shm`.
            clock: what time it is.
            create: whether a missing file is created.
            busy_s: seconds to wait for another process.

        Raises:
            StoreUnavailable: if it is damaged, locked, not writable, not keel's, or of a newer keel.
        """
        if create:
            prepare(path)
            create_private(path)
        refuse_open_to_others(path)
        opened: list[sqlite3.Connection] = []
        try:
            for _ in range(2):
                opened.append(_connect(path, busy_s))
            _create(path, opened[0])
            opened[1].execute("PRAGMA query_only = ON")
            return cls(path, clock, *opened)
        except BaseException as error:
            _close(opened)
            if isinstance(error, sqlite3.Error):
                raise _unavailable(path, error) from error
            raise

    async def _write(self, work: Callable[[Tables], T], *, durable: bool = True) -> T:
        value: T = await self._worker.do(_Work(work, durable=durable))
        return value

    async def _read(self, work: Callable[[Tables], T]) -> T:
        try:
            return work(self._seen)
        except sqlite3.Error as error:
            raise _unavailable(self._path, error) from error

    def close(self) -> None:
        """Finish what was begun and let go of the file."""
        self._worker.close()
        _close([self._reader, self._writer])

    def _carry_out(self, works: Sequence[_Work]) -> Sequence[object]:
        """Run transactions with one commit; what one of them raises undoes that one alone."""
        try:
            self._synchronise(wanted=any(work.durable for work in works))
            self._writer.execute("BEGIN IMMEDIATE")
            outcomes = [self._one(work) for work in works]
            self._writer.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            failure = _unavailable(self._path, error)
            failure.__cause__ = error
            return [failure] * len(works)
        return outcomes

    def _synchronise(self, *, wanted: bool) -> None:
        """Choose whether the next commit waits for the disk; the log is in order, so that a later one covers it."""
        if wanted is not self._synchronous:
            self._writer.execute(f"PRAGMA synchronous = {'FULL' if wanted else 'NORMAL'}")
            self._synchronous = wanted

    def _one(self, work: _Work) -> object:
        self._writer.execute("SAVEPOINT one")
        try:
            outcome = work.run(self._tables)
        except sqlite3.Error:
            raise
        except Exception as error:  # noqa: BLE001 - it is raised again where the work came from
            self._writer.execute("ROLLBACK TO one")
            outcome = error
        self._writer.execute("RELEASE one")
        return outcome

    def _roll_back(self) -> None:
        try:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        except sqlite3.Error:
            return


def _connect(path: Path, busy_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=busy_s, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _create(path: Path, connection: sqlite3.Connection) -> None:
    """Create the tables in a new file; refuse one that is somebody else's or of a newer keel."""
    connection.execute("BEGIN IMMEDIATE")
    owner, version = _pragma(connection, "application_id"), _pragma(connection, "user_version")
    empty = not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    if empty and not owner:
        for statement in CREATE:
            connection.execute(statement.format(counted=_COUNTED))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
    elif owner != APPLICATION_ID:
        raise StoreUnavailable(
            f"`{escape(str(path))}` is a database of another program", hint="pass another file to `--store`"
        )
    elif version > SCHEMA:
        raise StoreUnavailable(
            f"`{escape(str(path))}` was written by a newer keel: its schema is {version}, this keel knows {SCHEMA}",
            hint="upgrade keel",
        )
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode = WAL")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _tables(connection: sqlite3.Connection) -> Tables:
    def execute(statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        return connection.execute(statement, values).fetchall()

    def lock(name: str) -> None:
        """`BEGIN IMMEDIATE` keeps every other writer out."""

    return Tables(execute, lock)


def _close(connections: Sequence[sqlite3.Connection]) -> None:
    for connection in connections:
        connection.close()


_REASONS = {
    sqlite3.SQLITE_BUSY: ("is locked by another process", "end the program that holds it, or try again"),
    sqlite3.SQLITE_LOCKED: ("is locked by another process", "end the program that holds it, or try again"),
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "free disk space"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written: the disk failed or is full", "check the disk"),
    sqlite3.SQLITE_READONLY: ("cannot be written", "check the permissions of the file and its folder"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "check the path and its permissions"),
    sqlite3.SQLITE_PERM: ("cannot be opened", "check the path and its permissions"),
    sqlite3.SQLITE_NOTADB: ("is not a database", "pass another file to `--store`, or restore a backup"),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "restore a backup"),
}


def _unavailable(path: Path, error: sqlite3.Error) -> KeelError:
    """Say in words what SQLite says in result codes (https://www.sqlite.org/rescode.html)."""
    primary = getattr(error, "sqlite_errorcode", -1) & 0xFF
    what, hint = _REASONS.get(primary, (f"cannot be used: {escape(str(error))}", "check the file"))
    return StoreUnavailable(f"the store `{escape(str(path))}` {what}", hint=hint)
