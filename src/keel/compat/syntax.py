"""A parser for the part of ECMA-262 regular expressions that describes regular languages.

Source: ECMA-262, section "Patterns", with the `u` flag; JSON Schema Core 6.4. Back-references, word boundaries,
property escapes and look-around other than at either end are outside the subset and are refused, never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

LAST = 0x10FFFF
Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Sorted, disjoint, inclusive ranges of code points."""
MAX_REPEAT = 5000
MAX_NESTING = 60


class UnsupportedPattern(ValueError):
    """The expression is malformed or outside the supported subset."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One code point out of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Cat:
    """One after the other."""

    parts: tuple[Syntax, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    """One or the other."""

    parts: tuple[Syntax, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Between `low` and `high` times, without upper limit for None."""

    part: Syntax
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Edge:
    """The start or the end of the string."""

    start: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What follows, or with `behind` what precedes, does or does not match."""

    part: Syntax
    positive: bool
    behind: bool = False


Syntax: TypeAlias = Chars | Cat | Alt | Repeat | Edge | Look


def merge(pairs: list[tuple[int, int]]) -> Ranges:
    """Sort and join ranges."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(pairs):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def invert(ranges: Ranges) -> Ranges:
    """All other code points."""
    holes: list[tuple[int, int]] = []
    position = 0
    for low, high in ranges:
        if position < low:
            holes.append((position, low - 1))
        position = high + 1
    if position <= LAST:
        holes.append((position, LAST))
    return tuple(holes)


