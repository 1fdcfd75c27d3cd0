"""Reads frozen values back from the JSON that a bundle carries; what the types do not allow is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date
from enum import Enum
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


class UnreadableError(ValueError):
    """A value that does not fit its type; the message begins with its RFC 6901 pointer."""


def read_plain(kind: type[T], value: Any, at: str = "") -> T:
    """Return the frozen value that `contents.plain` gave the JSON of; places in files stay at their defaults.

    Args:
        kind: a frozen dataclass of plain fields.
        value: parsed JSON.
        at: RFC 6901 pointer of the value, for messages.

    Raises:
        UnreadableError: if a field is unknown, missing, or of another type.
    """
    if not isinstance(value, Mapping):
        raise UnreadableError(f"{at or '/'} is not an object")
    hints = get_type_hints(kind)
    unknown = sorted(value.keys() - hints.keys())
    if unknown:
        raise UnreadableError(f"{at}/{unknown[0]} is not known to this keel")
    needed = {item.name for item in fields(kind) if item.default is item.default_factory is MISSING}  # type: ignore[arg-type]
    missing = sorted(needed - value.keys())
    if missing:
        raise UnreadableError(f"{at}/{missing[0]} is missing")
    return kind(**{name: _read(hints[name], item, f"{at}/{name}") for name, item in value.items()})


def _read(hint: Any, value: Any, at: str) -> Any:
    origin = get_origin(hint)
    if origin in (UnionType, Union):
        inner = next(part for part in get_args(hint) if part is not NoneType)
        return None if value is None else _read(inner, value, at)
    if origin is tuple:
        return _read_tuple(get_args(hint), value, at)
    if is_dataclass(hint) and isinstance(hint, type):
        return read_plain(hint, value, at)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _converted(hint, value, at)
    if hint is date:
        return _converted(date.fromisoformat, value, at)
    return _scalar(hint, value, at)


def _read_tuple(parts: tuple[Any, ...], value: Any, at: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise UnreadableError(f"{at} is not an array")
    if parts[-1] is Ellipsis:
        return tuple(_read(parts[0], item, f"{at}/{index}") for index, item in enumerate(value))
    if len(parts) != len(value):
        raise UnreadableError(f"{at} has {len(value)} items, not {len(parts)}")
    return tuple(
        _read(part, item, f"{at}/{index}") for index, (part, item) in enumerate(zip(parts, value, strict=True))
    )


def _converted(convert: Any, value: Any, at: str) -> Any:
    try:
        return convert(value)
    except (TypeError, ValueError) as error:
        raise UnreadableError(f"{at} has no such value") from error


def _scalar(hint: Any, value: Any, at: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, bool) is (hint is bool) and isinstance(value, hint):
        return value
    raise UnreadableError(f"{at} is not a {hint.__name__}")
