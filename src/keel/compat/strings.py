"""Is there a string: lengths in code points, patterns and excluded values."""

from __future__ import annotations

from keel.compat.automaton import Automaton, automaton
from keel.compat.nodes import Pattern, Values
from keel.compat.outcome import EMPTY, UNKNOWN, Atoms, Outcome, found
from keel.compat.sizes import Sizes
from keel.compat.words import GaveUp, Language, shortest


def solve(atoms: Atoms) -> Outcome:
    """Whether a string satisfies all assertions."""
    sizes = Sizes()
    wanted: list[tuple[Automaton, bool]] = []
    excluded: set[str] = set()
    unsure = False
    for node, positive in atoms:
        if sizes.take(node, positive=positive):
            continue
        match node:
            case Pattern(syntax):
                wanted.append((automaton(syntax), positive))
            case Values(_, values):
                excluded.update(value for value in values if isinstance(value, str))
            case _:
                unsure = True
    if sizes.empty:
        return EMPTY
    try:
        word = shortest(Language(tuple(wanted), sizes.low, sizes.high, frozenset(excluded)))
    except GaveUp:
        return UNKNOWN
    return EMPTY if word is None else found(word, sure=not unsure)
