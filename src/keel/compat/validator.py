"""The independent judge of witnesses: a linear-time validator that can reach neither network nor files."""

from __future__ import annotations

from typing import Any

from keel.compat.interface import Json
from keel.compat.weight import Scale


class Judge:
    """Validates instances against one schema; built once, closed to retrieval, `format` an annotation."""

    def __init__(self, schema: Json, scale: Scale) -> None:
        """Compile the schema; a schema the validator refuses leaves a judge that never answers."""
        self._scale = scale
        import jsonschema_rs  # noqa: PLC0415 - start-up must not pay for the validator

        self._validator: Any = None
        self._failures = (ValueError, TypeError, OverflowError, UnicodeError, RecursionError)
        declared = isinstance(schema, dict) and "$schema" in schema
        make: Any = jsonschema_rs.validator_for if declared else jsonschema_rs.Draft202012Validator
        try:
            self._validator = make(schema, offline=True, validate_formats=False)
        except self._failures:
            return

    def accepts(self, instance: Json) -> bool | None:
        """Whether the instance is valid; None when the validator cannot tell."""
        if self._validator is None or not self._scale.bearable(instance):
            return None
        try:
            return bool(self._validator.is_valid(instance))
        except self._failures:
            return None


class Pair:
    """The judges of a source and a target schema: a witness is what the first accepts and the second refuses."""

    def __init__(self, source: Judge, target: Judge) -> None:
        """Keep both."""
        self.source = source
        self.target = target

    def separates(self, instance: Json) -> bool:
        """Whether both judges agree that the instance is a witness."""
        return self.source.accepts(instance) is True and self.target.accepts(instance) is False
