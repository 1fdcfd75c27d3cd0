"""Reading a sentence: which words carry which concepts, given the words around them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from keel.rules.language.concepts import Concept, mask
from keel.rules.language.vocabulary import KNOWN, Word, unspaced_table
from keel.rules.lazy import lazy
from keel.rules.words import listed

_TOKEN = lazy(
    r"https?://[^\s<>\"']+"
    r"|[~.]{0,2}/[^\s,;:()\"'<>|]+|[A-Za-z]:\\[^\s,;()\"'<>|]+|\.[A-Za-z][\w.-]*(?:/[\w.-]+)*"
    r"|[^\W_][\w.+@]*(?:['\u2019-](?=\w)[\w.+@]*)*(?:/[\w.-]+)*"
    r"|[,;:()\[\]]|\$\([^)]{0,80}\)"
)
_UNSPACED = lazy(r"[\u0590-\u08ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Mark(NamedTuple):
    """One place of a sentence that carries concepts; a tuple, because a surface has tens of thousands."""

    at: int
    """Position in words; about two characters where words are not spaced."""
    bits: int
    text: str


_VERBS = mask(
    Concept.SEND,
    Concept.READ,
    Concept.CALL,
    Concept.EXECUTE,
    Concept.STORE,
    Concept.IGNORE,
    Concept.PRINT,
    Concept.ASK,
    Concept.ROUTE,
    Concept.OBEY,
    Concept.TELL,
)
_MOVING = mask(Concept.SEND, Concept.READ, Concept.STORE, Concept.EXECUTE, Concept.PRINT, Concept.CALL, Concept.ROUTE)
_MOVING |= mask(Concept.AUTO)
_NEG, _TELL, _UNTOLD = mask(Concept.NEG), mask(Concept.TELL), mask(Concept.UNTOLD)
_ACTING = _VERBS | mask(Concept.AUTO, Concept.SENT, Concept.USED)
_DIALOG, _UNASKED = mask(Concept.DIALOG), mask(Concept.UNASKED)
_OFF, _UNTIL = mask(Concept.OFF), mask(Concept.UNTIL)
_COLOURING = _NEG | _TELL | _DIALOG
"""Concepts that take part in negation, on either side."""
_CARRIED_OUT = mask(Concept.CALL, Concept.EXECUTE)
_AUTO, _SENT, _USED = mask(Concept.AUTO), mask(Concept.SENT), mask(Concept.USED)
_SOFT = frozenset({"to", "can", "could", "may", "might", "would", "that", "which", "who", "will", "cannot", "can't"})
_SOFT |= {
    "is",
    "are",
    "was",
    "were",
    "been",
    "being",
    "i",
    "we",
    "they",
    "users",
    "clients",
    "does",
    "did",
    "doesn't",
    "didn't",
    "ability",
    "able",
}
_HARD = frozenset(
    {"need", "needs", "has", "have", "had", "required", "want", "must", "sure", "remember", "agree", "agrees"}
)
_HARD |= {
    "you",
    "assistant",
    "assistants",
    "ought",
    "instructed",
    "obliged",
    "expected",
    "ordered",
    "supposed",
    "model",
}
_HARD |= {"agent", "agents", "going", "forget", "fail", "ask", "it's", "only"}
_DETERMINERS = frozenset({"the", "a", "an", "this", "each", "per", "its", "their", "my", "your", "one", "api", "http"})
_POSSIBLE = frozenset({"can", "could", "may", "might", "would"})
_DESCRIBING = frozenset({"does", "did", "is", "was", "are", "were", "has", "user", "users"})
_CONDITIONS = frozenset({"if", "when", "once", "after", "until", "unless", "who", "that", "which", "not", "whether"})
_LATE_NEGATIONS = frozenset({"nicht", "nichts", "niet", "niets", "rien", "nada", "nothing"})
_WITHOUT = listed("without sans sin sem senza ohne zonder без bez unless")
_WITHOUT_UNSPACED = listed("없이 دون بدون बिना ללא בלי ずに なしに 未经")
_ASK, _REFRAIN = mask(Concept.ASK), mask(Concept.REFRAIN)
_NEGATION_REACH = 3
_DOUBLE_REACH = 8
_TELL_REACH = 4
_DIALOG_REACH = 5
_FORBIDDING = frozenset({"not", "never", "don't"})


class Reading:
    """A folded sentence as the places that carry concepts.

    Grammar decides whether a word gives an order: a verb after a negation, a base form after `can` or `the`, and a
    participle without `must be` before it lose the concepts of acting; a negation before a verb of telling becomes
    one concept. All of that waits until it is asked for: most sentences hold too little to say anything.
    """

    __slots__ = ("_marks", "_tokens", "_unspaced", "_words", "could")

    def __init__(self, sentence: str) -> None:
        lowered = _prepared(sentence)
        self._words = [word for token in _TOKEN.findall(lowered) for word in KNOWN[token]]
        self._tokens = [word.text for word in self._words]
        self._unspaced = "" if lowered.isascii() or not _UNSPACED.search(lowered) else lowered
        self._marks: tuple[Mark, ...] | None = None
        self.could = self._could()
        """Every concept that the sentence carries, and perhaps more."""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The places that carry concepts, in order."""
        if self._marks is None:
            marks = list(_spaced(self._words, self._tokens))
            if self._unspaced:
                marks += _found(self._unspaced)
                marks.sort(key=lambda mark: mark.at)
            self._marks = tuple(mark for mark in marks if mark.bits)
        return self._marks

    def _could(self) -> int:
        bits, tokens = 0, self._tokens
        if self._unspaced:
            for mark in self.marks:
                bits |= mark.bits
            return bits
        for index, word in enumerate(self._words, 1):
            if word.matters:
                bits |= word.bits
                if word.follows and index < len(tokens):
                    bits |= word.follows.get(tokens[index], 0)
        if bits & _NEG:
            bits |= _REFRAIN if bits & _ASK else 0
            bits |= (_UNTOLD if bits & _TELL else 0) | (_UNASKED if bits & _DIALOG else 0)
        if not _WITHOUT.isdisjoint(tokens):
            bits |= _UNTIL
        return bits | (mask(Concept.SEND) if bits & _SENT else 0) | (_CARRIED_OUT if bits & _USED else 0)


