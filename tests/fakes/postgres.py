"""A real PostgreSQL server for tests, from whatever the system has installed, in a folder of its own on a socket."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

PORT = 5432
"""Names the socket; nothing listens on the network."""


@cache
def programs() -> Path | None:
    """Return the folder of the newest server that is installed, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3].split(".")[0]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


@dataclass
class Postgres:
    """One cluster, which can be stopped and started."""

    folder: Path
    user: str | None
    """Who runs it, where the tests are root: PostgreSQL refuses to be."""

    def url(self, schema: str = "public", **parameters: str) -> str:
        """Return the URL of the database, with tables in a schema."""
        given = {"host": str(self.folder), "options": f"-csearch_path={schema}", **parameters}
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in given.items())
        return f"postgresql://keel@/postgres?{query}"

    def run(self, program: str, *arguments: str) -> None:
        """Run one of the server's programs."""
        where = programs()
        assert where is not None
        output = self.folder / "output"
        with output.open("wb") as out:  # not a pipe: the server would inherit it and keep it open
            done = subprocess.run(
                [str(where / program), *arguments],
                user=self.user,
                cwd=self.folder,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=60,
                check=False,
            )
        assert done.returncode == 0, output.read_text(encoding="utf-8")

    def start(self) -> None:
        options = f"-c listen_addresses= -c unix_socket_directories={self.folder} -c fsync=off -p {PORT}"
        self.run(
            "pg_ctl", "-D", str(self.folder / "data"), "-w", "-o", options, "-l", str(self.folder / "log"), "start"
        )

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop")


@contextmanager
def cluster() -> Iterator[Postgres]:
    """Make a cluster, start it, and leave nothing of it behind."""
    folder = Path(tempfile.mkdtemp(prefix="keelpg"))
    user = None
    if os.geteuid() == 0:
        names = {entry.pw_name for entry in pwd.getpwall()}
        user = "postgres" if "postgres" in names else "nobody"
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
    server = Postgres(folder, user)
    try:
        server.run("initdb", "-D", str(folder / "data"), "-U", "keel", "-A", "trust", "-E", "UTF8", "--no-sync")
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
