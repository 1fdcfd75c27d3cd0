"""Flow graphs as a bundle carries them: every call bound to definition, contract and the gates that cover it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from keel.core.digest import execution_digest
from keel.core.graph import Cover, FlowGraph, graph_value
from keel.core.model import FrozenTool


def bound_graph(name: str, flow: FlowGraph, tools: Mapping[str, FrozenTool], covers: Iterable[Cover]) -> dict[str, Any]:
    """Return a flow's graph as JSON.

    Args:
        name: what the flow is called by, short or `module:flow`.
        flow: its graph.
        tools: the frozen tools; a call to any other is left unbound, which the gates refuse.
        covers: what each gate covers; those of other flows are left out.

    Returns:
        `graph_value` with `definition`, `execution`, `contract` and `covered_by` on each call, and all `covers`:
        the sites and the arguments shown for which each gate grants one use.
    """
    own = [cover for cover in covers if cover.flow == name]
    gates: dict[str, list[str]] = {}
    for cover in own:
        for place, _ in cover.sites:
            gates.setdefault(_place(place), []).append(_place(cover.gate))
    value: dict[str, Any] = graph_value(flow)
    for node in value["nodes"]:
        tool = tools.get(node.get("key", "")) if node["kind"] == "call" else None
        if tool is not None:
            node["definition"] = tool.digest
            node["execution"] = execution_digest(tool.digest, tool.contract)
            node["contract"] = [tool.contract.effect.value, tool.contract.idempotency.value, tool.contract.asserted]
        if node["kind"] == "call":
            node["covered_by"] = sorted(set(gates.get(_place(node["site"]), ())))
    value["covers"] = [
        {
            "gate": _place(cover.gate),
            "sites": [{"at": _place(place), "arguments": list(names)} for place, names in cover.sites],
        }
        for cover in own
    ]
    return value


def _place(site: str) -> str:
    """Return `file:line:column` of a site."""
    return site.partition("@")[2]