def read(sentence: str) -> tuple[Mark, ...]:
    """Read a folded sentence as the places that carry concepts."""
    return Reading(sentence).marks


def _prepared(sentence: str) -> str:
    """Return a sentence in lower case, with counts, dates and names of secret variables as words of their own."""
    named = "_" in sentence and any(map(sentence.__contains__, _SECRETS))
    lowered = (_ENV_NAME.sub("envsecret", sentence) if named else sentence).lower()
    if _could_count(lowered) and _DIGIT_OR_ORDINAL.search(lowered):
        return _TRIGGER.sub(" triggerword ", lowered)
    return lowered


def _spaced(words: list[Word], tokens: list[str]) -> Iterator[Mark]:
    clause = _Clause()
    resume = 0
    for index, word in enumerate(words):
        if index < resume or not word.matters:
            continue
        if word.breaks:
            clause.negated = clause.forbidden = _NEVER
            continue
        bits, length = _entry(tokens, index, word)
        if bits:
            resume = index + length
            if bits & _COLOURING or word.text in _WITHOUT:
                bits = clause.read(tokens, index, bits)
            if bits & _ACTING:
                negated = index - clause.negated <= _NEGATION_REACH
                bits = _acting(tokens, index, bits, negated=negated, phrase=length > 1)
            yield Mark(index, bits, word.text)


_NEVER = -100
"""A place so far back that nothing reaches it."""


@dataclass(slots=True)
class _Clause:
    """Where the last negation and the last verb of telling stood."""

    negated: int = _NEVER
    forbidden: int = _NEVER
    """The last negation that forbids instead of describing."""
    told: int = _NEVER

    def read(self, tokens: list[str], index: int, bits: int) -> int:
        """Take note of a word, and return its concepts as the words before it colour them."""
        token = tokens[index]
        if token in _WITHOUT and index - self.negated <= _DOUBLE_REACH:
            # `Never run it without consent` asks for consent.
            bits = bits & ~(_NEG | _OFF) | _UNTIL
        elif bits & _NEG:
            if token in _LATE_NEGATIONS and index - self.told <= _TELL_REACH:
                bits |= _UNTOLD
            self.negated = index
            self.forbidden = _NEVER if _describes(tokens, index) else index
        if bits & _TELL:
            self.told = index
            # `Never tell a user that …` is advice about users; `the user` is the one being served.
            if index - self.forbidden <= _TELL_REACH and tokens[index + 1 : index + 2] != ["a"]:
                bits |= _UNTOLD
        if bits & _DIALOG and 0 < index - self.forbidden <= _DIALOG_REACH and tokens[self.forbidden] in _FORBIDDING:
            bits |= _UNASKED
        return bits


_NUMBER = (
    r"(?:[0-9]{1,4}(?:st|nd|rd|th)?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|fifty|hundred"
    r"|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)"
)
_DIGIT_OR_ORDINAL = lazy(rf"(?:after|on|from|since|at|every|than|past|until)\s(?:the\s)?{_NUMBER}\b")
_TRIGGER = lazy(
    rf"\b(?:after|on|since|at|every)\s(?:the\s)?{_NUMBER}\s(?:[a-z]{{1,12}}\s)?"
    r"(?:calls?|uses?|runs?|times?|invocations?|requests?|sessions?|days?|weeks?)\b"
    r"|\b(?:after|from|since|on|than|past)\s(?:the\s)?20[0-9]{2}(?:-[0-9]{2}(?:-[0-9]{2})?)?\b"
)
"""A count or a date, as one word of the language of triggers."""


