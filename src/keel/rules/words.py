"""Short notation for sets of words."""

from __future__ import annotations


def listed(*texts: str) -> frozenset[str]:
    """Return the words of some texts as a set."""
    return frozenset(word for text in texts for word in text.split())


def word_sets(*texts: str) -> tuple[frozenset[str], ...]:
    """Return compound words, written with `_`, as sets of their parts: `api_key` gives {api, key}."""
    return tuple(frozenset(name.split("_")) for text in texts for name in text.split())
