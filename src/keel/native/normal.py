"""The normal form of a schema that pydantic generated: one spelling, whatever version of pydantic and Python wrote it.

What minor versions are known to respell, and what keel writes instead:

- Generated `title`s come and go and say nothing that the name does not: every `title` of a schema is dropped. Text for
  the model belongs in `description`, which is kept.
- Definitions are inlined, because which types get a `$defs` entry, and under which name, differs; only a type that
  holds itself stays in `$defs`. Text beside a `$ref` wins over that of its target. `discriminator`, which names
  definitions and is no JSON Schema keyword, is dropped.
- `allOf` and `anyOf` of one schema, the wrappers of older versions, are merged with what holds them; nested `anyOf` are
  flattened, repeated branches dropped, and `null` comes last.
- `const` beside a one-value `enum`, and a one-value `enum`, are `const`; `type` stands beside either when all values
  share it.
- The pattern that some versions add to the text form of a `Decimal` is dropped: it restates the type.
- Lines of a `description` have no trailing blanks, which Python 3.13 strips from docstrings.
- Whole numbers have no fraction (`0`, not `0.0`).
- Keywords are in alphabetical order; properties stay in the order of the source.

The set of values that a schema accepts is never changed, the `Decimal` pattern aside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keel.core.schema import KEYWORDS, Shape, references
from keel.errors import KeelError
from keel.native.docstring import trimmed

MAX_NODES = 50_000
"""Schema nodes of one tool after inlining (DESIGN 11)."""

_DEFS = "#/$defs/"
_DECIMAL_PATTERN = "^(?!^[-+.]*$)[+-]?0*"


class SchemaTooLarge(KeelError):
    """A tool whose inlined schema has more than `MAX_NODES` nodes."""

    code = "schema-too-complex"


def normal_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the normal form of a generated schema document.

    Raises:
        SchemaTooLarge: if the schema with its definitions inlined has more than `MAX_NODES` nodes.
    """
    definitions = schema.get("$defs", {})
    root = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    inliner = _Inliner(definitions)
    settled: dict[str, Any] = inliner.root(root)
    kept = {name: inliner.node(definitions[name]) for name in sorted(inliner.recursive)}
    if kept:
        names = _short_names(kept)
        settled["$defs"] = {names[name]: value for name, value in kept.items()}
        settled = _renamed(settled, names)
    return {**_ordered(settled)}


class _Inliner:
    """Replaces references by their targets, except where a type holds itself."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions
        self.recursive = _recursive(definitions)
        self.nodes = 0

    def root(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Settle the document's root, which never is a bare reference: readers look for its `type` and `properties`."""
        name = _target(schema, self.definitions)
        if name in self.recursive:
            schema = _merged(schema, "$ref", self.definitions[name])
        settled = self.node(schema)
        return settled if isinstance(settled, dict) else {"allOf": [settled]}

    def node(self, schema: Any) -> Any:
        """Settle one schema and everything below it."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise SchemaTooLarge(f"its schema has more than {MAX_NODES:,} nodes")
        if not isinstance(schema, dict):
            return schema
        name = _target(schema, self.definitions)
        if name is not None and name not in self.recursive:
            return self.node(_merged(schema, "$ref", self.definitions[name]))
        return _settled(_below(schema, self.node))


def _below(schema: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a copy of a schema with every schema directly below it changed."""
    copy = dict(schema)
    for keyword, value in schema.items():
        shape = KEYWORDS.get(keyword)
        if shape is None:
            continue
        if isinstance(value, dict) and shape in (Shape.MAP, Shape.MAP_OR_NAMES):
            copy[keyword] = {name: change(item) for name, item in value.items()}
        elif isinstance(value, list) and shape in (Shape.LIST, Shape.SCHEMA_OR_LIST):
            copy[keyword] = [change(item) for item in value]
        elif shape in (Shape.SCHEMA, Shape.SCHEMA_OR_LIST):
            copy[keyword] = change(value)
    return copy


