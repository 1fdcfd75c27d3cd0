"""Digests of definitions by recipe `k1`: SHA-256 over canonical JSON in normal form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from keel.core.canonical import canonical_bytes
from keel.core.jsontext import escape_token
from keel.core.model import Contract, Surface
from keel.core.schema import KEYWORDS, Shape, normalise

RECIPE = "k1"
"""Names how a digest is made, so that a better recipe can come without making old locks unreadable."""

NULL_IS_ABSENT = ("_meta", "annotations", "description", "execution", "icons", "outputSchema", "title")
"""Optional fields of a tool (MCP 2025-11-25 `Tool`) whose `null` some serializers write for absent."""

EXTRA = ("_meta", "icons")
"""Fields that are recorded beside the definition: a change of them changes no call."""


def digest(value: Any) -> str:
    """Return `k1:<hex>` of a JSON value as it stands.

    Raises:
        CanonicalError: if the value has no canonical form.
    """
    return f"{RECIPE}:{hashlib.sha256(canonical_bytes(value)).hexdigest()}"


def digest_bytes(data: bytes) -> str:
    """Return `sha256:<hex>` of bytes, for files that are not JSON."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def normal_tool(wire: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `k1` normal form of a tool's wire object.

    Tool-level optional fields that are `null` are absent; `required` and `type` arrays are sorted where a schema
    stands; nothing else is touched.
    """
    tool = {name: value for name, value in wire.items() if value is not None or name not in NULL_IS_ABSENT}
    for name in ("inputSchema", "outputSchema"):
        if name in tool:
            tool[name] = normalise(tool[name])
    return tool


def definition(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a normal-form tool that its definition digest covers: all but `_meta` and `icons`."""
    return {name: value for name, value in tool.items() if name not in EXTRA}


def definition_digest(tool: Mapping[str, Any]) -> str:
    """Return the definition digest of a tool's wire object; equal for every spelling that `k1` holds equal."""
    return digest(definition(normal_tool(tool)))


def extra_digest(tool: Mapping[str, Any]) -> str:
    """Return the digest of `_meta` and `icons`."""
    return digest({name: tool[name] for name in EXTRA if tool.get(name) is not None})


def execution_digest(definition_: str, contract: Contract) -> str:
    """Return the digest that binds a call: definition digest, contract, and whether it was asserted."""
    return digest(
        {
            "definition": definition_,
            "effect": contract.effect.value,
            "idempotency": contract.idempotency.value,
            "asserted": contract.asserted,
        }
    )


def surface_value(surface: Surface) -> dict[str, Any]:
    """Return the JSON document of a surface file; the order in which a server lists its tools means nothing."""
    tools = sorted((dict(tool) for tool in surface.tools), key=lambda tool: str(tool.get("name")))
    value: dict[str, Any] = {"initialize": dict(surface.initialize), "tools": tools}
    for name, items in (
        ("prompts", surface.prompts),
        ("resources", surface.resources),
        ("resourceTemplates", surface.resource_templates),
    ):
        if items is not None:
            value[name] = [dict(item) for item in items]
    return value


def surface_digest(surface: Surface) -> str:
    """Return the digest of everything a surface file holds."""
    return digest(surface_value(surface))


def texts(tool: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (pointer, string) for every string of a tool that a model reads.

    Property names and what stands under `enum` and `const` of a schema belong to the schemas instead; `_meta` and
    `icons` are extra, `name` is the key.
    """
    for field, value in tool.items():
        at = f"/{escape_token(field)}"
        if field in ("inputSchema", "outputSchema"):
            yield from _schema_texts(value, at)
        elif field not in EXTRA and field != "name":
            yield from _strings(value, at)


_STRUCTURAL = frozenset(
    {"$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveRef", "$ref", "$schema", "const", "enum", "format"}
    | {"pattern", "required", "type", "contentEncoding", "contentMediaType", "dependentRequired"}
)


def _schema_texts(schema: Any, at: str) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        pointer = f"{at}/{escape_token(keyword)}"
        shape = KEYWORDS.get(keyword)
        if shape is None:
            if keyword not in _STRUCTURAL:
                yield from _strings(value, pointer)
        elif isinstance(value, dict) and shape in (Shape.MAP, Shape.MAP_OR_NAMES):
            for name, item in value.items():
                yield from _schema_texts(item, f"{pointer}/{escape_token(name)}")
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from _schema_texts(item, f"{pointer}/{index}")
        else:
            yield from _schema_texts(value, pointer)


def _strings(value: Any, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _strings(item, f"{at}/{escape_token(name)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, f"{at}/{index}")
