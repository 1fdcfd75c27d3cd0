"""`keel graph`: a flow drawn with its gates and the calls that need approval."""

from __future__ import annotations

from keel.app.check import gate_context
from keel.app.context import Context
from keel.app.flows import read_flows
from keel.bundle.graphs import bound_graph
from keel.core.text import did_you_mean
from keel.errors import UsageError
from keel.gates.approval import needs_approval
from keel.gates.interface import GateContext
from keel.gates.registry import covering
from keel.report.graph import DRAWINGS
from keel.store.locks import load


def graph(context: Context, flow: str, drawing: str) -> str:
    """Return one flow drawn, or all of them when no name is given.

    Raises:
        UsageError: if there is no such flow or no such drawing.
        InputErrors: if the lock cannot be read.
    """
    if drawing not in DRAWINGS:
        raise UsageError(f"`{drawing}` is not a drawing", hint=f"use one of {', '.join(DRAWINGS)}")
    flows = read_flows(context)
    named = flows.program.flow_names
    if flow and flow not in named:
        hint = did_you_mean(flow, named) or f"flows: {', '.join(sorted(named)) or 'none'}"
        raise UsageError(f"there is no flow `{flow}`", hint=hint)
    gates = gate_context(context, flows, load(context.files))
    covers, tools = covering(gates), gates.tools or {}
    wanted = [flow] if flow else sorted(named)
    graphs = [bound_graph(name, named[name], tools, covers) for name in wanted]
    return "\n".join(DRAWINGS[drawing](value, _needing(value, gates)) for value in graphs)


def _needing(value: dict[str, object], gates: GateContext) -> frozenset[str]:
    nodes = value["nodes"]
    assert isinstance(nodes, list)
    keys = {str(node.get("key")) for node in nodes if node["kind"] == "call"}
    return frozenset(key for key in keys if needs_approval(gates, key))
