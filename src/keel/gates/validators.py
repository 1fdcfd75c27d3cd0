"""Whether literal values fit a schema, by a validator that runs no server's pattern in a backtracking engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from keel.core.model import Json
from keel.gates.shapes import resolved

_ACROSS = frozenset(
    {"additionalProperties", "allOf", "anyOf", "dependentRequired", "if", "minProperties", "not", "oneOf", "required"}
    | {"unevaluatedProperties"}
)
"""Keywords that judge arguments together; a single one must not be refused for what others lack."""


class Validators:
    """Judges single arguments; each schema is compiled once."""

    def __init__(self) -> None:
        self._compiled: dict[str, Any] = {}

    def error(self, key: str, schema: Mapping[str, Json], instance: Json) -> str:
        """Return why an object of some arguments does not fit, or an empty string.

        Args:
            key: names the schema.
            schema: an input schema; what it asks of the arguments together is left out.
            instance: names and values.
        """
        if key not in self._compiled:
            self._compiled[key] = _compile(schema)
        validator = self._compiled[key]
        if not _is_finite(instance):
            # The validator takes such a number for null.
            return "JSON has no number that is infinite or none"
        if validator is None:
            return ""
        try:
            error = next(iter(validator.iter_errors(instance)), None)
        except ValueError:
            return ""
        return str(error.message) if error is not None else ""


def only(schema: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """Return a schema that judges one property alone, its own required members aside."""
    copy = {word: value for word, value in schema.items() if word not in ("required", "additionalProperties")}
    properties = dict(schema.get("properties") or {})
    inner = resolved(schema, properties.get(name))
    if isinstance(inner, Mapping):
        properties[name] = {word: value for word, value in inner.items() if word not in ("required", "minProperties")}
    copy["properties"] = properties
    return copy


def _is_finite(value: Json) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _compile(schema: Mapping[str, Json]) -> Any:
    import jsonschema_rs  # noqa: PLC0415 - start-up

    loose = {word: value for word, value in schema.items() if word not in _ACROSS}
    try:
        return jsonschema_rs.validator_for(loose, offline=True)
    except (ValueError, jsonschema_rs.ReferencingError):
        return None