_DIGIT = lazy("[0-9]")
_COUNTING = listed("one two three four five six seven eight nine ten twel twen fift hund first second third nint")


def _could_count(lowered: str) -> bool:
    """Tell cheaply whether a number may stand in a sentence, in digits or in words."""
    return _DIGIT.search(lowered) is not None or any(map(lowered.__contains__, _COUNTING))


def _describes(tokens: list[str], index: int) -> bool:
    """Tell whether a negation says what is (`it does not`, `you don't know`) instead of forbidding."""
    before = tokens[max(0, index - 2) : index]
    if not before or not _SEEING_TO_IT.isdisjoint(tokens[max(0, index - 6) : index]):
        return False
    subject = before[0] if before[-1] == "do" else before[-1] if tokens[index] in ("don't", "doesn't", "didn't") else ""
    return before[-1] in _DESCRIBING or subject in _SUBJECTS


_SEEING_TO_IT = frozenset({"sure", "ensure", "see", "care"})
_SUBJECTS = frozenset({"you", "they", "we", "i", "it", "users", "models", "clients"})
_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS")
_ENV_NAME = lazy(rf"\b[A-Z][A-Z0-9]{{1,20}}_(?:[A-Z0-9]{{1,20}}_){{0,4}}(?:{'|'.join(_SECRETS)})\b")


def _entry(tokens: list[str], index: int, word: Word) -> tuple[int, int]:
    """Return the concepts at a place and how many words carry them, the longest phrase first."""
    if word.phrases and index + 1 < len(tokens):
        following = tokens[index + 1]
        for rest, more in word.phrases:
            if rest[0] == following and tuple(tokens[index + 1 : index + 1 + len(rest)]) == rest:
                return word.bits | more, 1 + len(rest)
    return word.bits, 1


def _acting(tokens: list[str], index: int, bits: int, *, negated: bool, phrase: bool) -> int:
    """Take away what a word does not mean at its place."""
    before = tokens[max(0, index - 5) : index]
    last = before[-1] if before else ""
    if negated:
        bits = bits & ~_MOVING | (_REFRAIN if bits & _ASK else 0)
    if bits & _AUTO and not _CONDITIONS.isdisjoint(before):
        bits &= ~_AUTO
    if bits & (_SENT | _USED) and "be" in before and _POSSIBLE.isdisjoint(before):
        bits |= mask(Concept.SEND) if bits & _SENT else _CARRIED_OUT
    elif not phrase and (last in _DETERMINERS or (last in _SOFT and _HARD.isdisjoint(before[-2:-1]))):
        bits &= ~(_VERBS & ~_TELL)
    return bits


def _found(sentence: str) -> Iterator[Mark]:
    pattern, table = unspaced_table()
    marks = []
    words = last = 0
    for match in pattern.finditer(sentence):
        between = sentence[last : match.start()]
        # A space ends a word; where words are not spaced, two characters are about one.
        words += between.count(" ") + len(_IDEOGRAPHIC.findall(between)) // 2
        marks.append(Mark(words, table[match.group()], match.group()))
        words += 1 if _IDEOGRAPHIC.match(match.group()) else match.group().count(" ")
        last = match.end()
    verb_first = _VERB_FIRST.search(sentence) is not None
    if sum(1 for mark in marks if mark.bits & _NEG) > 1:
        marks = [_once_denied(mark) for mark in marks]
    denials = [mark.at for mark in marks if mark.bits & _NEG]
    for mark in marks:
        denied = bool(mark.bits & (_TELL | _MOVING)) and _denied(mark.at, denials, verb_first=verb_first)
        if denied and mark.bits & _TELL:
            yield Mark(mark.at, mark.bits | _UNTOLD, mark.text)
        elif denied:
            yield Mark(mark.at, mark.bits & ~_MOVING, mark.text)
        else:
            yield mark


def _once_denied(mark: Mark) -> Mark:
    """Drop the denial from a `without` that another denial turns into a condition."""
    return Mark(mark.at, mark.bits & ~(_NEG | _OFF) | _UNTIL, mark.text) if mark.text in _WITHOUT_UNSPACED else mark


_IDEOGRAPHIC = lazy(r"[\u3040-\u30ff\u3400-\u9fff]")
_VERB_FIRST = lazy(r"[\u3040-\u30ff\uac00-\ud7af\u0900-\u097f]")
"""Kana, Hangul, Devanagari: languages that negate after the verb; Chinese, Arabic, Hebrew and Thai do it before."""
_DENIAL_REACH = 4


def _denied(at: int, denials: list[int], *, verb_first: bool) -> bool:
    """Tell whether a denial stands within reach, on the side on which the language puts it."""
    low, high = (at, at + _DENIAL_REACH) if verb_first else (at - _DENIAL_REACH, at - 1)
    index = bisect_left(denials, low)
    return index < len(denials) and denials[index] <= high
