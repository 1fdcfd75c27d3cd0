"""What runs at the same time: a sibling that changes what a call uses may do so between the approval and the call."""

from __future__ import annotations

from collections.abc import Iterable

from keel.core.graph import Kind, Node, Span
from keel.flow.build import Builder

_STARTED = frozenset({"create_task", "TaskGroup", "shield"})
"""Regions whose branches go on beside what follows, until somebody awaits them."""


def settle(b: Builder, places: Iterable[int]) -> None:
    """Give the nodes that stand before calls what may be changed there by code that runs at the same time.

    Args:
        b: the graph, read to its end.
        places: nodes that hold the place of such changes.
    """
    held: dict[int, set[int]] = {}
    for value in b.values:
        if value.node >= 0 and value.hidden:
            held.setdefault(value.node, set()).update(value.hidden)
    changes = [(at, node) for at, node in enumerate(b.nodes) if node.kind is Kind.CHANGE and node.regions]
    done: dict[Span, list[int]] = {}
    for at, node in enumerate(b.nodes):
        if node.kind is Kind.CHANGE and node.echo:
            done.setdefault(node.span, []).append(at)
    for place in places:
        found: set[int] = set()
        for at, node in changes:
            if _beside(b, place, at, node, done):
                found.update(node.changes, held.get(at, ()))
        if found:
            text = "a branch that runs at the same time"
            b.update(place, kind=Kind.CHANGE, changes=tuple(sorted(found)), text=text)


def _beside(b: Builder, place: int, at: int, change: Node, done: dict[Span, list[int]]) -> bool:
    """Tell whether a change may happen while control stands at a place."""
    mine = dict(b.nodes[place].regions)
    for region, branch in change.regions:
        if region in mine:
            if mine[region] != branch:
                return True
        elif b.regions[region].name in _STARTED and at < place:
            return not any(at < end < place for end in done.get(change.span, ()))
    return False
