"""Which elements of a collection a person was shown, and whether a loop takes each of them once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from keel.analysis.provenance import Seen
from keel.core.graph import Graph, Kind, Value, ValueKind
from keel.gates.collected import Collected, left_early, same_object

_COMPREHENSIONS = frozenset({"listcomp", "setcomp", "dictcomp", "generatorexp"})
_DISPLAYS = frozenset({"list", "tuple", "set", "dict"})
_DISTINCT = frozenset(
    {"set", "frozenset", "setcomp", "dict.fromkeys", "range", ".union", ".intersection", ".difference"}
)
"""What holds no element twice, whatever it is made of."""
_ONE_TO_ONE = _DISPLAYS | frozenset(
    {
        "sorted", "reversed", "enumerate", "zip", "filter", "map", "iter", "slice", "member", "items",
        "copy.copy", "copy.deepcopy", "collections.deque", "itertools.islice", "itertools.takewhile",
        "itertools.dropwhile", "itertools.filterfalse", "itertools.batched", ".copy", ".keys", ".values", ".get",
        ".split", ".rsplit", ".splitlines", "json.loads", "re.split", "re.findall",
    }
)  # fmt: skip
"""What has each element of its operands at most once."""
_LEAVES = (
    ValueKind.PARAMETER,
    ValueKind.RESULT,
    ValueKind.OUTSIDE,
    ValueKind.PART,
    ValueKind.ELEMENT,
    ValueKind.LITERAL,
    ValueKind.APPROVAL,
)


@dataclass(frozen=True)
class WrittenOut:
    """What a text shows beyond the values that stand in it, because it was written element by element."""

    shown: tuple[int, ...]
    collections: frozenset[int]
    """Collections of which something of every element was shown."""


def written_out(graph: Graph, gate: int, lists: Collected) -> WrittenOut:
    """Return what is shown by texts that join or collect a line for every element of a collection.

    Args:
        graph: the flow.
        gate: the step at which somebody is asked.
        lists: the lists of the flow that are built line by line.
    """
    shown = graph.nodes[gate].shown
    extra: dict[int, None] = {}
    collections: set[int] = set()
    while True:
        before = len(extra), len(collections)
        for index in Seen(graph, (*shown, *extra)).values:
            for source, visible in _lines(graph, index, extra):
                _take(graph, source, visible, extra, collections)
            _take_added(graph, lists, same_object(graph, index), gate, extra, collections)
        if (len(extra), len(collections)) == before:
            return WrittenOut(tuple(extra), frozenset(collections))


def _lines(graph: Graph, index: int, extra: dict[int, None]) -> Iterator[tuple[int, frozenset[int]]]:
    """Yield the collection and what is visible of each of its elements, for a value that has a line for every one."""
    item = graph.values[index]
    if item.kind is ValueKind.DERIVED and item.name in _COMPREHENSIONS and len(item.hidden) == 1:
        yield item.hidden[0], Seen(graph, item.operands).values
    elif item.kind is ValueKind.MERGED and item.node >= 0 and graph.nodes[item.node].kind is Kind.LOOP:
        source = graph.nodes[item.node].source
        grown = [part for part in item.operands if index in _text(graph, part, index)]
        if source >= 0 and len(item.operands) == 2 and len(grown) == 1 and not left_early(graph, item.node):
            extra.update((part, None) for part in item.operands if part not in grown)
            yield source, _text(graph, grown[0], index) - {index}


def _text(graph: Graph, value: int, end: int) -> frozenset[int]:
    """Return the pieces of a text, and the text it was before if that is among them."""
    found: set[int] = set()
    stack = [value]
    while stack:
        index = stack.pop()
        if index not in found:
            found.add(index)
            item = graph.values[index]
            if index != end and item.kind in (ValueKind.BOUND, ValueKind.RENDERED):
                stack.extend(item.operands)
    return frozenset(found)


def _take_added(
    graph: Graph, lists: Collected, index: int, gate: int, extra: dict[int, None], collections: set[int]
) -> None:
    """Take what was put into a list before a gate, and every element of which a loop put something in."""
    for loop, added in lists.before(index, gate):
        if loop < 0:
            extra.update((value, None) for value in added)
        elif graph.nodes[loop].source >= 0:
            _take(graph, graph.nodes[loop].source, Seen(graph, added).values, extra, collections)


def _take(graph: Graph, source: int, visible: frozenset[int], extra: dict[int, None], collections: set[int]) -> None:
    for index in visible:
        item = graph.values[index]
        if _is_element(graph, index, source):
            extra[source] = None
            collections.add(source)
        elif item.kind is ValueKind.PART and item.key is not None and _is_element(graph, item.operands[0], source):
            held = graph.values[_plain(graph, source)]
            if held.name == "enumerate":
                if item.key == "1":
                    extra[held.operands[0]] = None
                    collections.add(held.operands[0])
                continue
            collections.add(source)
            extra.update((part, None) for part in _same_parts(graph, source, item))


def _same_parts(graph: Graph, source: int, wanted: Value) -> Iterator[int]:
    for index, item in enumerate(graph.values):
        same = item.kind is ValueKind.PART and item.key == wanted.key and item.name == wanted.name
        if same and _is_element(graph, item.operands[0], source):
            yield index


def _is_element(graph: Graph, value: int, source: int) -> bool:
    item = graph.values[_plain(graph, value)]
    return item.kind is ValueKind.ELEMENT and _plain(graph, item.operands[0]) == _plain(graph, source)


def _plain(graph: Graph, value: int) -> int:
    while graph.values[value].kind is ValueKind.BOUND:
        value = graph.values[value].operands[0]
    return value


def taken_once(graph: Graph, source: int, shown: frozenset[int]) -> bool:
    """Tell whether a collection has every element at most as often as what was shown.

    Args:
        graph: the flow.
        source: the collection that a loop iterates.
        shown: the values that can be read where the approval was asked.
    """
    stack, done = [source], set[int]()
    while stack:
        index = stack.pop()
        item = graph.values[index]
        if index in done or (index in shown and item.kind is not ValueKind.LITERAL) or item.kind in _LEAVES:
            continue
        done.add(index)
        operands = _taken_from(graph, index)
        if operands is None:
            return False
        stack.extend(operands)
    return True


def _taken_from(graph: Graph, index: int) -> tuple[int, ...] | None:
    """Return the collections of which a value has each element once; None where it may have one more often."""
    item = graph.values[index]
    if index in graph.contents:
        return None
    if item.kind in (ValueKind.BOUND, ValueKind.MERGED):
        return item.operands
    if item.name in _DISTINCT:
        return ()
    if item.name in _COMPREHENSIONS:
        return item.hidden[-1:] if item.operands and item.hidden and _each_once(graph, item) else None
    operands = tuple(_plain(graph, part) for part in item.operands)
    told = [part for part in operands if graph.values[part].kind is not ValueKind.LITERAL]
    if item.name not in _ONE_TO_ONE or len(set(told)) < len(told):
        return None
    # a display of several is a collection of them, not of their elements
    return operands if item.name not in _DISPLAYS or len(operands) == 1 else ()


def _each_once(graph: Graph, item: Value) -> bool:
    """Tell whether every round of a comprehension puts in something of its own element."""
    return any(
        _is_element(graph, part, item.hidden[-1]) for operand in item.operands for part in _inside(graph, operand)
    )


def _inside(graph: Graph, value: int) -> set[int]:
    found: set[int] = set()
    stack = [value]
    while stack:
        index = stack.pop()
        if index not in found:
            found.add(index)
            stack.extend(graph.values[index].operands)
    return found
