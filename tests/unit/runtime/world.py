"""A small bundle and a dispatcher around fakes, for the tests of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keel.bundle.contents import Contents, build
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
from keel.core.redact import Redactor
from keel.lockfile.model import NATIVE_SURFACE, Lock, LockIndex
from keel.lockfile.write import locked_server, locked_tool
from keel.manifest.launch import launch_fingerprint
from keel.runtime.budget import RunState
from keel.runtime.bundle import Bundle
from keel.runtime.dispatch import Dispatcher
from keel.runtime.limits import Limits
from keel.runtime.model import ToolCall, ToolResult, TrustedContext
from tests.fakes.ports import FakeNativeTools, FakeUpstream, FixedClock, ListAudit, MemoryLedger

READ = Contract(Effect.READ, Idempotency.NATIVE, asserted=True)
WRITE = Contract(Effect.WRITE, Idempotency.NONE, asserted=True)
KEYED = Contract(Effect.WRITE, Idempotency.REQUIRED, asserted=True)
DANGEROUS = Contract(Effect.DANGEROUS, Idempotency.REQUIRED, asserted=True)

TEXT = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": False}


def wire(name: str, schema: Json = TEXT, output: Json = None, **more: Json) -> dict[str, Json]:
    found: dict[str, Json] = {"name": name, "description": f"Does {name}.", "inputSchema": schema, **more}
    return found if output is None else {**found, "outputSchema": output}


CONTRACTS = {"find": READ, "note": WRITE, "put": KEYED, "refund": DANGEROUS, "hidden": WRITE, "strict": WRITE}
SURFACE = Surface(
    {"protocolVersion": "2025-11-25", "serverInfo": {"name": "shop", "version": "1"}},
    tuple(
        wire(name, output={"type": "object", "required": ["ok"]} if name == "strict" else None)
        for name in sorted(CONTRACTS)
    ),
)
NATIVE = Surface({}, (wire("lookup"),))
GRANTS = tuple(
    Grant(f"shop/{name}", contract.effect, contract.idempotency, max_calls=1000)
    for name, contract in CONTRACTS.items()
    if name != "hidden"
)
SPEC = ServerSpec("shop", Transport.HTTP, url="https://shop.example/mcp")


def manifest(**changes: Any) -> Manifest:
    given: dict[str, Any] = {"file": "keel.yaml", "tools": (*GRANTS, Grant("lookup")), **changes}
    return Manifest(**given)


def bundle_bytes(
    held: Manifest | None = None, *, spec: ServerSpec = SPEC, surface: Surface = SURFACE, **more: Any
) -> bytes:
    tools = [locked_tool(f"shop/{tool['name']}", tool, CONTRACTS.get(tool["name"], WRITE)) for tool in surface.tools]
    tools.append(locked_tool("lookup", NATIVE.tools[0], READ, source="k1:" + "0" * 64, body="k1:" + "0" * 64))
    index = LockIndex(
        (locked_server("shop", surface, policy=spec.policy, launch=launch_fingerprint(spec)),), tuple(tools)
    )
    return build(
        Contents(
            project="p",
            flows={},
            sources={},
            lock=Lock(index, {"shop": surface, NATIVE_SURFACE: NATIVE}),
            manifest=held or manifest(),
            gate_report={"findings": []},
            servers=(spec,),
            **more,
        )
    )


@dataclass
class World:
    """Everything that a test looks at."""

    bundle: Bundle
    upstream: FakeUpstream
    native: FakeNativeTools
    clock: FixedClock
    ledger: MemoryLedger
    audit: ListAudit
    dispatcher: Dispatcher
    run: RunState
    trusted: TrustedContext = field(default_factory=lambda: TrustedContext(run_id="run-1"))

    async def call(
        self, name: str, call_id: str = "c1", *, trusted: TrustedContext | None = None, **more: Any
    ) -> ToolResult:
        arguments = more.pop("arguments", {"q": "x"})
        call = ToolCall(call_id=call_id, name=name, arguments=arguments, operation=more.pop("operation", ""))
        return await self.dispatcher.dispatch(call, trusted or self.trusted, more.pop("run", self.run), **more)


def world(
    held: Manifest | None = None,
    *,
    live: Surface | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    policy: Any = None,
    secrets: tuple[str, ...] = (),
    spec: ServerSpec = SPEC,
    sources: Mapping[str, Mapping[str, str]] | None = None,
    **more: Any,
) -> World:
    """Return a bundle with a server `shop` and a native tool, and a dispatcher for it.

    Args:
        held: the manifest.
        live: what the server offers now; what was frozen by default.
        limits: of the dispatcher.
        policy: of the host.
        secrets: what the redactor knows.
        spec: the server.
        sources: the project's `secrets`.
        more: for `bundle_bytes`.
    """
    bundle = Bundle.open(bundle_bytes(held, spec=spec, secrets=sources or {}, **more), allow_unsigned=True)
    clock, native, audit = FixedClock(), FakeNativeTools(), ListAudit()
    upstream = FakeUpstream(surfaces={"shop": live or more.get("surface", SURFACE)}, endpoints={"shop": spec.url})
    ledger = MemoryLedger(clock)
    dispatcher = Dispatcher(
        bundle,
        upstream=upstream,
        ledger=ledger,
        audit=audit,
        native=native,
        policy=policy,
        clock=clock,
        redactor=Redactor(secrets),
        limits=limits,
    )
    return World(bundle, upstream, native, clock, ledger, audit, dispatcher, RunState(bundle, clock, run_id="run-1"))