def _target(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str | None:
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith(_DEFS):
        return None
    name = reference.removeprefix(_DEFS)
    return name if isinstance(definitions.get(name), dict) else None


def _recursive(definitions: Mapping[str, Any]) -> frozenset[str]:
    """Return the definitions that reach themselves."""
    links = {
        name: {target.removeprefix(_DEFS) for _, target in references(value) if target.startswith(_DEFS)}
        for name, value in definitions.items()
    }
    return frozenset(name for name in links if name in _reached(name, links))


def _reached(start: str, links: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    pending = list(links[start])
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending.extend(links.get(name, ()))
    return seen


def _short_names(names: Mapping[str, Any]) -> dict[str, str]:
    """Return the class name for each definition, or its full name where two classes share one."""
    short = {name: name.rpartition("__")[2].removesuffix("-Input").removesuffix("-Output") for name in names}
    taken = list(short.values())
    return {name: value if taken.count(value) == 1 else name for name, value in short.items()}


def _renamed(schema: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(schema, dict):
        return schema
    copy = _below(schema, lambda item: _renamed(item, names))
    reference = copy.get("$ref")
    if isinstance(reference, str) and reference.removeprefix(_DEFS) in names:
        copy["$ref"] = _DEFS + names[reference.removeprefix(_DEFS)]
    return copy


def _settled(schema: dict[str, Any]) -> Any:
    """Respell one node whose children are settled."""
    schema.pop("title", None)
    schema.pop("discriminator", None)
    if str(schema.get("pattern", "")).startswith(_DECIMAL_PATTERN):
        del schema["pattern"]
    if isinstance(schema.get("description"), str):
        schema["description"] = trimmed(schema["description"])
    _settle_union(schema)
    for wrapper in ("allOf", "anyOf"):
        schema = _unwrapped(schema, wrapper)
    _settle_values(schema)
    return schema


def _settle_union(schema: dict[str, Any]) -> None:
    branches = schema.get("anyOf")
    if not isinstance(branches, list):
        return
    flat: list[Any] = []
    for branch in branches:
        nested = branch["anyOf"] if isinstance(branch, dict) and branch.keys() == {"anyOf"} else [branch]
        flat.extend(item for item in nested if item not in flat)
    null = {"type": "null"}
    schema["anyOf"] = [item for item in flat if item != null] + [item for item in flat if item == null]


def _unwrapped(schema: dict[str, Any], wrapper: str) -> dict[str, Any]:
    branches = schema.get(wrapper)
    if isinstance(branches, list) and len(branches) == 1 and isinstance(branches[0], dict):
        return _merged(schema, wrapper, branches[0])
    return schema


_ANNOTATIONS = frozenset({"default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"})


def _merged(schema: Mapping[str, Any], keyword: str, target: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema whose `keyword` stands for `target` with the target's keywords in it.

    Only text beside it is merged; a constraint beside it would mean something else inside (`additionalProperties`).
    """
    beside = {name: value for name, value in schema.items() if name != keyword}
    if all(name in _ANNOTATIONS or name.startswith("x-") for name in beside):
        return {**target, **beside}
    return {**beside, "allOf": [*beside.get("allOf", ()), target]}


_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def _settle_values(schema: dict[str, Any]) -> None:
    values = schema.get("enum")
    if isinstance(values, list) and len(values) == 1 and schema.get("const", values[0]) == values[0]:
        schema["const"] = values[0]
        del schema["enum"]
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list) and values:
        kinds = {_JSON_TYPES.get(type(value)) for value in values}
        kind = kinds.pop()
        if not kinds and kind is not None:
            schema.setdefault("type", kind)


def _ordered(schema: Any) -> Any:
    """Return a schema with sorted keywords, and whole numbers written without a fraction."""
    if not isinstance(schema, dict):
        return schema
    below = _below(schema, _ordered)
    return {keyword: below[keyword] if keyword in KEYWORDS else plain(below[keyword]) for keyword in sorted(below)}


def plain(value: Any) -> Any:
    """Return JSON data with whole floats as integers, as `k1` reads them."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value
