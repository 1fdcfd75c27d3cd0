"""Ledgers of both kinds, and the PostgreSQL server that one of them needs."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.fakes.ports import FixedClock
from tests.fakes.postgres import Postgres, cluster, programs

from keel.store.ledger_sql import SqlLedger
from keel.store.ledgers import open_ledger

Open = Callable[[], SqlLedger]
"""Opens the same store once more, as another process would."""


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Return a running server; skips where none is installed."""
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    if programs() is None:
        pytest.skip("no PostgreSQL server is installed: `apt-get install postgresql`")
    with cluster() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: Postgres) -> str:
    """Return the URL of an empty schema."""
    import psycopg

    schema = f"t{secrets.token_hex(6)}"
    with psycopg.connect(postgres.url()) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    return postgres.url(schema)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty store of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "state.sqlite")
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def opened(url: str, clock: FixedClock) -> Iterator[Open]:
    """Return what opens the store; everything is closed at the end."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(open_ledger(url, clock))


@pytest.fixture
def ledger(opened: Open) -> SqlLedger:
    return opened()
