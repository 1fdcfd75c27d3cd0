"""Bundles of the workshop and of published servers, gateways over them, and clients of either protocol era."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.acceptance.harness import KEPT, Keel, put
from tests.fakes import workshop

WORKSHOP = Path(workshop.__file__)
MARK = "KEEL_TEST_MARK"
GRANTS = """\
  - {tool: w/echo, effect: read, idempotency: native, returns: untrusted}
  - {tool: w/say, effect: write, idempotency: none, timeout_s: 2}
  - {tool: w/die, effect: write, idempotency: none}
  - {tool: w/flood, effect: read, idempotency: native}
  - {tool: w/change, effect: read, idempotency: native}
  - {tool: w/rename, effect: read, idempotency: native}
  - {tool: w/leak, effect: read, idempotency: native}
  - {tool: w/stray, effect: write, idempotency: none}
  - {tool: w/fail, effect: write, idempotency: none, approval: true}
"""


class Bundled:
    """A project of the workshop with its bundle."""

    def __init__(
        self, keel: Keel, *words: str, secret: str = "", extra: str = "", grants: str = GRANTS, script: Path = WORKSHOP
    ) -> None:
        self.keel = keel
        self.mark = uuid.uuid4().hex
        self.secret = secret
        self.bundle = keel.root / "b.keel"
        env = {MARK: self.mark, **({"WORKSHOP_KEY": "secret://key"} if secret else {})}
        command = [sys.executable, str(script), "journal", *words]
        servers = json.dumps({"command": command, "env": env, "timeout_s": 30})
        put(keel.root, {
            "keel.yaml": f"version: 1\nservers:\n  w: {servers}\n{extra}tools:\n{grants}",
            "keel.toml": '[secrets]\nkey = "W_KEY"\n' if secret else "",
        })  # fmt: skip
        for step in (("freeze",), ("bundle", "-o", "b.keel")):
            done = keel(*step, W_KEY=secret)
            assert done.code == 0, done.out + done.err
        (keel.root / "journal").unlink()

    def call(self, key: str, *words: str, **arguments: Any) -> tuple[int, dict[str, Any], str]:
        """Run `keel call`; returns exit code, result and what was said."""
        done = self.keel("call", key, "--bundle", "b.keel", "--allow-unsigned", "--input", json.dumps(arguments), *words, W_KEY=self.secret)  # fmt: skip
        return done.code, json.loads(done.out) if done.out else {}, done.err

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return what the workshop wrote down of one kind."""
        journal = self.keel.root / "journal"
        lines = journal.read_text().splitlines() if journal.exists() else []
        return [item for line in lines if name in (item := json.loads(line))]

    def survivors(self) -> list[str]:
        """Return the servers that still run."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"{MARK}={self.mark}".encode() in path.read_bytes().split(b"\0"):
                    found.append(path.parent.name)
            except OSError:
                continue
        return found

    def gone(self, within_s: float = 8.0) -> bool:
        """Tell whether every server ends soon."""
        until = time.monotonic() + within_s
        while self.survivors():
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True

    @property
    def environment(self) -> dict[str, str]:
        """The scrubbed environment of a gateway."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
        return {**kept, "PATH": path, "HOME": str(self.keel.root), "LC_ALL": "C.UTF-8", "W_KEY": self.secret}

    def argv(self, *words: str) -> list[str]:
        """The command that starts a gateway."""
        return [sys.executable, "-m", "keel", "serve", str(self.bundle), "--allow-unsigned", *words]

    @asynccontextmanager
    async def client(self, mode: str, *words: str, **options: Any) -> AsyncIterator[Client]:
        """Start a gateway over stdio and connect to it."""
        command, *arguments = self.argv(*words)
        server = StdioServerParameters(command=command, args=arguments, env=self.environment, cwd=self.keel.root)
        async with Client(server, mode=mode, cache=None, **options) as client:
            yield client

    @contextmanager
    def process(self, *words: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
        """Start a gateway with its streams in hand."""
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen(self.argv(*words), cwd=self.keel.root, env=self.environment, **streams)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    @contextmanager
    def http(self, *words: str) -> Iterator[tuple[str, str]]:
        """Start a gateway over HTTP on a free port; yields its URL and token."""
        with self.process("--http", "0", *words) as process:
            assert process.stderr is not None
            said = process.stderr.readline().decode()
            assert said.startswith("serving "), said
            yield said.split(" at ")[1].split()[0], said.split()[-1]


@asynccontextmanager
async def http_client(url: str, token: str, mode: str, *, session: str = "", **options: Any) -> AsyncIterator[Client]:
    """Connect to a gateway over HTTP, in a session that the client made up where one is named."""
    headers = {"authorization": f"Bearer {token}", **({"mcp-session-id": session} if session else {})}
    limits = httpx2.Limits(max_connections=600)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30, limits=limits) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, cache=None, **options) as client,
    ):
        yield client


def run(main: Callable[[], Awaitable[Any]]) -> Any:
    """Run a test's clients."""

    async def bounded() -> Any:
        return await asyncio.wait_for(main(), 120)

    return asyncio.run(bounded())


def code_of(result: Any) -> str | None:
    """Return the code of a failed result."""
    return (result.meta or {}).get("keel/error")


def speak(process: subprocess.Popen[bytes], *messages: dict[str, Any]) -> None:
    """Write messages by hand."""
    assert process.stdin is not None
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Read one message by hand."""
    assert process.stdout is not None
    value: dict[str, Any] = json.loads(process.stdout.readline())
    return value


def greet(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Do the handshake by hand; returns the gateway's answer."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    speak(process, {"id": 1, "method": "initialize", "params": hello})
    answer = hear(process)
    speak(process, {"method": "notifications/initialized"})
    return answer
