"""Strict reading of JSON text: what a lenient parser would silently repair is reported with its pointer.

RFC 8259 leaves repeated names, number range and lone surrogates to implementations; a hash over a definition
must not depend on which choice one parser made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, NoReturn

from keel.errors import KeelError

JsonValue = Any
"""A JSON value: dict, list, str, int, float, bool or None."""

MAX_DEPTH = 128
"""Default limit of nesting (DESIGN 11)."""
MAX_DIGITS = 1000
"""Default limit of a number's digits, written out (DESIGN 11)."""


class Fault(StrEnum):
    """What can be wrong with JSON text that a lenient parser would accept."""

    DUPLICATE_KEY = "duplicate-key"
    NUMBER_RANGE = "number-range"
    LONE_SURROGATE = "lone-surrogate"
    DEPTH = "depth"


@dataclass(frozen=True, slots=True)
class JsonFault:
    """One fault and where it stands."""

    fault: Fault
    pointer: str
    """RFC 6901 pointer from the root of the document."""
    detail: str


class JsonSyntaxError(KeelError):
    """Text that is not JSON at all; carries the 1-based line and column."""

    code = "input-error"

    def __init__(self, message: str, *, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def escape_token(token: str) -> str:
    """Return one reference token escaped for a JSON pointer (RFC 6901 section 3)."""
    return token.replace("~", "~0").replace("/", "~1")


def parse(data: bytes | str, *, max_depth: int = MAX_DEPTH) -> tuple[Any, tuple[JsonFault, ...]]:
    """Parse JSON text and report, beside the value, everything that had to be repaired to build it.

    Integers of any notation become `int` (`1.0`, `1e2`), other numbers `float`. At a fault the value holds the last
    of the repeated keys, `None` for a number out of range, the string as read for a lone surrogate, and `None` in
    place of what lies deeper than `max_depth`.

    Raises:
        JsonSyntaxError: if the text is not UTF-8 or not JSON.
    """
    if isinstance(data, bytes):
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"byte {error.start} is not UTF-8"
            raise JsonSyntaxError(message, line=data.count(b"\n", 0, error.start) + 1, column=1) from error
    else:
        text = data.removeprefix("\ufeff")
    try:
        raw = _decoded(text)
    except RecursionError:
        # How deep the decoder gets differs by Python; what it cannot reach is beyond the limit anyway.
        raw = _decoded(_shallow(text, max_depth))
    faults: list[JsonFault] = []
    value = _settle(raw, faults, max_depth)
    return value, tuple(faults)


def _decoded(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise JsonSyntaxError(error.msg, line=error.lineno, column=error.colno) from error


_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_PARTNER = {"]": "[", "}": "{"}


def _shallow(text: str, max_depth: int) -> str:
    """Return the text with every array and object below `max_depth` emptied, so that only its parent is at fault."""
    parts: list[str] = []
    opened: list[str] = []
    start = 0
    for match in _BRACKETS.finditer(text):
        sign = match.group()
        if sign in "[{":
            opened.append(sign)
            if len(opened) == max_depth + 1:
                parts.append(text[start : match.end()])
        elif sign in _PARTNER:
            if not opened or opened.pop() != _PARTNER[sign]:
                line = text.count("\n", 0, match.start()) + 1
                raise JsonSyntaxError(f"unexpected `{sign}`", line=line)
            if len(opened) == max_depth:
                start = match.start()
    if len(opened) > max_depth:
        raise JsonSyntaxError("the text ends inside an array or object", line=text.count("\n") + 1)
    return "".join([*parts, text[start:]])


def parse_strict(data: bytes | str, *, max_depth: int = MAX_DEPTH) -> Any:
    """Parse JSON text and refuse every fault.

    Raises:
        JsonSyntaxError: if the text is not JSON, or has any fault that `parse` would report.
    """
    value, faults = parse(data, max_depth=max_depth)
    if faults:
        first = faults[0]
        raise JsonSyntaxError(f"{first.detail} at `{first.pointer or '/'}`")
    return value


def parse_sound(data: bytes) -> Any:
    """Parse JSON text in which `parse` found no fault before; the value is the same, and the reading much faster."""
    return json.loads(data.decode("utf-8-sig"), parse_float=_number)


@dataclass(frozen=True, slots=True)
class _BadNumber:
    text: str


class _Repeated(dict[str, Any]):
    """An object whose text repeats a name; `names` lists the repeated ones."""

    names: tuple[str, ...] = ()


def _number(text: str) -> int | float | _BadNumber:
    mantissa, _, exponent = text.lower().partition("e")
    if len(exponent) > 6 or len(mantissa) > MAX_DIGITS or abs(int(exponent or 0)) > MAX_DIGITS:
        return _BadNumber(text)
    exact = Decimal(text)
    if exact == exact.to_integral_value():
        whole = int(exact)
        return whole if len(str(abs(whole))) <= MAX_DIGITS else _BadNumber(text)
    double = float(text)
    # A fraction that a double can only hold as a whole number, or as zero, would change its meaning.
    return _BadNumber(text) if double.is_integer() else double


def _integer(text: str) -> int | _BadNumber:
    return int(text) if len(text) <= MAX_DIGITS else _BadNumber(text)


def _constant(text: str) -> NoReturn:
    raise json.JSONDecodeError(f"{text} is not JSON", text, 0)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) == len(pairs):
        return built
    seen: set[str] = set()
    repeated = _Repeated(built)
    repeated.names = tuple(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    return repeated


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_number, parse_int=_integer, parse_constant=_constant)


def _settle(raw: Any, faults: list[JsonFault], max_depth: int) -> Any:
    """Replace the markers that the hooks left behind, collecting a fault for each; iterative, so depth is no limit."""
    holder = [raw]
    stack: list[tuple[Any, Any, str, int]] = [(holder, 0, "", 0)]
    while stack:
        parent, key, pointer, depth = stack.pop()
        value = parent[key]
        if isinstance(value, str):
            _surrogates(value, pointer, faults)
        elif isinstance(value, _BadNumber):
            shown = value.text if len(value.text) <= 40 else f"{value.text[:37]}..."
            faults.append(JsonFault(Fault.NUMBER_RANGE, pointer, f"number {shown} is out of range"))
            parent[key] = None
        elif isinstance(value, dict | list):
            if depth >= max_depth:
                faults.append(JsonFault(Fault.DEPTH, pointer, f"nesting is deeper than {max_depth} levels"))
                parent[key] = None
                continue
            if isinstance(value, _Repeated):
                faults.extend(
                    JsonFault(Fault.DUPLICATE_KEY, f"{pointer}/{escape_token(name)}", f"key `{name}` is repeated")
                    for name in value.names
                )
                value = dict(value)
                parent[key] = value
            stack.extend(_children(value, pointer, depth + 1, faults))
    return holder[0]


def _children(
    value: dict[str, Any] | list[Any], pointer: str, depth: int, faults: list[JsonFault]
) -> Iterator[tuple[Any, Any, str, int]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            if item.__class__ is not int and item is not None and item.__class__ is not bool:
                yield value, index, f"{pointer}/{index}", depth
        return
    for name, item in value.items():
        if not name.isascii():
            _surrogates(name, f"{pointer}/{escape_token(name)}", faults)
        if item.__class__ is not int and item is not None and item.__class__ is not bool:
            yield value, name, f"{pointer}/{escape_token(name)}", depth


def _surrogates(text: str, pointer: str, faults: list[JsonFault]) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        shown = pointer.encode("ascii", "backslashreplace").decode("ascii")
        code_point = f"U+{ord(text[error.start]):04X}"
        faults.append(JsonFault(Fault.LONE_SURROGATE, shown, f"string holds the lone surrogate {code_point}"))
