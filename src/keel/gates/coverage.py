"""Which gates cover a call: approvals that hold on every way, show the call, and are not older than its arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from keel.analysis.changes import Changes
from keel.analysis.must import held
from keel.analysis.paths import Flaw, Outcome, Question, State, Uncovered, is_element_of, search, way_to, without
from keel.analysis.provenance import Seen, expansion
from keel.analysis.told import Told
from keel.analysis.ways import Ways
from keel.core.graph import Edge, Graph, Kind, Node, ValueKind
from keel.core.model import split_key
from keel.gates.collected import Collected
from keel.gates.elements import taken_once, written_out

MAX_FLOW_STATES = 1_500_000
"""What all searches of one flow may look at together; calls after that count as not covered."""


@dataclass(frozen=True)
class Uses:
    """What a call uses, and which nodes make or change it."""

    values: frozenset[int]
    spoilers: frozenset[int]
    rebinding: dict[int, frozenset[int]]
    elements: frozenset[int]
    """Values of which one element is used."""


@dataclass
class FlowCoverage:
    """Coverage of the calls of one flow; what gates show is computed once."""

    graph: Graph
    _seen: dict[int, Seen] = field(default_factory=dict)
    _listed: dict[int, frozenset[int]] = field(default_factory=dict)
    _collected: Collected | None = None
    _texts: dict[int, tuple[str, frozenset[str]]] = field(default_factory=dict)
    _sites: dict[tuple[str, int, int, str], list[int]] | None = None
    _free: dict[int, Edge | None] | None = None
    _held: tuple[list[int], list[int]] | None = None
    budget: int = MAX_FLOW_STATES

    def __post_init__(self) -> None:
        self._ways = Ways(self.graph)
        self._changes = Changes(self.graph, self._ways)

    def seen(self, gate: int) -> Seen:
        """Return what a gate shows."""
        if gate not in self._seen:
            if self._collected is None:
                self._collected = Collected(self.graph)
            listed = written_out(self.graph, gate, self._collected, self._changes)
            self._seen[gate] = Seen(self.graph, listed.shown)
            self._listed[gate] = listed.collections
        return self._seen[gate]

    def listed(self, gate: int) -> frozenset[int]:
        """Return the collections of which a gate shows something of every element."""
        self.seen(gate)
        return self._listed[gate]

    def uses(self, values: list[int]) -> Uses:
        """Return what makes or changes the values that a call uses."""
        used = expansion(self.graph, values, hidden=True)
        spoilers: set[int] = set()
        rebinding: dict[int, set[int]] = {}
        elements: set[int] = set()
        for index in used:
            item = self.graph.values[index]
            if item.kind is ValueKind.RESULT and item.node >= 0:
                spoilers.add(item.node)
            elif item.kind is ValueKind.BOUND:
                rebinding.setdefault(item.node, set()).update(self._held_before(item.hidden))
            elif item.kind is ValueKind.ELEMENT:
                elements.update(item.operands)
            spoilers.update(self._changes.of(index))
        return Uses(
            used, frozenset(spoilers), {node: frozenset(held) for node, held in rebinding.items()}, frozenset(elements)
        )

    def _held_before(self, values: tuple[int, ...]) -> set[int]:
        """Return what a name may have held: of a merged value every one that it may be."""
        found: set[int] = set()
        stack = list(values)
        while stack:
            index = stack.pop()
            item = self.graph.values[index]
            if index in found or item.kind is ValueKind.LITERAL:
                continue
            found.add(index)
            if item.kind in (ValueKind.MERGED, ValueKind.BOUND):
                stack.extend(item.operands)
        return found

    def same_site(self, step: int) -> frozenset[int]:
        """Return the other nodes that are the same call of the source, through other helpers' calls or as echo."""
        if self._sites is None:
            self._sites = {}
            for index, node in enumerate(self.graph.nodes):
                if node.kind is Kind.CALL:
                    self._sites.setdefault((*_place(node), node.key), []).append(index)
        node = self.graph.nodes[step]
        return frozenset(self._sites.get((*_place(node), node.key), ())) - {step}

    def find(self, step: int, values: list[int], quality: Callable[[int], bool]) -> Outcome:
        """Search for a way to a step on which no gate of the wanted quality holds.

        Ordinary ways are looked at first: only when they are covered do ways through exceptions of other code count,
        so that a finding names the plainest way there is.
        """
        uses = self.uses(values)
        same = self.same_site(step)
        plain = self._plainly(step, uses, same, quality)
        if plain is not None:
            return plain

        def judge(gate: int, state: State) -> Flaw | None:
            if state.stale >= 0 or (state.rebound & self.seen(gate).values):
                return Flaw.STALE
            if state.again and not self._elements_shown(gate, state, uses):
                return Flaw.REPEATED
            return None if quality(gate) else Flaw.UNSEEN

        question = Question(self.graph, step, uses.spoilers, uses.rebinding, same, judge, exceptions=False)
        first = self._search(question)
        if first.uncovered is not None:
            return first
        return self._search(Question(self.graph, step, uses.spoilers, uses.rebinding, same, judge))

    def _search(self, question: Question) -> Outcome:
        outcome = search(question, max(self.budget, 1_000))
        self.budget -= outcome.states
        return outcome

    def _plainly(self, step: int, uses: Uses, same: frozenset[int], quality: Callable[[int], bool]) -> Outcome | None:
        """Answer the two plain cases without a search: no gate on some way, or one good gate in straight code."""
        if self._free is None:
            self._free = without(self.graph, Kind.GATE)
        if step in self._free:
            nodes, edges = way_to(self._free, step)
            return Outcome(frozenset(), Uncovered(Flaw.MISSING, -1, -1, nodes, edges))
        if self._held is None:
            self._held = held(self.graph)
        gates, bits = self._held
        known = bits[step]
        for _ in range(4):
            if not known:
                break
            at = known.bit_length() - 1
            known &= ~(1 << at)
            if self._straight(gates[at], step, uses, same) and quality(gates[at]):
                return Outcome(frozenset({gates[at]}), None)
        return None

    def _straight(self, gate: int, step: int, uses: Uses, same: frozenset[int]) -> bool:
        """Tell whether a gate and a call stand outside loops, with nothing between them that spoils the call.

        Outside loops a node runs at most once, and nodes are numbered in the order in which control can come to them.
        """
        nodes = self.graph.nodes
        if nodes[gate].loops or nodes[step].loops:
            return False
        if any(gate < node < step for node in uses.spoilers) or any(gate < node < step for node in same):
            return False
        return not any(gate < node for node in uses.rebinding)

    def _elements_shown(self, gate: int, state: State, uses: Uses) -> bool:
        """Tell whether every repeated round takes another element of a collection that the gate showed."""
        seen, listed = self.seen(gate), self.listed(gate)
        for loop in state.again:
            if loop < 0:
                return False
            source = self.graph.nodes[loop].source
            if source < 0 or not (source in listed or seen.all_of(source)):
                return False
            if not taken_once(self.graph, source, seen.values | listed):
                return False
            if source not in uses.elements and not any(
                is_element_of(self.graph, value, source) for value in uses.values
            ):
                return False
        return True

    def unshown(self, gate: int, step: int) -> list[str]:
        """Return the names of what the loops around a call iterate and a gate does not show."""
        seen, nodes = self.seen(gate), self.graph.nodes
        sources = [nodes[loop].source for loop in nodes[step].loops if nodes[loop].source >= 0]
        parts = expansion(self.graph, [source for source in sources if not seen.all_of(source)], hidden=False)
        named = [self.graph.values[part] for part in sorted(parts) if not seen.all_of(part)]
        return list(dict.fromkeys(item.name for item in named if item.kind is ValueKind.PARAMETER))

    # -- what a gate shows of a call ------------------------------------------------------------

    def shows_call(self, gate: int, step: int) -> bool:
        """Tell whether a gate shows the tool's name, or any value or literal of the call."""
        node = self.graph.nodes[step]
        text, literals = self._words(gate)
        tool = split_key(node.key)[1]
        if _has_word(text, tool):
            return True
        seen = self.seen(gate).values

        def told(value: int) -> bool:
            if self.graph.values[value].kind is not ValueKind.LITERAL:
                return value in seen
            word = _literal_word(self.graph, value)
            return bool(word) and (word.casefold() in literals or _has_word(text, word))

        known = Told(
            self.graph,
            told,
            lambda merged: self._ways.between(merged, gate, step),
            lambda value: self._parts(value, step, told),
        )
        return any(known.any_of(argument.value) for argument in node.arguments)

    def _parts(self, value: int, step: int, told: Callable[[int], bool]) -> list[int]:
        """Return what a value is made of when control comes to a step; of one member, not what stands beside it."""
        item = self.graph.values[value]
        if item.kind is ValueKind.PART and item.key is not None and not told(item.operands[0]):
            base = item.operands[0]
            kept = () if item.key in self._changes.replaced(base, step) else self._changes.kept(base, step)
            return [*kept, *self._changes.put_before(base, step, item.key)]
        found = [*self._changes.kept(value, step), *self._changes.put_before(value, step)]
        if item.name == "member":
            # a member of a container may have been replaced by what was put into the container
            found.extend(self._changes.put_before(item.hidden[0], step))
        return found

    def held_at(self, step: int) -> list[int]:
        """Return the gates whose yes holds on every way to a step."""
        if self._held is None:
            self._held = held(self.graph)
        gates, bits = self._held
        return [gate for at, gate in enumerate(gates) if bits[step] >> at & 1]

    def unseen_arguments(self, gate: int, step: int) -> list[str]:
        """Return the arguments of a call that a gate does not show, by name or text."""
        seen = self.seen(gate)
        node = self.graph.nodes[step]
        return [item.name or item.text for item in node.arguments if not seen.all_of(item.value)]

    def _words(self, gate: int) -> tuple[str, frozenset[str]]:
        if gate not in self._texts:
            words = [word for value in sorted(self.seen(gate).values) if (word := _literal_word(self.graph, value))]
            self._texts[gate] = (" ".join(words).casefold(), frozenset(word.casefold() for word in words))
        return self._texts[gate]


def _place(node: Node) -> tuple[str, int, int]:
    return node.span.file, node.span.line, node.span.column


def _literal_word(graph: Graph, value: int) -> str:
    """Return the text of a literal string or number, or an empty string."""
    item = graph.values[value]
    if item.kind is not ValueKind.LITERAL or item.key is None or item.key[:1] == "<":
        return ""
    found = json.loads(item.key)
    if isinstance(found, bool) or found is None:
        return ""
    return str(found).strip()


def _has_word(text: str, word: str) -> bool:
    """Tell whether a text holds a word, any case, not inside a longer one."""
    folded = word.casefold()
    if not folded or folded not in text:
        return False
    return re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", text) is not None
