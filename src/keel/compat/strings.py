"""Is there a string: lengths in code points, patterns and excluded values."""

from __future__ import annotations

from keel.compat.automaton import Automaton, automaton
from keel.compat.nodes import AtLeast, AtMost, Pattern, Values
from keel.compat.outcome import EMPTY, UNKNOWN, Atoms, Outcome, found
from keel.compat.words import GaveUp, Language, shortest


def solve(atoms: Atoms) -> Outcome:
    """Whether a string satisfies all assertions."""
    low, high = 0, None
    wanted: list[tuple[Automaton, bool]] = []
    excluded: set[str] = set()
    unsure = False
    for node, positive in atoms:
        match node:
            case AtLeast(_, count) if positive:
                low = max(low, count)
            case AtLeast(_, count):
                high = count - 1 if high is None else min(high, count - 1)
            case AtMost(_, count) if positive:
                high = count if high is None else min(high, count)
            case AtMost(_, count):
                low = max(low, count + 1)
            case Pattern(syntax):
                wanted.append((automaton(syntax), positive))
            case Values(_, values):
                excluded.update(value for value in values if isinstance(value, str))
            case _:
                unsure = True
    if high is not None and high < 0:
        return EMPTY
    try:
        word = shortest(Language(tuple(wanted), low, high, frozenset(excluded)))
    except GaveUp:
        return UNKNOWN
    return EMPTY if word is None else found(word, sure=not unsure)
