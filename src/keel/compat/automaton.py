"""Regular languages: position automata of patterns, made deterministic on demand under a state cap.

A pattern is searched for anywhere in the string (JSON Schema Core 6.4), so the automaton loops before and after the
match; `^` and `$` are edges that may be followed only at the start and at the end. Matching never backtracks.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from keel.compat.syntax import LAST, Alt, Cat, Chars, Edge, Ranges, Repeat, Syntax, UnsupportedPattern

MAX_STATES = 16_000
MAX_MEMBERS = 25_000
_ANY: Ranges = ((0, LAST),)


class TooManyStates(Exception):
    """The deterministic automaton outgrew its cap; the question stays open."""


class Automaton:
    """The strings that contain a match of one pattern; states are small integers, 0 is the start."""

    def __init__(self, syntax: Syntax) -> None:
        """Build the automaton.

        Raises:
            UnsupportedPattern: the pattern has too many positions, or an assertion inside that cannot be modelled.
        """
        self._moves: list[list[tuple[Ranges, int]]] = []
        self._free: list[list[int]] = []
        self._edges: list[list[tuple[bool, int]]] = []
        before, self._final = self._new(), self._new()
        first, last = self._build(syntax)
        self._moves[before].append((_ANY, before))
        self._free[before].append(first)
        self._free[last].append(self._final)
        self._moves[self._final].append((_ANY, self._final))
        cuts = {0}
        for moves in self._moves:
            for ranges, _ in moves:
                for low, high in ranges:
                    cuts.update((low, high + 1))
        self.cuts = sorted(cuts)
        """Where the alphabet splits: code points between two cuts behave alike."""
        start = self._closure({before}, start=True, end=False)
        self._subsets: list[frozenset[int]] = [start]
        self._numbers: dict[frozenset[int], int] = {}
        self._members = 0
        self._steps: dict[tuple[int, int], int] = {}
        self._accepts: dict[int, bool] = {
            0: self._final in self._closure(set(start), start=True, end=True)  # "" is at its start and its end
        }

    def _new(self) -> int:
        if len(self._moves) >= MAX_STATES:
            raise UnsupportedPattern("the pattern is too large")
        self._moves.append([])
        self._free.append([])
        self._edges.append([])
        return len(self._moves) - 1

    def _build(self, syntax: Syntax) -> tuple[int, int]:
        first = self._new()
        match syntax:
            case Chars(ranges):
                last = self._new()
                self._moves[first].append((ranges, last))
            case Edge(start):
                last = self._new()
                self._edges[first].append((start, last))
            case Cat(parts):
                last = first
                for part in parts:
                    inner, end = self._build(part)
                    self._free[last].append(inner)
                    last = end
            case Alt(parts):
                last = self._new()
                for part in parts:
                    inner, end = self._build(part)
                    self._free[first].append(inner)
                    self._free[end].append(last)
            case Repeat(part, low, high):
                last = self._repeat(first, part, low, high)
            case _:
                raise UnsupportedPattern("look-around inside the expression")
        return first, last

    def _repeat(self, first: int, part: Syntax, low: int, high: int | None) -> int:
        last = first
        for _ in range(low):
            inner, end = self._build(part)
            self._free[last].append(inner)
            last = end
        if high is None:
            inner, end = self._build(part)
            joint = self._new()
            self._free[last].append(joint)
            self._free[joint].append(inner)
            self._free[end].append(joint)
            return joint
        done = self._new()
        for _ in range(high - low):
            self._free[last].append(done)
            inner, end = self._build(part)
            self._free[last].append(inner)
            last = end
        self._free[last].append(done)
        return done

    def _closure(self, states: set[int], *, start: bool, end: bool) -> frozenset[int]:
        stack = list(states)
        reached = set(states)
        while stack:
            state = stack.pop()
            following = list(self._free[state])
            following += [target for at_start, target in self._edges[state] if (start if at_start else end)]
            for target in following:
                if target not in reached:
                    reached.add(target)
                    stack.append(target)
        return frozenset(reached)

    def step(self, state: int, code: int) -> int:
        """The state after one more code point.

        Raises:
            TooManyStates: the automaton outgrew its cap.
        """
        part = bisect_right(self.cuts, code)
        following = self._steps.get((state, part))
        if following is None:
            moved = {
                target
                for source in self._subsets[state]
                for ranges, target in self._moves[source]
                if any(low <= code <= high for low, high in ranges)
            }
            # Once the match is complete nothing can undo it: one accepting sink keeps the automaton small.
            subset = frozenset({self._final}) if self._final in moved else self._closure(moved, start=False, end=False)
            if self._final in subset:
                subset = frozenset({self._final})
            following = self._numbers.get(subset, -1)
            if following < 0:
                following = len(self._subsets)
                self._members += len(subset)
                if self._members > MAX_MEMBERS:
                    raise TooManyStates
                self._subsets.append(subset)
                self._numbers[subset] = following
                self._accepts[following] = self._final in self._closure(set(subset), start=False, end=True)
            self._steps[state, part] = following
        return following

    def accepts(self, state: int) -> bool:
        """Whether the string read so far is in the language."""
        return self._accepts[state]

    def matches(self, text: str) -> bool:
        """Whether a string contains a match.

        Raises:
            TooManyStates: the automaton outgrew its cap.
        """
        state = 0
        for char in text:
            state = self.step(state, ord(char))
        return self._accepts[state]


@lru_cache(maxsize=512)
def automaton(syntax: Syntax) -> Automaton:
    """The automaton of an expression, kept because schemas repeat their patterns."""
    return Automaton(syntax)
