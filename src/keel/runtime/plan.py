"""What the bundle's graph of a flow says of its steps: which exist where, and which gates cover them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True, slots=True)
class Planned:
    """One call as the graph has it."""

    key: str
    covered_by: tuple[str, ...] = ()
    """Places of the gates whose approval admits it."""
    gated: bool = False


@dataclass(frozen=True)
class Plan:
    """Steps of one flow by their place, `file:line:column`."""

    name: str
    graph: Mapping[str, Any]

    @cached_property
    def _nodes(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(self.graph.get("nodes", ()))

    @cached_property
    def _calls(self) -> Mapping[tuple[str, str], Planned]:
        found: dict[tuple[str, str], Planned] = {}
        for node in self._nodes:
            if node["kind"] != "call":
                continue
            at = (node["at"], node.get("key", ""))
            before = found.get(at, Planned(at[1], gated=bool(node.get("gated"))))
            covered = tuple(dict.fromkeys((*before.covered_by, *node.get("covered_by", ()))))
            found[at] = Planned(at[1], covered, before.gated)
        return found

    @cached_property
    def _others(self) -> frozenset[tuple[str, str, str]]:
        return frozenset((node["kind"], node["at"], node.get("key", "")) for node in self._nodes)

    @cached_property
    def _covers(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        return {
            cover["gate"]: {item["at"]: tuple(item["arguments"]) for item in cover["sites"]}
            for cover in self.graph.get("covers", ())
        }

    @cached_property
    def _each(self) -> Mapping[str, frozenset[str]]:
        return {
            cover["gate"]: frozenset(item["at"] for item in cover["sites"] if item.get("each"))
            for cover in self.graph.get("covers", ())
        }

    def call(self, place: str, key: str) -> Planned | None:
        """Return the call of a tool at a place, or None if the graph has none."""
        return self._calls.get((place, key))

    def has(self, kind: str, place: str, key: str = "") -> bool:
        """Tell whether the graph has a step of a kind (`gate`, `think`, `agent`) at a place."""
        return (kind, place, key) in self._others

    def shown(self, gate: str, place: str) -> tuple[str, ...] | None:
        """Return the arguments of a call that a gate shows, or None if it does not cover the call."""
        return self._covers.get(gate, {}).get(place)

    def repeats(self, gate: str, place: str) -> bool:
        """Tell whether one approval of a gate covers a call once for each element of what it showed."""
        return place in self._each.get(gate, ())
