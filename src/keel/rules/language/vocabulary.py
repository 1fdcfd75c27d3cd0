"""From words to concepts: one table over all languages, built once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from keel.rules.language import english, germanic, romance, slavic, unspaced
from keel.rules.language.concepts import Concept, mask
from keel.rules.language.paths import is_secret_path
from keel.rules.lazy import lazy

VERSION = "1"
"""Version of the word tables; findings of text rules may change with it."""

_BREAKS = frozenset(",;:()[]")
_ELISION = lazy(r"(?:l|d|n|qu|j|s|c|m|t|dell|all|nell|un)'(?=\w{2})")


@dataclass(frozen=True, slots=True)
class _Table:
    words: dict[str, int]
    stems: dict[str, int]
    phrases: dict[str, tuple[tuple[tuple[str, ...], int], ...]]
    """First word -> (remaining words, bits), longest first."""
    beginnings: frozenset[str]
    """The first letters of all stems, as many as the shortest has: most words begin otherwise."""
    longest_stem: int


@cache
def _table() -> _Table:
    words: dict[str, int] = defaultdict(int)
    stems: dict[str, int] = defaultdict(int)
    phrases: dict[str, dict[tuple[str, ...], int]] = defaultdict(lambda: defaultdict(int))
    for module in (english, germanic, romance, slavic):
        for concept, text in module.WORDS.items():
            for entry in text.split():
                first, *rest = (part for word in entry.split("_") for part in _parts(word))
                if rest:
                    phrases[first][tuple(rest)] |= mask(concept)
                elif entry.endswith("*"):
                    stems[entry[:-1]] |= mask(concept)
                else:
                    words[entry] |= mask(concept)
    ordered = {
        first: tuple(sorted(group.items(), key=lambda item: (-len(item[0]), item[0])))
        for first, group in phrases.items()
    }
    beginnings = frozenset(stem[:_SHORTEST_STEM] for stem in stems)
    return _Table(dict(words), dict(stems), ordered, beginnings, max(map(len, stems)))


@cache
def unspaced_table() -> tuple[re.Pattern[str], dict[str, int]]:
    """Return the words that are found anywhere in a sentence, as one expression, and their concepts."""
    bits: dict[str, int] = defaultdict(int)
    for concept, text in unspaced.WORDS.items():
        for entry in text.split():
            bits[entry.replace("_", " ").strip()] |= mask(concept)
    longest_first = sorted(bits, key=lambda entry: (-len(entry), entry))
    return re.compile("|".join(map(re.escape, longest_first))), dict(bits)


_SHORTEST_STEM = 3


def carries(token: str) -> bool:
    """Tell whether a word carries any concept."""
    return bool(_bits(token.lower()))


@lru_cache(maxsize=16384)
def _bits(token: str) -> int:
    table = _table()
    if token.endswith("'s"):
        token = token[:-2] or token
    if token[0] in "~./$" or "/" in token or "\\" in token or "." in token[1:-1]:
        return _special(token)
    token = token.rstrip(".")
    bits = table.words.get(token, 0)
    if token[:_SHORTEST_STEM] in table.beginnings:
        for length in range(_SHORTEST_STEM, min(len(token), table.longest_stem) + 1):
            bits |= table.stems.get(token[:length], 0)
    if not token.isalpha() and is_secret_path(token):
        bits |= mask(Concept.SECRET_FILE)
    return bits


def _special(token: str) -> int:
    if "@" in token[1:-1]:
        return mask(Concept.ADDRESS)
    if token.startswith(("http://", "https://")):
        return mask(Concept.URL)
    bits = mask(Concept.SECRET_FILE) if is_secret_path(token) else 0
    if _MEMORY_FILE.search(token):
        bits |= mask(Concept.MEMORY_FILE)
    if token.startswith("$("):
        bits |= mask(Concept.PRIVATE)
    return bits


_MEMORY_FILE = lazy(
    r"(?:^|[/\\])(?:claude|agents?|gemini|memory|copilot-instructions|\.?cursorrules|\.windsurfrules|soul|rules)"
    r"(?:\.local)?\.(?:md|mdc|txt)\b|\.cursorrules|\.windsurfrules|\.clinerules|\.cursor/rules|\.claude/"
    r"|\.(?:claude|cursor|gemini|codex|windsurf)/settings\.json$",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """What is known of a word wherever it stands; a tuple, because a surface has thousands of distinct ones."""

    text: str
    bits: int
    breaks: bool
    phrases: tuple[tuple[tuple[str, ...], int], ...]
    follows: Mapping[str, int]
    """The second words of the phrases that it may begin, with the concepts of all that go on so."""
    matters: bool
    """Whether it carries a concept, may begin a phrase, or ends a clause."""


class _Known(dict[str, tuple[Word, ...]]):
    """Words by token, worked out once: a plain look-up costs half of a cached call, and every word is looked up."""

    def __missing__(self, token: str) -> tuple[Word, ...]:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        found = self[token] = _words_of(token)
        return found


_MOST_KNOWN = 16384
KNOWN = _Known()
"""Token to its words; an elided article or negation is a word of its own."""


def _words_of(token: str) -> tuple[Word, ...]:
    found = []
    for text in _parts(token):
        breaks = text in _BREAKS
        bits = 0 if breaks else _bits(text)
        phrases = () if breaks else _table().phrases.get(text, ())
        matters = bool(breaks or bits or phrases)
        found.append(Word(text, bits, breaks, phrases, _follows(text) if phrases else {}, matters))
    return tuple(found)


@lru_cache(maxsize=1024)
def _follows(text: str) -> Mapping[str, int]:
    follows: dict[str, int] = {}
    for rest, bits in _table().phrases.get(text, ()):
        follows[rest[0]] = follows.get(rest[0], 0) | bits
    return follows


def _parts(token: str) -> tuple[str, ...]:
    """Split an elided article or negation off a word: `n'informez` gives `n'` and `informez`."""
    token = token.replace("\u2019", "'").rstrip(".!?") or token
    match = _ELISION.match(token)
    return (token[: match.end()], token[match.end() :]) if match else (token,)
