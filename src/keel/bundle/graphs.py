"""Flow graphs as a bundle carries them: every call bound to definition, contract and the gates that cover it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from keel.core.digest import execution_digest
from keel.core.graph import Cover, FlowGraph, Kind, Node, graph_value
from keel.core.model import FrozenTool, split_key


def bound_graph(
    name: str,
    flow: FlowGraph,
    tools: Mapping[str, FrozenTool],
    covers: Iterable[Cover],
    held: Mapping[str, Iterable[str]] | None = None,
) -> dict[str, Any]:
    """Return a flow's graph as JSON.

    Args:
        name: what the flow is called by, short or `module:flow`.
        flow: its graph.
        tools: the frozen tools; a call to any other is left unbound, which the gates refuse.
        covers: what each gate covers; those of other flows are left out.
        held: name of an agent to the keys of all tools that it may call.

    Returns:
        `graph_value` with `definition`, `execution`, `contract` and `covered_by` on each call; `tools` and `servers`
        that the flow or its agents may call; and all `covers`: the sites and the arguments shown for which each gate
        grants one use, or with `each` one for every element of what it showed.
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
            "sites": [
                {"at": _place(place), "arguments": list(names), "each": _per_element(flow, cover.gate, place)}
                for place, names in cover.sites
            ],
        }
        for cover in own
    ]
    value["tools"] = sorted(_callable(flow, held or {}))
    value["servers"] = sorted({server for key in value["tools"] if (server := split_key(key)[0])})
    return value


def _callable(flow: FlowGraph, held: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the keys of all tools that a flow or an agent of it may call."""
    found: set[str] = set()
    for node in flow.graph.nodes:
        if node.kind is Kind.CALL and not node.dead:
            found.add(node.key)
        elif node.kind is Kind.AGENT and not node.dead:
            found.update(held.get(node.key, ()))
    return found


def _per_element(flow: FlowGraph, gate: str, call: str) -> bool:
    """Tell whether a call stands in a loop in which its gate does not: one approval then admits it once a round.

    The approval gate has proved that each round takes another element of what the person was shown.
    """
    gates = list(_at(flow, Kind.GATE, gate))
    return any(set(node.loops) - set(asked.loops) for node in _at(flow, Kind.CALL, call) for asked in gates)


def _at(flow: FlowGraph, kind: Kind, place: str) -> Iterator[Node]:
    at = _place(place)
    return (node for node in flow.graph.nodes if node.kind is kind and not node.dead and str(node.span) == at)


def _place(site: str) -> str:
    """Return `file:line:column` of a site."""
    return site.partition("@")[2]
