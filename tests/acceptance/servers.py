"""Projects of hostile servers: one process per server, whose behaviour a file decides, so that its launch stays."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.acceptance.harness import Keel, put
from tests.fakes import hostile

FAKE = Path(hostile.__file__)
MARK = "KEEL_TEST_MARK"
SERVE = f"""\
import pathlib, runpy, sys

chosen = pathlib.Path(sys.argv[1])
sys.argv = [{str(FAKE)!r}, chosen.read_text() if chosen.exists() else "quiet"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Servers:
    """A project of stdio servers and what each of them does now."""

    def __init__(self, keel: Keel, names: Iterable[str], **fields: Any) -> None:
        """Write the project.

        Args:
            keel: the runner.
            names: names of the servers.
            fields: further fields of every server.
        """
        self.keel = keel
        self.mark = uuid.uuid4().hex
        self.fields = fields
        self.servers: dict[str, dict[str, Any]] = {name: self.entry(name) for name in names}
        put(keel.root, {"serve.py": SERVE, "now/.keep": ""})
        self.write()

    def entry(self, name: str, **more: Any) -> dict[str, Any]:
        """Return the manifest entry of a server."""
        env = {MARK: self.mark, **self.fields.get("env", {}), **more.pop("env", {})}
        command = [sys.executable, "serve.py", f"now/{name}"]
        return {"command": command, "timeout_s": 30, **self.fields, "env": env, **more}

    def write(self, **more: Any) -> None:
        """Write the manifest; JSON is YAML."""
        put(self.keel.root, {"keel.yaml": json.dumps({"version": 1, "servers": self.servers, **more}, indent=1)})

    def behave(self, now: Mapping[str, str]) -> None:
        """Choose what servers do from now on."""
        put(self.keel.root, {f"now/{name}": behaviour for name, behaviour in now.items()})

    def survivors(self) -> list[str]:
        """Return the processes that servers left behind."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"{MARK}={self.mark}".encode() in path.read_bytes().split(b"\0"):
                    found.append(path.parent.name)
            except OSError:
                continue
        return found


@contextmanager
def serving(behaviours: Iterable[str], **options: Any) -> Iterator[dict[str, tuple[Any, list[str]]]]:
    """Serve each behaviour over HTTP on loopback; yields (server, requests seen) by behaviour."""
    servers = {name: hostile.http_server(name, **options) for name in behaviours}
    try:
        yield servers
    finally:
        for server, _ in servers.values():
            server.shutdown()
            server.server_close()


def url_of(server: Any) -> str:
    """Return the endpoint of a server."""
    return f"http://127.0.0.1:{server.server_address[1]}/mcp"


def bytes_of(root: Path) -> dict[str, bytes]:
    """Return every byte of a lock."""
    folder = root / "keel.lock.d"
    files = [
        *([root / "keel.lock"] if (root / "keel.lock").exists() else []),
        *(folder.iterdir() if folder.is_dir() else ()),
    ]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(files)}
