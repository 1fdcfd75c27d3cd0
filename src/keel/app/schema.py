"""`keel schema`: the JSON Schemas of what keel reads and writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from keel.bundle.contents import index_schema
from keel.core.text import did_you_mean
from keel.errors import UsageError
from keel.lockfile.schema import surface_schema
from keel.report.json_ import report_schema


def _config() -> dict[str, Any]:
    from keel.manifest.jsonschema import config_schema  # noqa: PLC0415 - loads pydantic

    return config_schema()


def _manifest() -> dict[str, Any]:
    from keel.manifest.jsonschema import manifest_schema  # noqa: PLC0415 - loads pydantic

    return manifest_schema()


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "bundle": index_schema,
    "config": _config,
    "manifest": _manifest,
    "report": report_schema,
    "surface": surface_schema,
}
"""What has a schema, by name."""


def schema(name: str) -> str:
    """Return a JSON Schema (2020-12) as text.

    Raises:
        UsageError: if nothing has that name.
    """
    make = SCHEMAS.get(name)
    if make is None:
        hint = did_you_mean(name, SCHEMAS) or f"use one of {', '.join(SCHEMAS)}"
        raise UsageError(f"there is no schema `{name}`", hint=hint)
    return json.dumps(make(), ensure_ascii=False, indent=2) + "\n"
