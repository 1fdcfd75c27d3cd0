"""One clause on what a schema change did, read off the keyword where it stands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain
from typing import Any

from keel.core.schema import follow
from keel.core.text import excerpt

_LISTS = frozenset({"enum", "required", "type"})
_BRANCHES = frozenset({"allOf", "anyOf", "oneOf"})
_ABSENT = object()


def describe(old: Any, new: Any, pointer: str) -> str:
    """Return a clause such as "now requires `tenant`" for the keyword that a pointer names, or an empty string.

    Args:
        old: the schema before.
        new: the schema after.
        pointer: RFC 6901 pointer to a keyword, in either schema.
    """
    owner, _, keyword = pointer.rpartition("/")
    before, after = _at(old, pointer), _at(new, pointer)
    where = f" at `{excerpt(owner, 100)}`" if owner else ""
    lost = sorted(_declared(_at(old, owner)) - _declared(_at(new, owner)))
    if keyword == "additionalProperties" and lost and after is False:
        return f"no longer accepts {_names(lost)}{where}"
    if not pointer or _same(before, after):
        # What decides stands elsewhere, such as at a reference to here; an equal keyword explains nothing.
        return ""
    if keyword == "type":
        return _list(keyword, _types(_at(old, owner)), _types(_at(new, owner)), _ABSENT) + where
    if keyword in _LISTS:
        return _list(keyword, _members(before), _members(after), _at(new, owner)) + where
    if keyword in _BRANCHES:
        return f"the branches of `{keyword}` changed{where}"
    return f"`{excerpt(keyword, 40)}` {_shown(before)} → {_shown(after)}{where}"


def _same(before: Any, after: Any) -> bool:
    if before is _ABSENT or after is _ABSENT:
        return before is after
    return json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


def _at(schema: Any, pointer: str) -> Any:
    found, value = follow(schema, pointer)
    return value if found else _ABSENT


def _members(value: Any) -> tuple[Any, ...]:
    if value is _ABSENT:
        return ()
    return tuple(value) if isinstance(value, list) else (value,)


def _types(schema: Any) -> tuple[Any, ...]:
    """Return the types that a schema names, itself or as a union of branches: generators write `string | null` so."""
    if not isinstance(schema, Mapping):
        return ()
    if "type" in schema:
        return _members(schema["type"])
    branches = schema.get("anyOf", schema.get("oneOf"))
    if not isinstance(branches, list):
        return ()
    named = [_types(branch) for branch in branches]
    return tuple(dict.fromkeys(chain.from_iterable(named))) if all(named) else ()


def _list(keyword: str, before: tuple[Any, ...], after: tuple[Any, ...], owner: Any) -> str:
    gained = [item for item in after if item not in before]
    lost = [item for item in before if item not in after]
    if keyword == "required":
        parts = ([f"now requires {_names(gained)}{_defaults(gained, owner)}"] if gained else []) + (
            [f"no longer requires {_names(lost)}"] if lost else []
        )
    elif keyword == "type" or not before or not after:
        parts = [f"`{keyword}` {_names(before) or 'absent'} → {_names(after) or 'absent'}"]
    else:
        parts = ([f"`{keyword}` loses {_names(lost)}"] if lost else []) + (
            [f"`{keyword}` gains {_names(gained)}"] if gained else []
        )
    return " and ".join(parts) or f"`{keyword}` changed"


def _defaults(names: list[Any], owner: Any) -> str:
    """Name the defaults of members that became required: a server that applies them may still take the old calls."""
    properties = owner.get("properties") if isinstance(owner, Mapping) else None
    declared = (
        {name: properties.get(name) for name in names if isinstance(name, str)}
        if isinstance(properties, Mapping)
        else {}
    )
    shown = [
        f"`{excerpt(name, 40)}` is {_shown(item['default'])}"
        for name, item in declared.items()
        if isinstance(item, Mapping) and "default" in item
    ]
    return f" (default of {', '.join(shown[:3])}{' …' if len(shown) > 3 else ''})" if shown else ""


def _declared(schema: Any) -> set[str]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return set(properties) if isinstance(properties, Mapping) else set()


def _names(items: Any) -> str:
    shown = [f"`{excerpt(item if isinstance(item, str) else json.dumps(item, sort_keys=True), 40)}`" for item in items]
    return ", ".join(shown[:6]) + (f" and {len(shown) - 6} more" if len(shown) > 6 else "")


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    return f"`{excerpt(json.dumps(value, ensure_ascii=False, sort_keys=True), 60)}`"
