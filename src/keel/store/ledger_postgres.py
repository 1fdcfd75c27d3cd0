"""The ledger in PostgreSQL, for several machines; needs the extra `keel-toolchain[postgres]`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

from keel.core.text import escape
from keel.errors import UsageError
from keel.runtime.ports import Clock, StoreUnavailable
from keel.store.ledger_sql import SqlLedger
from keel.store.tables import CREATE, SCHEMA, Tables

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")

CONNECTIONS = 4
"""How many transactions of one process run at the same time."""
WAIT_S = 5.0
"""Seconds to wait for a connection, and for a lock that another process holds."""
_TRIES = 3
"""How often a transaction is run that lost its connection, or a deadlock, before it was to be committed."""
_COUNTED = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
_SESSION = """
SET lock_timeout = '{wait_ms}ms';
SET statement_timeout = '{limit_ms}ms';
SET default_transaction_isolation = 'read committed';
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""
"""What a transaction relies on: each statement sees what was committed before it, and commits reach the disk."""


class PostgresLedger(SqlLedger):
    """Approvals and operations in a database; transactions on the same names wait for each other by advisory locks.

    A few threads hold a connection each. One that broke is replaced; a transaction is repeated only if it had not
    been told to commit, for otherwise it may have been.
    Source: https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS.
    """

    def __init__(self, dsn: str, clock: Clock, connections: int, wait_s: float) -> None:
        """Remember where the database is; use `open`."""
        super().__init__(clock)
        self._dsn = dsn
        self._where = _where(dsn)
        self._session = _SESSION.format(wait_ms=int(wait_s * 1000), limit_ms=int(wait_s * 2000))
        self._own = threading.local()
        self._all: set[psycopg.Connection[Any]] = set()
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="keel-ledger")
        self._closed = False

    @classmethod
    def open(cls, dsn: str, clock: Clock, *, connections: int = CONNECTIONS, wait_s: float = WAIT_S) -> Self:
        """Open a store, creating its tables where they are missing.

        Args:
            dsn: a connection URI or string as of libpq; what it leaves out comes from `PGPASSWORD`, `~/.pgpass` and
                the like.
            clock: what time it is.
            connections: how many transactions may run at the same time.
            wait_s: seconds to wait for a lock that somebody else holds.

        Raises:
            UsageError: if psycopg is not installed or the URL cannot be read.
            StoreUnavailable: if the database cannot be reached, refuses, or holds the tables of a newer keel.
        """
        ledger = cls(dsn, clock, connections, wait_s)
        try:
            ledger._threads.submit(ledger._run, ledger._create).result()
        except BaseException:
            ledger.close()
            raise
        return ledger

    async def _write(self, work: Callable[[Tables], T], *, durable: bool = True) -> T:  # noqa: ARG002 - always is
        return await self._in_thread(work)

    async def _read(self, work: Callable[[Tables], T]) -> T:
        return await self._in_thread(work)

    async def _in_thread(self, work: Callable[[Tables], T]) -> T:
        if self._closed:
            raise StoreUnavailable("the store has been closed", hint="open it again")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, work)

    def close(self) -> None:
        """Finish what was begun and let go of every connection."""
        self._closed = True
        self._threads.shutdown()
        for connection in self._all:
            connection.close()
        self._all.clear()

    def _run(self, work: Callable[[Tables], T]) -> T:
        import psycopg  # noqa: PLC0415 - an optional extra

        for left in reversed(range(_TRIES)):
            connection = self._connection()
            try:
                return self._transact(connection, work)
            except _Uncertain as error:
                self._drop()
                raise StoreUnavailable(
                    f"the store {self._where} broke off while it was told to commit: whether it did is not known",
                    hint="see what it holds with `keel audit operations`",
                ) from error.__cause__
            except psycopg.Error as error:
                lost = connection.closed
                self._drop()
                if not left or not (lost or isinstance(error, _passing())):
                    raise self._unavailable(error) from error
        raise AssertionError("the last try returns or raises")

    def _transact(self, connection: psycopg.Connection[Any], work: Callable[[Tables], T]) -> T:
        import psycopg  # noqa: PLC0415

        try:
            connection.execute("BEGIN")
            value = work(_tables(connection))
        except psycopg.Error:
            raise
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        try:
            connection.execute("COMMIT")
        except psycopg.OperationalError as error:
            raise _Uncertain from error
        return value

    def _connection(self) -> psycopg.Connection[Any]:
        """Return this thread's connection, a new one if it has none."""
        import psycopg  # noqa: PLC0415

        held: psycopg.Connection[Any] | None = getattr(self._own, "connection", None)
        if held is not None and not held.closed:
            return held
        try:
            made = psycopg.connect(self._dsn, autocommit=True, **_limits(self._dsn))
            made.execute(self._session)
        except psycopg.Error as error:
            raise self._unavailable(error) from error
        self._own.connection = made
        self._all.add(made)
        return made

    def _drop(self) -> None:
        """Close this thread's connection, which undoes what it had not committed."""
        held: psycopg.Connection[Any] | None = getattr(self._own, "connection", None)
        if held is not None:
            self._own.connection = None
            self._all.discard(held)
            with suppress(Exception):
                held.close()

    def _create(self, tables: Tables) -> None:
        tables.lock("schema")
        if tables.execute("SELECT to_regclass('keel_meta') IS NULL", ())[0][0]:
            for statement in CREATE:
                tables.execute(statement.format(counted=_COUNTED), ())
            tables.execute("CREATE TABLE keel_meta (schema INTEGER NOT NULL)", ())
            tables.execute("INSERT INTO keel_meta VALUES (?)", (SCHEMA,))
        version = tables.execute("SELECT max(schema) FROM keel_meta", ())[0][0]
        if version > SCHEMA:
            raise StoreUnavailable(
                f"the store {self._where} was written by a newer keel: its schema is {version}, ours is {SCHEMA}",
                hint="upgrade keel",
            )

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        """Return what the database says in one line; libpq's words never hold the password."""
        said = escape(" ".join(str(error).split())) or type(error).__name__
        return StoreUnavailable(
            f"the store {self._where} cannot be used: {said}", hint="check that the database runs and lets keel in"
        )


