"""Every project of `fixtures/gates` gets the verdict that it is owed."""

import json
import tomllib
from datetime import date
from pathlib import Path

import pytest

from keel.core.digest import definition_digest, normal_tool
from keel.core.finding import InputErrors, Severity
from keel.core.model import FrozenTool, Manifest, Surface
from keel.flow.read import read_flows
from keel.gates.interface import GateContext
from keel.gates.registry import run_gates
from keel.manifest.parse import parse_manifest
from keel.manifest.policy import contract_for
from keel.store.sources import FileSources

ROOT = Path(__file__).parents[3] / "fixtures" / "gates"
CASES = sorted(path.parent.name for path in ROOT.glob("*/expect.json"))
FOLLOW_UP = {"lock-missing", "lock-stale", "not-awaited", "approval-unseen-call"}
NEEDS_INTROSPECTION = {"validate-native-literal-outside"}
"""Cases whose verdict needs the schema of a native tool, which is derived by running the module."""


def verdict(folder):
    config = tomllib.loads((folder / "keel.toml").read_text())
    manifest = Manifest()
    if (folder / "keel.yaml").exists():
        try:
            manifest = parse_manifest((folder / "keel.yaml").read_text(), "keel.yaml")
        except InputErrors as error:
            return error.findings
    tools, surfaces = {}, {}
    for server in manifest.servers or ():
        data = json.loads((folder / server.surface).read_text())
        wires = tuple(normal_tool(wire) for wire in data["tools"])
        surfaces[server.name] = Surface(data.get("initialize", {}), wires)
        for wire in wires:
            key = f"{server.name}/{wire['name']}"
            contract = contract_for(key, manifest, wire.get("annotations"))
            tools[key] = FrozenTool(key, wire, definition_digest(wire), contract)
    roots = tuple(config.get("source-roots", ["."]))
    program = read_flows(FileSources(folder), flows=tuple(config["flows"]), source_roots=roots)
    return run_gates(
        GateContext(program, manifest, manifest.servers or (), tools, surfaces, date(2026, 1, 1), "keel.toml")
    )


@pytest.mark.parametrize("name", CASES)
def test_verdict(name):
    if name in NEEDS_INTROSPECTION:
        pytest.skip("judged through the command line, after a freeze")
    expect = json.loads((ROOT / name / "expect.json").read_text())
    left = list(verdict(ROOT / name))
    for must in expect["must"]:
        codes = {must["code"], *must.get("or", [])}
        places = {(must.get("file", "flow.py"), must["line"])}
        places |= {(at["file"], at["line"]) for at in must.get("also_at", [])}
        hits = [item for item in left if item.code in codes and (item.location.file, item.location.line) in places]
        assert hits, f"{must} is missing among {[(item.code, item.location.line) for item in left]}"
        left = [item for item in left if item not in hits]
    allowed = {*expect.get("may", []), *FOLLOW_UP}
    for item in left:
        assert item.code not in expect["must_not"], item
        assert item.severity is not Severity.ERROR or (not expect["clean"] and item.code in allowed), item
