"""JSON Schema (2020-12) of the manifest and of the project configuration, from the grammar that validates them."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema as core

from keel.manifest.config_model import CONFIG
from keel.manifest.model import MANIFEST


class _Generator(GenerateJsonSchema):
    """Leaves out the titles that pydantic makes up from key names, and holds free keys to their pattern."""

    def dict_schema(self, schema: core.DictSchema) -> dict[str, Any]:
        names = self.generate_inner(schema["keys_schema"])
        values = self.generate_inner(schema["values_schema"])
        shown = {key: value for key, value in names.items() if key != "type"}
        return {"type": "object", "additionalProperties": values} | ({"propertyNames": shown} if shown else {})

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def manifest_schema() -> dict[str, Any]:
    """Return the JSON Schema of a capability manifest.

    It accepts every manifest that keel accepts. What it cannot say is checked by keel alone: repeated grants, server
    names that differ only in case, references, masks, version ranges and the floors of `fail_on`.
    """
    return _generate(MANIFEST, "keel capability manifest")


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema of `keel.toml`, and of `[tool.keel]` in `pyproject.toml`."""
    return _generate(CONFIG, "keel project configuration")


def _generate(schema: core.CoreSchema, title: str) -> dict[str, Any]:
    generated = _Generator(by_alias=True).generate(schema, mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **generated}
