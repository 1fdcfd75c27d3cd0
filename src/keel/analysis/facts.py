"""What is known on an edge: the truth of a value, carried backwards through names, flags and places where ways meet."""

from __future__ import annotations

from keel.core.graph import Edge, Graph, ValueKind

Fact = tuple[int, bool]
Facts = frozenset[Fact]
IMPOSSIBLE = None
"""Two facts contradict each other: no run takes this way."""

MAX_FACTS = 12
"""More facts than this are forgotten; knowing less is always sound."""


def canonical(graph: Graph, fact: Fact) -> Fact:
    """Return the value that decides a fact, past names and `bool(…)`, and `.approved` of an answer."""
    value, truth = fact
    while True:
        item = graph.values[value]
        if (
            item.kind is ValueKind.BOUND
            or (item.kind is ValueKind.DERIVED and item.name == "bool" and len(item.operands) == 1)
            or (item.kind is ValueKind.PART and item.key == ".approved")
            # a member of a container that nobody changes is that member
            or (item.name == "member" and item.hidden[0] not in graph.contents)
        ):
            value = item.operands[0]
        else:
            return value, truth


_COMPREHENSIONS = frozenset({"listcomp", "setcomp", "generatorexp"})
_DISPLAYS = frozenset({"list", "set", "tuple"})


def decided(graph: Graph, fact: Fact, depth: int = 4) -> tuple[Fact, ...]:
    """Return what a fact tells of answers and flags: the members of a true `all(…)` are true.

    Args:
        graph: the flow.
        fact: a value and its truth.
        depth: how many containers inside each other are looked into.
    """
    value, truth = canonical(graph, fact)
    item = graph.values[value]
    if (
        depth
        and item.kind is ValueKind.DERIVED
        and item.name == ("all" if truth else "any")
        and len(item.operands) == 1
    ):
        members = _members(graph, item.operands[0], depth)
        return tuple(told for member in members for told in decided(graph, (member, truth), depth - 1))
    return ((value, truth),)


def _members(graph: Graph, container: int, depth: int) -> tuple[int, ...]:
    """Return members of a container that nobody changes; of a comprehension the one that its last round made."""
    item = graph.values[container]
    while item.kind is ValueKind.BOUND:
        container = item.operands[0]
        item = graph.values[container]
    if container in graph.contents or not depth:
        return ()
    if item.name in _DISPLAYS:
        answers = (canonical(graph, (part, True))[0] for part in item.operands)
        return tuple(part for part in answers if graph.values[part].kind is ValueKind.APPROVAL)
    if item.name not in _COMPREHENSIONS or len(item.operands) != 1:
        return ()
    member = canonical(graph, (item.operands[0], True))[0]
    drawn = graph.values[member]
    if drawn.kind is ValueKind.ELEMENT and item.hidden == drawn.operands:
        return _members(graph, drawn.operands[0], depth - 1)
    return (member,)


def add(graph: Graph, facts: Facts, fact: Fact) -> Facts | None:
    """Add a fact; returns None when it contradicts one that is there."""
    known: Facts | None = facts
    for item in decided(graph, fact):
        known = _add(graph, known, item) if known is not None else None
    return known


def _add(graph: Graph, facts: Facts, fact: Fact) -> Facts | None:
    value, truth = fact
    item = graph.values[value]
    if item.kind is ValueKind.LITERAL:
        known = literal_truth(item.key)
        return facts if known is None or known is truth else IMPOSSIBLE
    if item.kind not in (ValueKind.APPROVAL, ValueKind.MERGED):
        return facts
    if (value, not truth) in facts:
        return IMPOSSIBLE
    if len(facts) >= MAX_FACTS:
        return facts
    return facts | {(value, truth)}


def literal_truth(text: str | None) -> bool | None:
    """Return the truth of a literal by its JSON text; a name that is not bound cannot be tested at all."""
    if text is None or text.startswith("<"):
        return None
    return text not in ("null", "false", "0", "0.0", '""')


def backwards(graph: Graph, facts: Facts, edge: Edge) -> Facts | None:
    """Carry facts from the end of an edge to its beginning; None when no run takes the edge with them."""
    moved = facts
    for merged, operand in edge.merges:
        for truth in (True, False):
            if (merged, truth) in moved:
                moved = moved - {(merged, truth)}
                if graph.values[operand].key == "<unbound>":
                    return IMPOSSIBLE
                added = add(graph, moved, (operand, truth))
                if added is None:
                    return IMPOSSIBLE
                moved = added
    if edge.fact is not None:
        return add(graph, moved, edge.fact)
    return moved
