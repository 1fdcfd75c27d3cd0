"""Whether a field that a flow reads of a result is still there, still always there, and still what it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from keel.compat.interface import Side
from keel.core.canonical import canonical_bytes
from keel.core.model import Json
from keel.core.schema import bare
from keel.core.text import excerpt
from keel.drift.usage import Read
from keel.drift.wording import describe
from keel.gates.fragments import fragment
from keel.gates.producers import produced, source_of
from keel.gates.shapes import Absent, Key, resolved, step

Clause = tuple[str, bool]
"""(what is wrong, whether it fails for sure)"""


def read_changes(read: Read, key: str, old: Json, new: Json) -> Iterator[Clause]:
    """Yield what changed about one field that is read.

    Args:
        read: the subscript.
        key: the tool whose result it is part of.
        old: its whole output schema before the change.
        new: the same after it.
    """
    graph, value = read.use.flow.graph, read.value
    source = source_of(graph, value)
    was, now = (produced(graph, value, lambda _, root=root: root) for root in (old, new))  # type: ignore[misc]
    if source is None or was is None or was.schema is Absent.EXCLUDED:
        return
    field = f"`{excerpt(_shown(source[1]), 80)}`"
    if now is not None and now.schema is Absent.EXCLUDED:
        yield f"`{key}` no longer returns {field}", True
    elif isinstance(was.schema, Absent) or _excluded_above(new, source[1]):
        # What is said of the field above it says enough.
        return
    elif now is None or isinstance(now.schema, Absent):
        yield f"`{key}` no longer describes {field}", False
    else:
        if _always(old, source[1]) and not _always(new, source[1]):
            yield f"`{key}` may now leave out {field}", False
        if read.deepest:
            yield from _type(key, field, fragment(old, was.schema), fragment(new, now.schema))


def _type(key: str, field: str, old: Json, new: Json) -> Iterator[Clause]:
    if canonical_bytes(bare(old)) == canonical_bytes(bare(new)):
        return
    # Loaded only here: most runs compare nothing but digests.
    from keel.compat.relation import relate  # noqa: PLC0415

    verdict = relate(old, new)
    if verdict.output is Side.BREAKING:
        clause = describe(old, new, verdict.pointer).partition(" at `")[0]
        yield f"`{key}` may return something else as {field}{f': {clause}' if clause else ''}", False
    elif verdict.output is Side.UNDECIDED:
        yield f"{field} of `{key}` is not proved to be what it was", False


def _excluded_above(root: Json, path: tuple[Key, ...]) -> bool:
    schema: Json = root
    for key in path[:-1]:
        below = step(root, schema, key)
        if isinstance(below, Absent):
            return below is Absent.EXCLUDED
        schema = below
    return False


def _always(root: Json, path: tuple[Key, ...]) -> bool:
    """Tell whether every result has the field at the end of a path, as far as `required` says."""
    schema: Json = root
    for position, key in enumerate(path):
        schema = resolved(root, schema)
        if not isinstance(schema, Mapping):
            return False
        if position == len(path) - 1:
            names = schema.get("required")
            return isinstance(names, list) and key in names
        below = step(root, schema, key)
        if isinstance(below, Absent):
            return False
        schema = below
    return False


def _shown(path: tuple[Key, ...]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else "[]" if key is None else f".{key}" for key in path).lstrip(
        "."
    )
