"""The shortest string in an intersection of regular languages, complements, a length interval and exclusions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from keel.compat.automaton import Automaton, TooManyStates

MAX_LEVELS = 5200
MAX_WORK = 60_000
_LIKED = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./ :@\u00a7\u20ac"
"""Letters to write witnesses with; the last two are no letters or digits in any dialect of expressions."""
_State = tuple[tuple[int, ...], str | None]


@dataclass(frozen=True, slots=True)
class Language:
    """A conjunction of constraints on one string."""

    wanted: tuple[tuple[Automaton, bool], ...]
    """Patterns that must match (True) or must not."""
    low: int
    high: int | None
    excluded: frozenset[str]


class GaveUp(Exception):
    """The search outgrew its budget; the question stays open."""


def shortest(language: Language) -> str | None:
    """A shortest string of the language, None when the language is proved empty.

    Raises:
        GaveUp: neither was established within the budget.
    """
    if language.high is not None and language.low > language.high:
        return None
    if not language.wanted:
        return next(_plain(language), None)
    try:
        return _search(language)
    except TooManyStates as stop:
        raise GaveUp from stop


def _plain(language: Language) -> Iterator[str]:
    if language.low > 1_000_000:
        raise GaveUp
    length = language.low
    while language.high is None or length <= language.high:
        if length == 0 and "" not in language.excluded:
            yield ""
        if length:
            # More candidates than exclusions: some candidate of this length is free.
            for index in range(len(language.excluded) + 1):
                word = "a" * (length - 1) + (_LIKED[index] if index < 36 else chr(0x4E00 + index))
                if word not in language.excluded:
                    yield word
        length += 1


def _letters(language: Language) -> list[int]:
    """One code point of each class that the automata cannot tell apart, pleasant ones first."""
    cuts = {0, 0xD800, 0xE000}
    for machine, _ in language.wanted:
        cuts.update(machine.cuts)
    for word in language.excluded:
        for char in word:
            cuts.update((ord(char), ord(char) + 1))
    ordered = sorted(cuts)
    found: dict[int, int] = {}
    for rank, char in enumerate(_LIKED):
        found.setdefault(bisect_right(ordered, ord(char)), rank)
    letters = [ord(_LIKED[rank]) for rank in sorted(found.values())]
    for index, low in enumerate(ordered):
        high = (ordered[index + 1] if index + 1 < len(ordered) else 0x110000) - 1
        # Lone surrogates cannot be written in UTF-8, so no instance contains one.
        if index + 1 not in found and low <= 0x10FFFF and not 0xD800 <= low < 0xE000:
            letters.append(max(low, 33) if high >= 33 else low)
    return letters


def _search(language: Language) -> str | None:
    return _Walk(language).run()


class _Walk:
    """Breadth-first through the product of the automata, one level for each length."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.machines = [machine for machine, _ in language.wanted]
        self.prefixes = {word[:end] for word in language.excluded for end in range(len(word) + 1)}
        self.letters = _letters(language)
        start: _State = (tuple(0 for _ in self.machines), "" if "" in self.prefixes else None)
        self.levels: list[dict[_State, tuple[_State, int] | None]] = [{start: None}]
        self.work = 0

    def run(self) -> str | None:
        seen: set[_State] = set()
        while self.levels[-1]:
            length = len(self.levels) - 1
            fresh = list(self.levels[-1])
            if length >= self.language.low:
                accepted = next((state for state in fresh if self.accepts(state)), None)
                if accepted is not None:
                    return self.spell(accepted)
                fresh = [state for state in fresh if state not in seen]
                seen.update(fresh)
            if self.language.high is not None and length >= self.language.high:
                return None
            if length >= MAX_LEVELS:
                raise GaveUp
            self.levels.append(self.advance(fresh))
        return None

    def accepts(self, state: _State) -> bool:
        if state[1] is not None and state[1] in self.language.excluded:
            return False
        return all(m.accepts(at) == want for (m, want), at in zip(self.language.wanted, state[0], strict=True))

    def advance(self, states: list[_State]) -> dict[_State, tuple[_State, int] | None]:
        following: dict[_State, tuple[_State, int] | None] = {}
        for state in states:
            self.work += len(self.letters)
            if self.work > MAX_WORK:
                raise GaveUp
            for code in self.letters:
                prefix = None if state[1] is None else state[1] + chr(code)
                after = tuple(machine.step(at, code) for machine, at in zip(self.machines, state[0], strict=True))
                following.setdefault((after, prefix if prefix in self.prefixes else None), (state, code))
        return following

    def spell(self, state: _State) -> str:
        codes: list[str] = []
        for level in reversed(self.levels):
            back = level[state]
            if back is None:
                break
            state = back[0]
            codes.append(chr(back[1]))
        return "".join(reversed(codes))
