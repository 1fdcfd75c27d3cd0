"""Stores that are damaged, locked, full, foreign, newer, unreachable or open to others: said in words, nothing lost."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.fakes.ports import FixedClock
from tests.fakes.postgres import Postgres
from tests.unit.store.test_ledger import admission, admit, execute, gate, run

from keel.errors import KeelError, UsageError
from keel.runtime.model import Decision, OperationState
from keel.runtime.ports import StoreUnavailable
from keel.store.ledger_postgres import PostgresLedger
from keel.store.ledger_sqlite import SqliteLedger
from keel.store.ledgers import open_ledger

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".keel" / "state.sqlite"


def handles() -> set[str]:
    """Return the files that this process has open."""
    return {os.path.realpath(item) for item in Path("/proc/self/fd").iterdir()}


def child(program: str, *arguments: str) -> list[str]:
    """Run a program in another process and return what it prints."""
    head = (
        "import asyncio, os, resource, sys; from pathlib import Path\n"
        "from keel.errors import KeelError\nfrom keel.store.ledger_sqlite import SqliteLedger\n"
        "from tests.fakes.ports import FixedClock\nfrom tests.unit.store.test_ledger import admission\n"
        "path = Path(sys.argv[1])\n"
    )
    words = [sys.executable, "-c", head + program, *arguments]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


class TestSqliteFile:
    def test_nobody_else_may_read_anything_of_it(self, path: Path, clock: FixedClock) -> None:
        before = os.umask(0)
        try:
            with SqliteLedger.open(path, clock) as ledger:
                admit(ledger)
                modes = {item.name: stat.S_IMODE(item.stat().st_mode) for item in path.parent.glob("state*")}
        finally:
            os.umask(before)
        assert modes == {"state.sqlite": 0o600, "state.sqlite-wal": 0o600, "state.sqlite-shm": 0o600}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert (path.parent / ".gitignore").read_text() == "*\n"

    def test_it_is_in_write_ahead_mode_and_waits_for_the_disk(self, path: Path, clock: FixedClock) -> None:
        with SqliteLedger.open(path, clock) as ledger:
            admit(ledger)  # need not wait
            assert ledger._writer.execute("PRAGMA synchronous").fetchone() == (1,)
            run(ledger.executing("k"))
            assert ledger._writer.execute("PRAGMA synchronous").fetchone() == (2,)
            assert ledger._writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)

    @pytest.mark.parametrize("mode", [0o644, 0o660, 0o604])
    def test_one_that_others_may_read_or_write_is_refused(self, path: Path, clock: FixedClock, mode: int) -> None:
        SqliteLedger.open(path, clock).close()
        path.chmod(mode)
        with pytest.raises(StoreUnavailable, match="by others") as caught:
            SqliteLedger.open(path, clock)
        assert "chmod 600" in caught.value.hint

    def test_one_of_a_newer_keel_is_refused(self, path: Path, clock: FixedClock) -> None:
        SqliteLedger.open(path, clock).close()
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
        with pytest.raises(StoreUnavailable, match="newer keel: its schema is 99"):
            SqliteLedger.open(path, clock)

    def test_the_database_of_another_program_is_left_alone(self, tmp_path: Path, clock: FixedClock) -> None:
        path = tmp_path / "other.db"
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE theirs (x)")
        connection.close()
        path.chmod(0o600)
        before = path.read_bytes()
        with pytest.raises(StoreUnavailable, match="another program"):
            SqliteLedger.open(path, clock)
        assert path.read_bytes() == before

    @pytest.mark.parametrize("keep", [0, 16, 5000])
    def test_a_damaged_one(self, path: Path, clock: FixedClock, keep: int) -> None:
        with SqliteLedger.open(path, clock) as ledger:
            for number in range(50):
                admit(ledger, f"k{number}")
        size = path.stat().st_size
        path.write_bytes(path.read_bytes()[:keep] + os.urandom(size - keep))
        path.with_name("state.sqlite-wal").unlink(missing_ok=True)

        def use() -> None:
            with SqliteLedger.open(path, clock) as ledger:
                run(ledger.operations())
                admit(ledger, "new")

        with pytest.raises(StoreUnavailable, match=r"damaged|not a database|another program"):
            use()

    def test_places_where_none_can_be(self, tmp_path: Path, clock: FixedClock) -> None:
        (tmp_path / "file").write_text("")
        (tmp_path / "folder").mkdir()
        for place in ("file/state", "folder", "file"):
            with pytest.raises(StoreUnavailable):
                SqliteLedger.open(tmp_path / place, clock)
        with pytest.raises(UsageError, match="no store"):
            open_ledger(str(tmp_path / "nowhere" / "state"), clock, create=False)
        assert not (tmp_path / "nowhere").exists()

    @pytest.mark.parametrize("kind", ["sqlite:///{}", "{}"])
    def test_how_it_is_named(self, path: Path, clock: FixedClock, kind: str) -> None:
        open_ledger(kind.format(path), clock).close()
        assert path.exists()

    def test_one_that_another_process_holds(self, path: Path, clock: FixedClock) -> None:
        with SqliteLedger.open(path, clock, busy_s=0.1) as ledger:
            holder = sqlite3.connect(path, isolation_level=None)
            holder.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="locked by another process"):
                admit(ledger)
            assert run(ledger.operations()) == ()  # reading waits for nobody
            holder.execute("ROLLBACK")
            holder.close()
            assert admit(ledger).decision is Decision.ADMITTED

    def test_the_event_loop_goes_on_while_it_waits(self, path: Path, clock: FixedClock) -> None:
        async def ticking(ledger: SqliteLedger) -> int:
            admitting = asyncio.create_task(ledger.admit(admission()))
            ticks = 0
            while not admitting.done():
                await asyncio.sleep(0.01)
                ticks += 1
            assert admitting.result().decision is Decision.ADMITTED
            return ticks

        with SqliteLedger.open(path, clock) as ledger:
            holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            holder.execute("BEGIN IMMEDIATE")
            timer = threading.Timer(0.3, lambda: holder.execute("ROLLBACK"))
            timer.start()
            assert run(ticking(ledger)) >= 5
            timer.join()
            holder.close()

    def test_a_full_disk_and_room_again(self, path: Path, clock: FixedClock) -> None:
        program = (
            "ledger = SqliteLedger.open(path, FixedClock())\n"
            "asyncio.run(ledger.admit(admission('before')))\n"
            "limits = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
            "wal = path.with_name('state.sqlite-wal')\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (wal.stat().st_size + 100, limits[1]))\n"
            "for key in ('full', 'full too'):\n"
            "    try: asyncio.run(ledger.admit(admission(key)))\n"
            "    except KeelError as error: print(error.code, error.message)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, limits)\n"
            "print(asyncio.run(ledger.admit(admission('after'))).decision)\n"
            "print(*[item.key for item in asyncio.run(ledger.operations())])\n"
            "ledger.close()\n"
        )
        first, second, after, keys = child(program, str(path))
        assert first.startswith("store-unavailable the store")
        assert "full" in first
        assert second.startswith("store-unavailable")
        assert (after, keys) == ("admitted", "after before")

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
    def test_one_that_may_not_be_written(self, tmp_path: Path, clock: FixedClock) -> None:
        path = tmp_path / "state.sqlite"
        SqliteLedger.open(path, clock).close()
        os.chown(path, 65534, -1)
        for folder in (tmp_path, *tmp_path.parents[:3]):
            folder.chmod(folder.stat().st_mode | 0o055)
        program = (
            "os.setgid(65534); os.setuid(65534)\n"
            "for place in (path, path.with_name('new')):\n"
            "    try: SqliteLedger.open(place, FixedClock())\n"
            "    except KeelError as error: print(error.code, error.message)\n"
        )
        for line in child(program, str(path)):
            assert line.startswith("store-unavailable")
            assert "cannot be" in line
        path.chmod(0o400)
        assert len(child(program, str(path))) == 2

    def test_nothing_is_left_open(self, path: Path, clock: FixedClock) -> None:
        with SqliteLedger.open(path, clock) as ledger:
            admit(ledger)
            assert str(path) in handles()
        assert str(path) not in handles()
        assert not {thread.name for thread in threading.enumerate() if thread.name == "keel-ledger"}


class TestPostgresServer:
    def test_one_that_stops_and_comes_back(self, postgres: Postgres, postgres_url: str, clock: FixedClock) -> None:
        with PostgresLedger.open(postgres_url, clock) as ledger:
            admit(ledger)
            run(ledger.executing("k"))
            postgres.stop()
            try:
                with pytest.raises(StoreUnavailable, match="cannot be used"):
                    run(ledger.settle("k", OperationState.SUCCEEDED))
                with pytest.raises(StoreUnavailable):
                    run(ledger.operations())
            finally:
                postgres.start()
            run(ledger.settle("k", OperationState.SUCCEEDED, 1))
            assert admit(ledger).result == 1

    def test_a_lost_connection_is_replaced(self, postgres: Postgres, postgres_url: str, clock: FixedClock) -> None:
        import psycopg

        with PostgresLedger.open(postgres_url, clock) as ledger:
            admit(ledger)
            for _ in range(3):
                with psycopg.connect(postgres.url()) as other:
                    other.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keel'"
                    )
                assert admit(ledger).decision is Decision.IN_PROGRESS

    def test_a_commit_that_is_not_confirmed_is_not_repeated(self, postgres_url: str, clock: FixedClock) -> None:
        import psycopg

        with PostgresLedger.open(postgres_url, clock) as ledger:
            with psycopg.connect(postgres_url) as other:
                other.execute("CREATE SEQUENCE times")
                other.execute(
                    "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS "
                    "$$ BEGIN PERFORM nextval('times'); PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$"
                )
                other.execute(
                    "CREATE CONSTRAINT TRIGGER die AFTER INSERT ON keel_operations DEFERRABLE INITIALLY DEFERRED "
                    "FOR EACH ROW EXECUTE FUNCTION die()"
                )
            with pytest.raises(StoreUnavailable, match="not known"):
                admit(ledger)
            with psycopg.connect(postgres_url) as other:
                assert other.execute("SELECT last_value FROM times").fetchone() == (1,)
                other.execute("DROP TRIGGER die ON keel_operations")
            assert admit(ledger).decision is Decision.ADMITTED

    def test_one_that_somebody_else_holds(self, postgres_url: str, clock: FixedClock) -> None:
        import psycopg

        with (
            PostgresLedger.open(postgres_url, clock, wait_s=0.2) as ledger,
            psycopg.connect(postgres_url, autocommit=False) as other,
        ):
            other.execute("SELECT pg_advisory_xact_lock(hashtextextended('keel operation k', 0))")
            began = time.monotonic()
            with pytest.raises(StoreUnavailable, match="lock timeout"):
                admit(ledger)
            assert time.monotonic() - began < 3
            assert admit(ledger, "another").decision is Decision.ADMITTED
            other.rollback()
            assert admit(ledger).decision is Decision.ADMITTED

    def test_one_of_a_newer_keel_is_refused(self, postgres_url: str, clock: FixedClock) -> None:
        import psycopg

        PostgresLedger.open(postgres_url, clock).close()
        with psycopg.connect(postgres_url) as other:
            other.execute("UPDATE keel_meta SET schema = 99")
        with pytest.raises(StoreUnavailable, match="newer keel: its schema is 99"):
            PostgresLedger.open(postgres_url, clock)

    def test_a_role_that_may_only_read_and_write_rows_is_enough(
        self, postgres: Postgres, postgres_url: str, clock: FixedClock
    ) -> None:
        import psycopg

        PostgresLedger.open(postgres_url, clock).close()
        role = f"r{time.monotonic_ns()}"
        with psycopg.connect(postgres_url) as other:
            schema = other.execute("SELECT current_schema()").fetchone()[0]  # type: ignore[index]
            other.execute(f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}")
            other.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}")
        with PostgresLedger.open(postgres.url(schema, user=role), clock) as ledger:
            admit(ledger)
            execute(ledger)
            assert run(ledger.ask(gate())).id
            assert run(ledger.prune(clock.now() + 1)).operations == 1

    def test_commits_reach_the_disk_whatever_the_server_prefers(self, postgres_url: str, clock: FixedClock) -> None:
        slack = postgres_url.replace("options=", "options=-csynchronous_commit%3Doff%20")
        with PostgresLedger.open(slack, clock) as ledger:
            shown = run(ledger._read(lambda tables: tables.execute("SHOW synchronous_commit", ())))
            assert shown == [("on",)]

    @pytest.mark.parametrize(
        "bad",
        [
            "postgresql://keel:hunter2secret@127.0.0.1:1/db",
            "postgresql://keel:hunter2secret@/db?host=/nowhere",
            "postgresql://keel:hunter2secret@host:port/db",
            "postgresql://keel:hunter2secret@[/db",
        ],
    )
    def test_one_that_cannot_be_reached_is_said_without_the_password(self, clock: FixedClock, bad: str) -> None:
        pytest.importorskip("psycopg")
        with pytest.raises(KeelError) as caught:
            open_ledger(bad, clock)
        assert "hunter2secret" not in caught.value.message + caught.value.hint
        assert caught.value.code in ("store-unavailable", "usage")

    def test_without_the_extra_it_says_what_to_install(self) -> None:
        program = (
            "sys.modules['psycopg'] = None\n"
            "from keel.store.ledgers import open_ledger\n"
            "try: open_ledger('postgresql://host/db', FixedClock())\n"
            "except KeelError as error: print(error.code, error.hint)\n"
        )
        (line,) = child(program, "unused")
        assert line.startswith("usage")
        assert "keel-toolchain[postgres]" in line

    def test_processes_that_create_the_tables_at_once(self, postgres_url: str, clock: FixedClock) -> None:
        program = (
            "from keel.store.ledgers import open_ledger\nwith open_ledger(sys.argv[1], FixedClock()): print('ok')\n"
        )
        threads = [threading.Thread(target=child, args=(program, postgres_url)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with open_ledger(postgres_url, clock) as ledger:
            assert run(ledger.operations()) == ()


def test_processes_that_create_a_file_at_once(path: Path, clock: FixedClock) -> None:
    program = (
        "import sys; from pathlib import Path; from keel.store.ledger_sqlite import SqliteLedger\n"
        "from tests.fakes.ports import FixedClock\nsys.stdin.readline()\n"
        "SqliteLedger.open(Path(sys.argv[1]), FixedClock()).close()"
    )
    words = [sys.executable, "-c", program, str(path)]
    children = [subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE) for _ in range(5)]
    time.sleep(0.5)
    for one in children:
        one.communicate(b"go\n", timeout=60)
    assert [one.returncode for one in children] == [0] * 5
    with SqliteLedger.open(path, clock) as ledger:
        assert run(ledger.ask(gate())).id
        admit(ledger)
        execute(ledger)
