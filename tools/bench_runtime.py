"""What the pipeline adds to a call: CPU of dispatching a call with seven arguments, less that of the bare call.

Prints a table; a figure beyond its bound is marked, and the exit code is then 1.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

from keel.bundle.contents import Contents, build
from keel.core.finding import NotChecked
from keel.core.model import (
    Contract,
    Effect,
    Grant,
    Idempotency,
    Json,
    Manifest,
    ServerSpec,
    Surface,
    Transport,
)
from keel.lockfile.model import Lock, LockIndex
from keel.lockfile.write import locked_server, locked_tool
from keel.manifest.launch import launch_fingerprint
from keel.runtime import Bundle, Dispatcher, Limits, RunState, ToolCall, TrustedContext
from keel.runtime.clock import SystemClock
from keel.runtime.ports import AuditLog, Reply
from keel.store.audit import AuditFile
from keel.store.ledger_sqlite import SqliteLedger

sys.path.insert(0, str(Path(__file__).parent))
from bench import Table

CALLS = 1000
BATCHES = 3
"""The best of several medians is taken: other programs only add."""
BOUND_MS = 0.3
STORED_BOUND_MS = 3.0
"""With commits to the disk, whose cost is the disk's; this only shows that nothing got out of hand."""
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 200},
        "body": {"type": "string"},
        "priority": {"type": "integer", "minimum": 1, "maximum": 5},
        "public": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
        "owner": {"anyOf": [{"type": "string", "pattern": "^[a-z]+$"}, {"type": "null"}]},
        "due": {"type": "string", "format": "date"},
    },
    "required": ["priority", "title"],
    "additionalProperties": False,
}
ARGUMENTS: Mapping[str, Json] = {
    "title": "A call with seven arguments",
    "body": "As long as such a text usually is, which is a sentence or two. This is the second one.",
    "priority": 3,
    "public": False,
    "tags": ["bench", "dispatch"],
    "owner": "ann",
    "due": "2026-12-01",
}
RESULT: Json = {"id": 42, "status": "open", "url": "https://shop.example/42"}


class Server:
    """A server that answers at once."""

    def __init__(self, surface: Surface) -> None:
        """Offer a surface."""
        self._surface = surface

    async def call(
        self, server: str, tool: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float
    ) -> Reply:
        """Answer."""
        del server, tool, arguments, idempotency_key, timeout_s
        return Reply(data=RESULT)

    async def surface(self, server: str) -> Surface | NotChecked:
        """Return what is offered."""
        del server
        return self._surface

    def endpoint(self, server: str) -> str:
        """Return the URL."""
        del server
        return "https://shop.example/mcp"

    def on_change(self, heard: Callable[[str], None]) -> None:
        """Change nothing, ever."""


class NoAudit(AuditLog):
    """Keeps nothing."""

    async def append(self, event: Mapping[str, Json], *, durable: bool = True) -> None:
        """Forget an event."""

    async def append_all(self, events: Sequence[Mapping[str, Json]], *, durable: bool = True) -> None:
        """Forget some events."""


def made() -> tuple[Bundle, Server]:
    """Return a bundle of a read and a write, and the server that offers both."""
    contracts = {
        "find": Contract(Effect.READ, Idempotency.NATIVE, asserted=True),
        "put": Contract(Effect.WRITE, Idempotency.REQUIRED, asserted=True),
    }
    tools = tuple({"name": name, "description": "Does it.", "inputSchema": SCHEMA} for name in sorted(contracts))
    surface = Surface({"protocolVersion": "2025-11-25", "serverInfo": {"name": "shop", "version": "1"}}, tools)
    spec = ServerSpec("shop", Transport.HTTP, url="https://shop.example/mcp")
    grants = tuple(Grant(f"shop/{name}", item.effect, item.idempotency) for name, item in contracts.items())
    index = LockIndex(
        (locked_server("shop", surface, policy=spec.policy, launch=launch_fingerprint(spec)),),
        tuple(locked_tool(f"shop/{tool['name']}", tool, contracts[tool["name"]]) for tool in tools),
    )
    contents = Contents(
        project="bench",
        flows={},
        sources={},
        lock=Lock(index, {"shop": surface}),
        manifest=Manifest(file="keel.yaml", tools=grants, network=("shop.example",)),
        gate_report={},
        servers=(spec,),
    )
    return Bundle.open(build(contents), allow_unsigned=True), Server(surface)


async def cost(tool: str, folder: Path, *, durable_reads: bool, audited: bool) -> float:
    """Return the milliseconds of CPU that dispatching adds to a call: the best of several medians."""
    bundle, server = made()
    clock = SystemClock()
    ledger = SqliteLedger.open(folder / "state.sqlite", clock)
    audit = AuditFile.open(folder / "audit.jsonl", clock) if audited else None
    limits = Limits(durable_reads=durable_reads)
    dispatcher = Dispatcher(
        bundle, upstream=server, ledger=ledger, audit=audit or NoAudit(), clock=clock, limits=limits
    )
    run, trusted = RunState(bundle, clock), TrustedContext(run_id="bench")
    best = float("inf")
    for batch in range(BATCHES):
        spent = []
        for number in range(CALLS):
            call = ToolCall(call_id=f"{batch}.{number}", name=tool, arguments=ARGUMENTS)
            before = time.process_time()
            result = await dispatcher.dispatch(call, trusted, run)
            between = time.process_time()
            await server.call("shop", tool, ARGUMENTS, idempotency_key="", timeout_s=60.0)
            spent.append(2 * between - before - time.process_time())
            if not result.ok:
                raise SystemExit(f"the call failed: {result.error}")
        best = min(best, median(spent))
    if audit is not None:
        audit.close()
    ledger.close()
    return best * 1000


def main() -> int:
    """Measure, print, and tell whether a bound was missed."""
    table = Table()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def row(what: str, tool: str, bound: float, *, durable: bool, audited: bool) -> None:
            spent = asyncio.run(cost(tool, folder / what, durable_reads=durable, audited=audited))
            table.row(f"dispatch adds, {what}", spent, bound, "ms")

        row("a read, steps alone", "shop/find", BOUND_MS, durable=False, audited=False)
        row("a read, audit file", "shop/find", BOUND_MS, durable=False, audited=True)
        row("a read, ledger and audit file", "shop/find", STORED_BOUND_MS, durable=True, audited=True)
        row("a write, ledger and audit file", "shop/put", STORED_BOUND_MS, durable=True, audited=True)
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
