"""Which elements of a collection a person was shown, and whether a loop takes each of them once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from keel.analysis.changes import Changes
from keel.analysis.provenance import visible
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
_COPIES = frozenset(
    {"list*", "tuple*", "sorted", "reversed", "iter", "copy.copy", "copy.deepcopy", ".copy", "list", "tuple"}
)
"""What has the elements of one operand and no others; of a display with one member the member stands for it."""
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
    """What can be read where somebody is asked."""

    shown: frozenset[int]
    collections: frozenset[int]
    """Collections of which something of every element was shown."""


def written_out(graph: Graph, gate: int, lists: Collected, changes: Changes) -> WrittenOut:
    """Return what is shown, also by texts that join or collect a line for every element of a collection.

    Args:
        graph: the flow.
        gate: the step at which somebody is asked.
        lists: the lists of the flow that are built line by line.
        changes: where objects are changed.
    """
    return _Reading(graph, gate, lists, changes).all()


class _Reading:
    """Reads what a gate shows, until nothing more is found."""

    def __init__(self, graph: Graph, gate: int, lists: Collected, changes: Changes) -> None:
        self.graph = graph
        self.gate = gate
        self.lists = lists
        self.changes = changes
        self.shown = dict.fromkeys(graph.nodes[gate].shown, gate)
        """Values, each with the last step before it was written out."""
        self.collections: set[int] = set()

    def all(self) -> WrittenOut:
        """Return what can be read."""
        while True:
            before = len(self.shown), len(self.collections)
            readable = self._readable(self.shown.items())
            for index, since in readable.items():
                self._lines(index, since)
                self._added(same_object(self.graph, index))
            if (len(self.shown), len(self.collections)) == before:
                return WrittenOut(frozenset(readable), frozenset(self.collections))

    def _readable(self, shown: Iterable[tuple[int, int]]) -> dict[int, int]:
        return visible(
            self.graph,
            shown,
            lambda value, since: self.changes.between(value, since, self.gate),
            lambda value: self.changes.kept(value, self.gate),
        )

    def _show(self, value: int, since: int) -> None:
        self.shown[value] = max(since, self.shown.get(value, since))

    def _lines(self, index: int, since: int) -> None:
        """Take the collection that a comprehension or a text goes through, which has a line for every element."""
        graph = self.graph
        item = graph.values[index]
        if item.kind is ValueKind.DERIVED and item.name in _COMPREHENSIONS and len(item.hidden) == 1:
            since = item.node if item.node >= 0 else since
            self._take(item.hidden[0], ((part, since) for part in item.operands), since)
        elif item.kind is ValueKind.MERGED and item.node >= 0 and graph.nodes[item.node].kind is Kind.LOOP:
            source = graph.nodes[item.node].source
            grown = [part for part in item.operands if index in _text(graph, part, index)]
            if source >= 0 and len(item.operands) == 2 and len(grown) == 1 and not left_early(graph, item.node):
                for part in item.operands:
                    if part not in grown:
                        self._show(part, since)
                pieces = _text(graph, grown[0], index) - {index}
                self._take(source, ((piece, item.node) for piece in pieces), item.node)

    def _added(self, index: int) -> None:
        """Take what was put into a list before the gate, and every element of which a loop put something in."""
        for loop, change in self.lists.before(index, self.gate):
            added = ((value, change) for value in self.graph.nodes[change].shown)
            if loop >= 0 and self.graph.nodes[loop].source >= 0:
                self._take(self.graph.nodes[loop].source, added, loop)
            elif loop < 0:
                for value, since in added:
                    self._show(value, since)

    def _take(self, source: int, written: Iterable[tuple[int, int]], since: int) -> None:
        """Take a collection if something of its element is written in each round of a loop over it."""
        graph = self.graph
        for index in self._readable(written):
            item = graph.values[index]
            if _is_element(graph, index, source):
                self._collect(source, since)
                self._show(source, since)
            elif item.kind is ValueKind.PART and item.key is not None and _is_element(graph, item.operands[0], source):
                held = graph.values[_plain(graph, source)]
                if held.name != "enumerate":
                    self._collect(source, since)
                    for part in _same_parts(graph, source, item):
                        self._show(part, since)
                elif item.key == "1":
                    self._collect(held.operands[0], since)
                    self._show(held.operands[0], since)

    def _collect(self, source: int, since: int) -> None:
        if not self.changes.between(source, since, self.gate):
            self.collections.add(source)


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


def _original(graph: Graph, value: int) -> int:
    """Return what a value is under another name, or a copy of."""
    while True:
        item = graph.values[value]
        if item.kind is ValueKind.BOUND or (item.name in _COPIES and len(item.operands) == 1):
            value = item.operands[0]
        elif item.name in _COMPREHENSIONS and item.hidden and _is_element(graph, item.operands[0], item.hidden[-1]):
            value = item.hidden[-1]
        else:
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
    operands = tuple(_original(graph, part) for part in item.operands)
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
