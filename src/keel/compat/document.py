"""One schema document: its resources, anchors and the resolution of local references.

Source: JSON Schema Core 2020-12, sections 8.2 (`$id`, `$anchor`) and 8.3 (`$ref`); nothing is ever retrieved.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias
from urllib.parse import unquote, urldefrag, urljoin

from keel.compat.dialect import Dialect
from keel.compat.interface import Json

Pointer: TypeAlias = tuple[str, ...]
_BASE = "https://schema.invalid/"  # a reserved name; only a base to join relative references to

_ONE = frozenset({
    "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
_LIST = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_MAP = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})


class UnresolvedReference(LookupError):
    """A reference that leaves the document or leads nowhere; the text says which."""

    def __init__(self, message: str, address: str = "") -> None:
        super().__init__(message)
        self.address = address
        """The absolute URI of what lies outside, empty for what is missing inside."""


def spell(pointer: Pointer) -> str:
    """RFC 6901 text of a pointer."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in pointer)


def subschemas(schema: dict[str, Json]) -> Iterator[tuple[Pointer, Json]]:
    """The direct subschemas of a schema object with their relative pointers."""
    for name, value in schema.items():
        if isinstance(value, dict):
            if name in _ONE:
                yield (name,), value
            elif name in _MAP:
                yield from (((name, inner), sub) for inner, sub in value.items())
        elif isinstance(value, list) and name in _LIST:
            yield from (((name, str(index)), sub) for index, sub in enumerate(value))


class Document:
    """A root schema with an index of what its references can name."""

    def __init__(self, root: Json, dialect: Dialect) -> None:
        """Index the document; its depth must have been checked before."""
        self.root = root
        self.dialect = dialect
        self._bases: dict[Pointer, str] = {}
        self._resources: dict[str, Pointer] = {}
        self._anchors: dict[tuple[str, str], Pointer] = {}
        self._dynamic: dict[str, list[Pointer]] = {}
        self._resolved: dict[tuple[str, str], Pointer] = {}
        self._scan()

    def _scan(self) -> None:
        stack: list[tuple[Pointer, Json, str]] = [((), self.root, _BASE)]
        self._resources[_BASE] = ()
        while stack:
            pointer, schema, base = stack.pop()
            if not isinstance(schema, dict):
                continue
            identity = schema.get(self.dialect.id_keyword)
            alone = self.dialect.ref_stands_alone and "$ref" in schema
            if isinstance(identity, str) and not alone:
                base = self._name(pointer, base, identity)
            self._bases[pointer] = base
            for keyword in ("$anchor", "$dynamicAnchor"):
                anchor = schema.get(keyword)
                if isinstance(anchor, str) and self.dialect.year >= (2019 if keyword == "$anchor" else 2020):
                    self._anchors.setdefault((base, anchor), pointer)
                    if keyword == "$dynamicAnchor":
                        self._dynamic.setdefault(anchor, []).append(pointer)
            for below, sub in subschemas(schema):
                stack.append((pointer + below, sub, base))

    def _name(self, pointer: Pointer, base: str, identity: str) -> str:
        address, fragment = urldefrag(urljoin(base, identity))
        if self.dialect.year <= 7 and fragment:
            self._anchors.setdefault((address, fragment), pointer)  # draft-07 spelled anchors as "#name" ids
        if identity.startswith("#"):
            return base
        self._resources.setdefault(address, pointer)
        return address

    def base(self, pointer: Pointer) -> str:
        """The base URI that holds at a location."""
        while pointer and pointer not in self._bases:
            pointer = pointer[:-1]
        return self._bases.get(pointer, _BASE)

    def resources(self) -> int:
        """How many resources the document embeds, the root among them."""
        return len(set(self._resources.values()))

    def resolve(self, reference: str, at: Pointer) -> Pointer:
        """The location a reference at a location leads to.

        Raises:
            UnresolvedReference: it leaves the document, or nothing is there.
        """
        base = self.base(at)
        target = self._resolved.get((base, reference))
        if target is None:
            target = self._resolved[base, reference] = self._resolve(reference, base)
        return target

    def _resolve(self, reference: str, base: str) -> Pointer:
        try:
            address, fragment = urldefrag(urljoin(base, reference))
        except ValueError as problem:
            raise UnresolvedReference(f"`{reference}` is no URI reference") from problem
        resource = self._resources.get(address)
        if resource is None:
            outside = "" if address.startswith(_BASE) else f"{address}#{fragment}"
            raise UnresolvedReference(f"`{reference}` leads out of the document and is not fetched", outside)
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            target = self._anchors.get((address, fragment))
            if target is None:
                raise UnresolvedReference(f"nothing is named `{reference}`")
            return target
        parts = [part.replace("~1", "/").replace("~0", "~") for part in fragment.split("/")[1:]]
        target = resource + tuple(parts)
        self.get(target, reference)
        return target

    def resolve_dynamic(self, reference: str, at: Pointer) -> Pointer:
        """Like `resolve` for `$dynamicRef`, where only one target is possible whatever the dynamic scope.

        Raises:
            UnresolvedReference: the target depends on the dynamic scope, or is not there.
        """
        anchor = reference.partition("#")[2]
        if len(self._dynamic.get(anchor, ())) > 1:
            raise UnresolvedReference(f"`{reference}` depends on the dynamic scope")
        return self.resolve(reference, at)

    def get(self, pointer: Pointer, reference: str = "") -> Json:
        """The value at a location.

        Raises:
            UnresolvedReference: nothing is there.
        """
        value = self.root
        for part in pointer:
            if isinstance(value, dict) and part in value:
                value = value[part]
            elif isinstance(value, list) and part.isascii() and part.isdigit() and int(part) < len(value):
                value = value[int(part)]
            else:
                raise UnresolvedReference(f"`{reference or spell(pointer)}` leads nowhere")
        return value