class _Uncertain(Exception):
    """A commit whose confirmation did not come."""


def _tables(connection: psycopg.Connection[Any]) -> Tables:
    def execute(statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        cursor = connection.execute(statement.replace("?", "%s"), values or None)
        return cursor.fetchall() if cursor.description else []

    def lock(name: str) -> None:
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"keel {name}",))

    return Tables(execute, lock)


def _passing() -> tuple[type[Exception], ...]:
    """Return the errors after which the same transaction may succeed; a lock waited for in vain is none of them."""
    from psycopg import errors  # noqa: PLC0415

    return (errors.DeadlockDetected, errors.SerializationFailure)


def _limits(dsn: str) -> dict[str, Any]:
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    given = conninfo_to_dict(dsn)
    limits = {"connect_timeout": int(WAIT_S), "application_name": "keel"}
    return {name: value for name, value in limits.items() if name not in given}


def _where(dsn: str) -> str:
    """Return how to speak of a database: never with the password that its URL may hold."""
    try:
        from psycopg import Error  # noqa: PLC0415
        from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            "a store in PostgreSQL needs psycopg, which is not installed",
            hint="run `pip install 'keel-toolchain[postgres]'`",
        ) from error
    try:
        given = conninfo_to_dict(dsn)
    except Error as error:
        raise UsageError(
            "the URL of the store is not one that PostgreSQL understands",
            hint="write `--store postgresql://user@host/database`",
        ) from error
    host = given.get("host") or "the default host"
    name = given.get("dbname") or given.get("user") or "the default database"
    return f"`{escape(str(name))}` at `{escape(str(host))}`"
