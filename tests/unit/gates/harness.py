"""Judges flow modules given as text, with a small manifest."""

from __future__ import annotations

import textwrap
from datetime import date

from keel.core.finding import Finding, Severity
from keel.core.model import Effect, Grant, Idempotency, Manifest, ServerSpec, Transport
from keel.flow.modules import MemorySources
from keel.flow.read import Program, read_flows
from keel.gates.interface import GateContext
from keel.gates.registry import run_gates

HEADER = """import asyncio, contextlib, functools
from keel import Agent, Approval, ApprovalDenied, Reasoner, flow, gated, hedge, human_gate, mcp_tool, quorum, race, think, tool
refund = mcp_tool("pay", "refund")
get = mcp_tool("pay", "get")
note = mcp_tool("pay", "note")
"""
LINES = HEADER.count("\n")

PAY = Manifest(
    file="keel.yaml",
    servers=(ServerSpec("pay", Transport.SURFACE),),
    tools=(
        Grant("pay/refund", Effect.DANGEROUS, Idempotency.NONE),
        Grant("pay/get", Effect.READ, Idempotency.NATIVE),
        Grant("pay/note", Effect.WRITE, Idempotency.NONE),
    ),
)


def read(text: str, others: dict[str, str] | None = None, header: str = HEADER) -> Program:
    """Read one flow module, with other modules beside it."""
    texts = {"flow.py": header + textwrap.dedent(text)}
    texts.update({name: textwrap.dedent(source) for name, source in (others or {}).items()})
    return read_flows(MemorySources(texts), flows=("flow.py",), source_roots=(".",))


def judge(
    text: str, others: dict[str, str] | None = None, *, manifest: Manifest = PAY, header: str = HEADER
) -> tuple[Finding, ...]:
    """Return every finding of the gates over a module."""
    program = read(text, others, header)
    return run_gates(GateContext(program, manifest, manifest.servers or (), None, {}, date(2026, 1, 1), "keel.toml"))


def errors(text: str, others: dict[str, str] | None = None, **options: object) -> set[str]:
    """Return the codes of the errors of a module."""
    found = judge(text, others, **options)  # type: ignore[arg-type]
    return {item.code for item in found if item.severity is Severity.ERROR}
