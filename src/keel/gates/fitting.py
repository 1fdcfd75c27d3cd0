"""Whether a value can fit at all, by the relation of schemas: values handed on, and fields that are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keel.core.model import Json
from keel.core.schema import ASSERTIONS, KEYWORDS
from keel.gates.fragments import transplanted
from keel.gates.shapes import Key, fits_never, resolved

_PLAIN = frozenset({"type"})
"""What the kinds of values alone decide."""
_SAID_BY_PATHS = frozenset({"$defs", "additionalProperties", "definitions", "items", "properties", "required", "type"})
"""What following a path of keys already understands."""


def never_fits(out_root: Json, out: Json, in_root: Json, wanted: Json) -> bool:
    """Tell whether it is proved that no value of a producer's schema is a value of a consumer's.

    Args:
        out_root: the producer's whole output schema.
        out: the part that describes the value.
        in_root: the consumer's whole input schema.
        wanted: the part that takes it.
    """
    if fits_never(out_root, out, in_root, wanted):
        return True
    if not (_says_more(out_root, out, _PLAIN) and _says_more(in_root, wanted, _PLAIN)):
        return False
    one, other = transplanted(out_root, out, "given"), transplanted(in_root, wanted, "taken")
    if one is None or other is None or _dialect(out_root) != _dialect(in_root):
        return False
    both = {"allOf": [one[0], other[0]], "definitions": {**one[1], **other[1]}}
    return _is_empty({**_dialect(in_root), **both})


def never_has(root: Json, path: tuple[Key, ...]) -> bool:
    """Tell whether it is proved that no value of a schema has anything at a path of keys.

    Args:
        root: a whole output schema.
        path: property names, indices, and None for any element.
    """
    if not path or not _says_more(root, root, _SAID_BY_PATHS):
        return False
    moved = transplanted(root, root, "given")
    if moved is None:
        return False
    return _is_empty({**_dialect(root), "allOf": [moved[0], _having(path)], "definitions": moved[1]})


def _having(path: tuple[Key, ...]) -> Json:
    schema: Json = True
    for key in reversed(path):
        if isinstance(key, str):
            schema = {"type": "object", "required": [key], "properties": {key: schema}}
        elif key is None or key < 0:
            schema = {"type": "array", "minItems": 1 if key is None else -key}
        else:
            schema = {"type": "array", "minItems": key + 1, "prefixItems": [*([True] * key), schema]}
    return schema


def _says_more(root: Json, schema: Json, known: frozenset[str]) -> bool:
    schema = resolved(root, schema)
    return isinstance(schema, Mapping) and bool(schema.keys() & (ASSERTIONS | KEYWORDS.keys()) - known)


def _dialect(root: Any) -> dict[str, Json]:
    return {"$schema": root["$schema"]} if isinstance(root, Mapping) and "$schema" in root else {}


def _is_empty(schema: Json) -> bool:
    # Loaded only here: most checks need no proof.
    from keel.compat.interface import Relation  # noqa: PLC0415
    from keel.compat.relation import relate  # noqa: PLC0415

    return relate(schema, False).relation is Relation.EQUIVALENT
