"""Opens the ledger that a URL names: a path or `sqlite:///path`, or `postgresql://…`."""

from __future__ import annotations

from pathlib import Path

from keel.core.text import excerpt
from keel.errors import UsageError
from keel.runtime.ports import Clock
from keel.store.ledger_sql import SqlLedger

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def open_ledger(url: str, clock: Clock, *, create: bool = True) -> SqlLedger:
    """Open a store for approvals and operations; the caller closes it.

    Args:
        url: a path, `sqlite:///relative`, `sqlite:////absolute`, or a PostgreSQL connection URI.
        clock: what time it is.
        create: whether a file that is missing is created.

    Raises:
        UsageError: if the URL is of another kind, or names a file that is missing and must not be created.
        StoreUnavailable: if the store cannot be used.
    """
    if url.startswith(_POSTGRES):
        from keel.store.ledger_postgres import PostgresLedger  # noqa: PLC0415 - an optional extra

        return PostgresLedger.open(url, clock)
    if url.startswith(_SQLITE):
        url = url.removeprefix(_SQLITE)
    elif "://" in url:
        scheme = url.partition("://")[0]
        raise UsageError(
            f"a store of the kind `{excerpt(scheme)}` is not known",
            hint="pass a path, `sqlite:///path` or `postgresql://user@host/database`",
        )
    path = Path(url)
    if not create and not path.exists():
        raise UsageError(
            f"there is no store `{excerpt(str(path), 200)}`",
            hint="it is created by the first call; `--store` names another one",
        )
    from keel.store.ledger_sqlite import SqliteLedger  # noqa: PLC0415 - only one of the two is needed

    return SqliteLedger.open(path, clock, create=create)
