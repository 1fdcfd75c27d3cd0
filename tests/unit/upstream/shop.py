"""What the tests of live sessions share: the workshop as a launch, and calls whose errors are values."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from keel.core.launch import Launch
from keel.core.model import Transport
from keel.errors import KeelError
from keel.runtime.ports import Reply
from keel.upstream.pool import McpUpstream
from tests.fakes import workshop

WORKSHOP = Path(workshop.__file__)
LEGACY, MODERN = "2025-11-25", "2026-07-28"


def stdio(journal: Path | None = None, *words: str, protocol: str = LEGACY, **more: Any) -> Launch:
    """Return the workshop as a process."""
    era = ["--modern"] if protocol == MODERN else []
    argv = (sys.executable, str(WORKSHOP), *([str(journal)] if journal else []), *era, *words)
    settings: dict[str, Any] = {"env": dict(os.environ), "timeout_s": 20, "protocol": protocol, **more}
    return Launch("w", Transport.STDIO, argv=argv, **settings)


def http(hall: Any, **more: Any) -> Launch:
    """Return the workshop as an endpoint."""
    url = f"http://127.0.0.1:{hall.server_address[1]}/mcp"
    protocol = MODERN if hall.modern else LEGACY
    return Launch("w", Transport.HTTP, url=url, timeout_s=20, protocol=protocol, **more)


class Caller:
    """Calls tools of one server."""

    def __init__(self, pool: McpUpstream) -> None:
        self.pool = pool

    async def __call__(self, tool: str, timeout_s: float = 15.0, **arguments: Any) -> Reply:
        return await self.pool.call("w", tool, arguments, idempotency_key="key-1", timeout_s=timeout_s)

    async def error(self, tool: str, timeout_s: float = 15.0, **arguments: Any) -> KeelError:
        """Call a tool and return the error that it must give."""
        try:
            reply = await self(tool, timeout_s, **arguments)
        except KeelError as error:
            return error
        raise AssertionError(reply)


def run(launch: Launch | Callable[[], Any], main: Callable[[Caller], Awaitable[Any]], **options: Any) -> Any:
    """Run a test against one server; nothing of it is left afterwards."""

    async def whole() -> Any:
        resolve = launch if callable(launch) else lambda: launch
        async with McpUpstream({"w": resolve}, **options) as pool:
            return await asyncio.wait_for(main(Caller(pool)), 90)

    return asyncio.run(whole())


def events(journal: Path, name: str) -> list[dict[str, Any]]:
    """Return what the workshop wrote down of one kind."""
    return [item for line in journal.read_text().splitlines() if name in (item := json.loads(line))]


def running(pid: int) -> bool:
    """Tell whether a process still runs."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
