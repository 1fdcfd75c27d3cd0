"""A fresh project folder for each acceptance test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.harness import Keel, put, surface, tool

MANIFEST = """\
version: 1
servers:
  alpha: {surface: alpha.json}
  beta: {surface: beta.json}
tools:
  - {tool: alpha/read, effect: read, idempotency: native}
  - {tool: alpha/wipe, effect: dangerous, idempotency: none}
  - beta/*
"""
FLOW = '''\
"""Flows of the acceptance tests."""

from keel import flow, human_gate, mcp_tool

read = mcp_tool("alpha", "read")
wipe = mcp_tool("alpha", "wipe")


@flow
async def settle(q: str) -> None:
    await read(q=q)
    await human_gate(f"wipe {q}?")
    await wipe(q=q)
'''


@pytest.fixture
def keel(tmp_path: Path) -> Keel:
    """Return a runner in an empty folder."""
    return Keel(tmp_path)


@pytest.fixture
def project(keel: Keel) -> Keel:
    """Return a runner in a small project of two servers given as surface files, and one sound flow."""
    put(
        keel.root,
        {
            "keel.yaml": MANIFEST,
            "flows.py": FLOW,
            "alpha.json": surface(tool("read"), tool("wipe")),
            "beta.json": surface(tool("look")),
        },
    )
    return keel
