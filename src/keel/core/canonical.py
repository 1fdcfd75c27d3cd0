"""Canonical JSON: one byte string for each JSON value.

RFC 8785 (JSON Canonicalization Scheme) with one difference, recipe `k1`: a number whose value is an integer is
written as its exact digits, because definitions carry 64-bit identifiers that a double cannot hold.
"""

from __future__ import annotations

import json
import math
from typing import Any

from keel.errors import KeelError

MAX_DEPTH = 400
"""Deeper values are refused; input is limited to far less."""


class CanonicalError(KeelError):
    """A value that has no canonical form: NaN, an infinity, a lone surrogate, a foreign type, or too much depth."""

    code = "input-error"


def canonical_bytes(value: Any) -> bytes:
    """Return the canonical UTF-8 text of a JSON value.

    Source: RFC 8785 sections 3.2.2 and 3.2.3; ECMA-262 Number::toString for numbers with a fraction.

    Raises:
        CanonicalError: if the value holds NaN, an infinity, a lone surrogate, an integer of thousands of digits, a
            non-string key, a type that JSON does not have, or nests deeper than `MAX_DEPTH`.
    """
    try:
        text = _plain(value) if _is_plain(value) else _write(value, 0)
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        code_point = f"U+{ord(error.object[error.start]):04X}"
        raise CanonicalError(f"string holds the lone surrogate {code_point}") from error
    except ValueError as error:  # Python writes no integer that is longer than it would read
        raise CanonicalError("an integer has too many digits") from error


_plain = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False).encode
_string = json.JSONEncoder(ensure_ascii=False).encode


def _is_plain(value: Any) -> bool:
    """Tell whether the standard encoder already gives the canonical text.

    It does without floats and where sorting by code point equals sorting by UTF-16 unit, which holds below U+D800.
    """
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise CanonicalError(f"nesting is deeper than {MAX_DEPTH} levels")
        following: list[Any] = []
        for item in level:
            kind = item.__class__
            if kind is dict:
                for key in item:
                    if key.__class__ is not str or not (key.isascii() or max(key) < "\ud800"):
                        return False
                following.extend(item.values())
            elif kind is list:
                following.extend(item)
            elif kind is not str and kind is not int and kind is not bool and item is not None:
                return False
        level = following
    return True


def _write(value: Any, depth: int) -> str:
    if depth > MAX_DEPTH:
        raise CanonicalError(f"nesting is deeper than {MAX_DEPTH} levels")
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, list | tuple):
        return "[" + ",".join(_write(item, depth + 1) for item in value) + "]"
    if isinstance(value, dict):
        return _write_object(value, depth)
    raise CanonicalError(f"{type(value).__name__} is not a JSON type")


def _write_object(value: dict[Any, Any], depth: int) -> str:
    for key in value:
        if not isinstance(key, str):
            raise CanonicalError(f"object key {key!r} is not a string")
    members = sorted(value.items(), key=lambda member: _utf16(member[0]))
    return "{" + ",".join(f"{_string(key)}:{_write(item, depth + 1)}" for key, item in members) + "}"


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def number_text(value: float) -> str:
    """Return the `k1` text of a number: exact digits for integers, the shortest ECMA-262 form otherwise.

    Raises:
        CanonicalError: if the value is NaN or infinite.
    """
    if isinstance(value, int):
        return str(int(value))
    if not math.isfinite(value):
        raise CanonicalError(f"{value!r} is not a JSON number")
    if value.is_integer():
        return str(int(value))
    mantissa, _, exponent = repr(value).partition("e")
    if not exponent:
        # Python writes 0.0001 without an exponent and 0.00001 with one; ECMA-262 switches below 1e-6.
        return mantissa
    return _ecma_exponent(mantissa, int(exponent))


_ECMA_SMALLEST_PLAIN = -6


def _ecma_exponent(mantissa: str, exponent: int) -> str:
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "")
    if exponent >= _ECMA_SMALLEST_PLAIN:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{exponent}"
