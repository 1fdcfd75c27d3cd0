"""From a text to the rules whose patterns it matches, with the guards against quoting, denying and explaining."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from keel.rules.language.frames import Frame, FrameSet, total
from keel.rules.language.grammar import Reading
from keel.rules.language.patterns import FRAMES
from keel.rules.lazy import lazy

_QUOTED = lazy(
    r"\"[^\"\n]{1,200}\"|\u201c[^\u201d\n]{1,200}\u201d|\u00ab[^\u00bb\n]{1,200}\u00bb|\u300c[^\u300d\n]{1,200}\u300d"
    r"|(?<![\w])'[^'\n]{3,200}'(?!\w)|\u2018[^\u2019\n]{1,200}\u2019|\u201e[^\u201c\u201d\n]{1,200}[\u201c\u201d]"
)
_WORDS_AROUND = 3
"""A quotation is one only where words around it say what is quoted."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A sentence that matches a pattern."""

    rule: str
    sentence: str


@lru_cache(maxsize=8192)
def _reading(sentence: str) -> Reading:
    """Return a sentence as read, quotations left out; tools of one server repeat sentences."""
    return Reading(unquoted(sentence))


def concepts_of(sentence: str) -> int:
    """Return the concepts of a whole sentence, as bits."""
    return total(_reading(sentence).marks)


def could(sentence: str) -> int:
    """Return the concepts that a sentence carries and perhaps more, without reading it closely."""
    return _reading(sentence).could


def unquoted(sentence: str) -> str:
    """Return the sentence without quotations, unless the quotation is all there is."""
    if '"' not in sentence and "'" not in sentence and sentence.isascii():
        return sentence
    rest = _QUOTED.sub(" ", sentence)
    return rest if rest is sentence or len(rest.split()) >= _WORDS_AROUND else sentence


def matches(frames: FrameSet, sentence: str) -> bool:
    """Tell whether a sentence matches any of some frames."""
    reading = _reading(sentence)
    return frames.could(reading.could) and frames.matches(reading.marks, total(reading.marks))


@lru_cache(maxsize=8192)
def rules_hit(sentence: str) -> tuple[str, ...]:
    """Return the ids of the text rules whose patterns a sentence matches, sorted."""
    reading = _reading(sentence)
    if not could_hit(reading.could):
        return ()
    marks = reading.marks
    rules = possible_rules(total(marks))
    return tuple(rule for rule, frames in rules if any(item.matches(marks) for item in frames))


@lru_cache(maxsize=8192)
def could_hit(bits: int) -> bool:
    """Tell whether a sentence with some of these concepts, and no others, could match the pattern of any rule."""
    return any(frames.could(bits) for frames in FRAMES.values())


@lru_cache(maxsize=8192)
def possible_rules(bits: int) -> tuple[tuple[str, tuple[Frame, ...]], ...]:
    """Return the rules, with their frames, that a sentence with these concepts could match."""
    if not bits:
        return ()
    found = ((rule, frames.possible(bits)) for rule, frames in FRAMES.items())
    return tuple((rule, frames) for rule, frames in found if frames)


@lru_cache(maxsize=8192)
def hits(sentences: tuple[str, ...]) -> tuple[Hit, ...]:
    """Return one hit per rule, at the first sentence that matches."""
    found: dict[str, str] = {}
    for sentence in sentences:
        for rule in rules_hit(sentence):
            found.setdefault(rule, sentence)
    return tuple(Hit(rule, found[rule]) for rule in sorted(found))