DIGIT: Ranges = ((48, 57),)
WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
SPACE: Ranges = merge([
    (9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
])  # fmt: skip
DOT: Ranges = invert(((10, 10), (13, 13), (0x2028, 0x2029)))
_CLASSES = {"d": DIGIT, "D": invert(DIGIT), "w": WORD, "W": invert(WORD), "s": SPACE, "S": invert(SPACE)}
_LOOKS = {"=": (True, False), "!": (False, False), "<=": (True, True), "<!": (False, True)}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_PUNCTUATION = set("^$\\.*+?()[]{}|/")


def parse(source: str) -> Syntax:
    """Read an expression.

    Raises:
        UnsupportedPattern: the expression is malformed or outside the supported subset.
    """
    return _Parser(source).whole()


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.nesting = 0

    def whole(self) -> Syntax:
        result = self.alternatives()
        if self.at < len(self.source):
            raise UnsupportedPattern("unbalanced parenthesis")
        return result

    def peek(self, text: str) -> bool:
        return self.source.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if self.peek(text):
            self.at += len(text)
            return True
        return False

    def next(self) -> str:
        if self.at >= len(self.source):
            raise UnsupportedPattern("the expression ends too early")
        self.at += 1
        return self.source[self.at - 1]

    def alternatives(self) -> Syntax:
        branches = [self.sequence()]
        while self.take("|"):
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else Alt(tuple(branches))

    def sequence(self) -> Syntax:
        parts: list[Syntax] = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            parts.append(self.quantified(self.term()))
        return parts[0] if len(parts) == 1 else Cat(tuple(parts))

    def term(self) -> Syntax:
        char = self.next()
        if char == "(":
            return self.group()
        if char == "[":
            return Chars(self.bracket())
        if char == ".":
            return Chars(DOT)
        if char in "^$":
            return Edge(char == "^")
        if char == "\\":
            return Chars(self.escape(in_class=False))
        if char in "*+?{}]":
            raise UnsupportedPattern(f"`{char}` stands alone")
        return Chars(((ord(char), ord(char)),))

    def group(self) -> Syntax:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise UnsupportedPattern("groups are nested too deeply")
        look: tuple[bool, bool] | None = None
        if self.take("?"):
            look = next((_LOOKS[sign] for sign in _LOOKS if self.take(sign)), None)
            if look is None and not self.take(":"):
                if not self.take("<"):
                    raise UnsupportedPattern("this kind of group is not supported")
                while self.next() != ">":
                    pass
        inside = self.alternatives()
        if not self.take(")"):
            raise UnsupportedPattern("unbalanced parenthesis")
        self.nesting -= 1
        return inside if look is None else Look(inside, *look)

    def quantified(self, part: Syntax) -> Syntax:
        high: int | None = None
        if self.take("*"):
            low = 0
        elif self.take("+"):
            low = 1
        elif self.take("?"):
            low, high = 0, 1
        elif self.take("{"):
            low, high = self.counts()
        else:
            return part
        self.take("?")  # lazy or greedy, the language is the same
        if isinstance(part, Edge | Look):
            raise UnsupportedPattern("a repeated assertion")
        return Repeat(part, low, high)

    def counts(self) -> tuple[int, int | None]:
        low = self.digits()
        high: int | None = low
        if self.take(","):
            high = None if self.peek("}") else self.digits()
        if not self.take("}") or (high is not None and high < low) or max(low, high or 0) > MAX_REPEAT:
            raise UnsupportedPattern("a repetition count that is malformed or too large")
        return low, high

    def digits(self) -> int:
        start = self.at
        while self.at < len(self.source) and self.source[self.at] in "0123456789":
            self.at += 1
        if start == self.at or self.at - start > 6:
            raise UnsupportedPattern("a repetition count that is malformed or too large")
        return int(self.source[start : self.at])

    def bracket(self) -> Ranges:
        negated = self.take("^")
        pairs: list[tuple[int, int]] = []
        while not self.take("]"):
            low = self.member()
            if self.peek("-") and not self.peek("-]"):
                self.at += 1
                high = self.member()
                if len(low) != 1 or len(high) != 1 or low[0][0] != low[0][1] or high[0][0] != high[0][1]:
                    raise UnsupportedPattern("a class as the end of a range")
                if low[0][0] > high[0][0]:
                    raise UnsupportedPattern("a range that runs backwards")
                pairs.append((low[0][0], high[0][0]))
            else:
                pairs.extend(low)
        merged = merge(pairs)
        return invert(merged) if negated else merged

    def member(self) -> Ranges:
        char = self.next()
        if char == "\\":
            return self.escape(in_class=True)
        if char == "[":
            raise UnsupportedPattern("`[` inside a class")  # engines disagree: nested class or literal
        if char in "&~" and self.peek(char):
            raise UnsupportedPattern("a set operator inside a class")
        return ((ord(char), ord(char)),)

    def escape(self, *, in_class: bool) -> Ranges:
        char = self.next()
        if char in _CLASSES:
            return _CLASSES[char]
        if char in _CONTROLS:
            code = _CONTROLS[char]
        elif char == "x":
            code = self.hexadecimal(2)
        elif char == "u":
            code = self.unicode()
        elif in_class and char == "b":
            code = 8
        elif char in _PUNCTUATION or (char.isascii() and char.isprintable() and not char.isalnum()):
            code = ord(char)  # without the `u` flag an escaped sign means itself, and validators agree
        else:
            raise UnsupportedPattern(f"the escape `\\{char}` is not supported")
        return ((code, code),)

    def hexadecimal(self, length: int) -> int:
        text = self.source[self.at : self.at + length]
        if len(text) != length or any(c not in "0123456789abcdefABCDEF" for c in text):
            raise UnsupportedPattern("a malformed hexadecimal escape")
        self.at += length
        return int(text, 16)

    def unicode(self) -> int:
        if self.take("{"):
            end = self.source.find("}", self.at)
            code = self.hexadecimal(end - self.at) if 0 < end - self.at <= 6 else LAST + 1
            self.at += 1
        else:
            code = self.hexadecimal(4)
            if 0xD800 <= code < 0xDC00 and self.take("\\u"):
                low = self.hexadecimal(4)
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) if 0xDC00 <= low < 0xE000 else LAST + 1
        if code > LAST or 0xD800 <= code < 0xE000:
            raise UnsupportedPattern("an escape that names no character")
        return code
