"""Cheap proofs that two literals have no common instance: their types differ, or a required tag does."""

from __future__ import annotations

from collections.abc import Hashable

from keel.compat.nodes import FALSE, All, Arena, Fields, Has, Lit, Types, Values


def disjoint(arena: Arena, one: Lit, other: Lit) -> bool:
    """Whether the literals are seen to exclude each other; False means only that nothing was seen."""
    if FALSE in (one, other) or one == -other:
        return True
    first, second = _parts(arena, one), _parts(arena, other)
    if any(-part in second for part in first):
        return True
    kinds, other_kinds = _kinds(arena, first), _kinds(arena, second)
    if kinds is not None and other_kinds is not None and not kinds & other_kinds:
        return True
    tags, other_tags = _tags(arena, first), _tags(arena, second)
    return any(name in other_tags and not keys & other_tags[name] for name, keys in tags.items())


def _parts(arena: Arena, literal: Lit) -> tuple[Lit, ...]:
    node = arena[literal]
    return node.parts if literal > 0 and isinstance(node, All) else (literal,)


def _kinds(arena: Arena, parts: tuple[Lit, ...]) -> frozenset[object] | None:
    for part in parts:
        node = arena[part]
        if part > 0 and isinstance(node, Types):
            return frozenset(node.kinds)
    return None


def _tags(arena: Arena, parts: tuple[Lit, ...]) -> dict[str, frozenset[Hashable]]:
    """Required properties of objects whose values are listed; other types than object make them no tags."""
    required = {node.name for part in parts if part > 0 and isinstance(node := arena[part], Has)}
    kinds = _kinds(arena, parts)
    if kinds is None or len(kinds) != 1 or not required:
        return {}
    tags: dict[str, frozenset[Hashable]] = {}
    for part in parts:
        node = arena[part]
        if part < 0 or not isinstance(node, Fields):
            continue
        names = arena[node.names]
        if node.names > 0 and isinstance(names, Values) and len(names.values) == 1 and names.values[0] in required:
            listed = next((n for p in _parts(arena, node.value) if p > 0 and isinstance(n := arena[p], Values)), None)
            if listed is not None:
                tags[str(names.values[0])] = listed.keys
    return tags
