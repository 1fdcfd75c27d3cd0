"""Projects on disk for run-time tests: frozen and bundled by the commands that users run."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from keel.app.bundle import bundle as make_bundle
from keel.app.context import Context
from keel.app.freeze import FreezeOptions, freeze
from keel.runtime.bundle import Bundle
from keel.store.project import find_project

SURFACE = """
{"initialize": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "bank", "version": "1.0"}, "capabilities": {"tools": {}}},
 "tools": [
  {"name": "pay", "description": "Pay an amount to a payee.", "inputSchema": {"type": "object", "properties": {
    "payee": {"type": "string"}, "amount": {"type": "integer"}}, "required": ["payee", "amount"], "additionalProperties": false}},
  {"name": "find", "description": "Find an account by its name.", "inputSchema": {"type": "object", "properties": {
    "name": {"type": "string"}}, "required": ["name"], "additionalProperties": false},
   "outputSchema": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}},
  {"name": "note", "description": "Leave a note on an account.", "inputSchema": {"type": "object", "properties": {
    "text": {"type": "string"}}, "required": ["text"], "additionalProperties": false}}
 ]}
"""
MANIFEST = """
version: 1
defaults: {timeout_s: 5}
servers:
  bank: {surface: bank.json}
tools:
  - {tool: bank/pay, effect: dangerous, idempotency: none}
  - {tool: bank/find, effect: read, idempotency: native}
  - {tool: bank/note, effect: write, idempotency: required}
  - look
  - wipe
network: []
"""
HEAD = """
import asyncio
from functools import partial
from keel import (
    Agent, ApprovalDenied, Reasoner, ToolCallError, flow, gated, hedge, human_gate, mcp_tool, quorum, race, think, tool
)

pay = mcp_tool("bank", "pay")
find = mcp_tool("bank", "find")
note = mcp_tool("bank", "note")

@tool(effect="read", idempotent=True)
def look(ticket: str) -> dict[str, int]:
    "Look a ticket up by its number."
    return {"amount": len(ticket)}

@tool(effect="dangerous")
def wipe(place: str, times: int = 1) -> str:
    "Wipe a place clean."
    return f"wiped {place}"
"""


@dataclass(frozen=True)
class Made:
    """A project with its bundle."""

    root: Path
    bundle: Bundle
    data: bytes


def make(
    root: Path, flows: str, *, manifest: str = MANIFEST, settings: str = "", extra: dict[str, str] | None = None
) -> Made:
    """Write a project with the flows, freeze it and bundle it; fails with the findings if it cannot be bundled."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "keel.toml").write_text(f'flows = ["flows.py"]\n{settings}')
    (root / "keel.yaml").write_text(manifest)
    (root / "bank.json").write_text(SURFACE)
    (root / "flows.py").write_text(HEAD + textwrap.dedent(flows))
    for name, text in (extra or {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text))

    def context() -> Context:
        return Context(project=find_project(root), environ={}, today=date(2026, 1, 1))

    freeze(context(), FreezeOptions())
    file = root / "dist" / "project.keel"
    outcome = make_bundle(context(), file)
    assert file.exists(), [f"{item.code}: {item.message}" for item in outcome.report.findings]
    data = file.read_bytes()
    return Made(root, Bundle.open(data, allow_unsigned=True), data)
