"""A seeded search for witnesses, for what the solver left open: a fixed number of instances built from both schemas."""

from __future__ import annotations

import random
from collections.abc import Iterator

from keel.compat.interface import Json
from keel.compat.nodes import Kind, kind_of
from keel.compat.values import extent

COUNT = 300
SEED = 20260101
MAX_DEPTH = 5
_STRINGS = ("", "a", "A", "0", "-", " ", "ab", "1.0", "x@y.zz", "2024-01-01", "https://a.bc", "\u00e9", "a" * 40)
_TYPES = {"string": Kind.STRING, "number": Kind.NUMBER, "integer": Kind.NUMBER, "boolean": Kind.BOOLEAN}
_NUMBERS = (0, 1, -1, 2, 3, 0.5, -0.5, 10, 100, 2**31, 2**53 + 1)


def samples(source: Json, target: Json, seeds: list[Json]) -> Iterator[Json]:
    """Instances that resemble what both schemas speak about, the same ones on every run."""
    rng = random.Random(SEED)  # noqa: S311 - repeatability is the point
    pool = _pool(source, target)
    yield from pool
    for _ in range(COUNT):
        if seeds and rng.random() < 0.4:
            yield _mutate(rng, rng.choice(seeds), pool)
        else:
            yield _build(rng, source, source, pool, 0)


def _pool(*schemas: Json) -> list[Json]:
    found: list[Json] = [None, True, False, [], {}, *_STRINGS, *_NUMBERS]
    stack = list(schemas)
    while stack and len(found) < 400:
        schema = stack.pop(0)
        if isinstance(schema, list):
            stack.extend(schema)
        elif isinstance(schema, dict):
            for name, value in schema.items():
                if name in ("enum", "examples") and isinstance(value, list):
                    found.extend(value[:20])
                elif name in ("const", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
                    found.append(value)
                    if isinstance(value, int) and not isinstance(value, bool):
                        found.extend((value + 1, value - 1))
                stack.append(value)
    return [value for value in found if extent(value, 20, 200) is None]


def _build(rng: random.Random, schema: Json, root: Json, pool: list[Json], depth: int) -> Json:
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return rng.choice(pool)
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return rng.choice(schema["enum"])
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list) and branches and "properties" not in schema:
            return _build(rng, rng.choice(branches), root, pool, depth + 1)
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target = root
        for part in reference[2:].split("/"):
            target = target.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
        return _build(rng, target, root, pool, depth + 1)
    return _typed(rng, schema, root, pool, depth)


def _typed(rng: random.Random, schema: dict[str, Json], root: Json, pool: list[Json], depth: int) -> Json:
    declared = schema.get("type")
    kind = rng.choice(declared) if isinstance(declared, list) and declared else declared
    if kind == "object" or "properties" in schema:
        table = schema.get("properties")
        table = table if isinstance(table, dict) else {}
        required = schema.get("required")
        needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
        return {
            name: _build(rng, table.get(name, True), root, pool, depth + 1)
            for name in sorted({*table, *needed})
            if name in needed or rng.random() < 0.5
        }
    if kind == "array" or "items" in schema:
        low = schema.get("minItems", 0)
        low = low if isinstance(low, int) and 0 <= low < 20 else 0
        items = schema.get("items", True)
        return [_build(rng, items, root, pool, depth + 1) for _ in range(low + rng.randrange(3))]
    fitting = [
        value for value in pool if not isinstance(kind, str) or _TYPES.get(kind, kind_of(value)) is kind_of(value)
    ]
    return rng.choice(fitting or pool)


def _mutate(rng: random.Random, value: Json, pool: list[Json]) -> Json:
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(sorted(value))
        return {**value, name: _mutate(rng, value[name], pool)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        index = rng.randrange(len(value))
        return [*value[:index], _mutate(rng, value[index], pool), *value[index + 1 :]]
    return rng.choice(pool)
