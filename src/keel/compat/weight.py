"""How much work a validator may have with an instance, so that nested unions and shared references cannot hang it.

A validator visits a subschema once for each path of references that leads to it. The number of those visits is computed
here by adding up instead of walking them, which takes time linear in the distinct pairs of subschema and part.
"""

from __future__ import annotations

from keel.compat.document import Document, Pointer, UnresolvedReference
from keel.compat.interface import Json

LIMIT = 3_000_000
"""Visits that a witness check may cost."""
PATIENCE = 20
"""Instances that may turn out too heavy before all others count as too heavy unseen."""
_PAIRS = 20_000
_ARRAY = frozenset({"items", "additionalItems", "contains", "prefixItems", "unevaluatedItems"})
_OBJECT = frozenset(
    {"properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"}
)
_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})


class Scale:
    """Weighs instances against one document."""

    def __init__(self, document: Document) -> None:
        """Prepare; a document without references needs no weighing, its tree bounds the work."""
        self._document = document
        self._has_references = _mentions_reference(document.root)
        self._refused = 0

    def bearable(self, value: Json) -> bool:
        """Whether validating the value stays within the limit even if nothing is cut short."""
        if not self._has_references:
            return True
        if self._refused >= PATIENCE:
            return False
        try:
            light = _Weighing(self._document).weigh((), value) <= LIMIT
        except RecursionError:
            light = False
        self._refused += not light
        return light


def _mentions_reference(root: Json) -> bool:
    stack = [root]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if "$ref" in value or "$dynamicRef" in value or "$recursiveRef" in value:
                return True
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return False


class _Weighing:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[tuple[Pointer, int], int] = {}

    def weigh(self, at: Pointer, value: Json) -> int:
        mark = (at, id(value))
        if mark in self._known:
            return self._known[mark]
        self._known[mark] = 1  # a loop in place is cut by the validator
        if len(self._known) > _PAIRS:
            return LIMIT + 1
        total = 1
        schema = self._document.get(at)
        if isinstance(schema, dict):
            for keyword, inside in schema.items():
                total += self._keyword(keyword, inside, at, value)
                if total > LIMIT:
                    break
        self._known[mark] = total
        return total

    def _keyword(self, keyword: str, inside: Json, at: Pointer, value: Json) -> int:
        here = (*at, keyword)
        if keyword in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(inside, str):
            try:
                return self.weigh(self._document.resolve(inside, at), value)
            except UnresolvedReference:
                return 1
        if keyword in _PLACE:
            return self._each(here, inside, [value], keyword)
        if keyword in _ARRAY and isinstance(value, list):
            return self._each(here, inside, value, keyword)
        if keyword in _OBJECT and isinstance(value, dict):
            if keyword == "properties" and isinstance(inside, dict):
                return sum(self.weigh((*here, name), value[name]) for name in inside if name in value)
            return self._each(here, inside, list(value.values()), keyword)
        return 0

    def _each(self, here: Pointer, inside: Json, values: list[Json], keyword: str) -> int:
        if isinstance(inside, list):
            below = [(*here, str(index)) for index in range(len(inside))]
        elif isinstance(inside, dict) and keyword in ("dependentSchemas", "dependencies", "patternProperties"):
            below = [(*here, name) for name in inside]
        else:
            below = [here]
        return sum(self.weigh(pointer, value) for pointer in below for value in values)
