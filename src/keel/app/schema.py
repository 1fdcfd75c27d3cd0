"""`keel schema`: the JSON Schemas of what keel reads and writes."""

from __future__ import annotations

import json

from keel.core.text import did_you_mean
from keel.errors import UsageError
from keel.report.json_ import report_schema

NAMES = ("config", "manifest", "report")
"""What has a schema."""


def schema(name: str) -> str:
    """Return a JSON Schema (2020-12) as text.

    Raises:
        UsageError: if nothing has that name.
    """
    if name == "report":
        return _text(report_schema())
    if name not in NAMES:
        raise UsageError(
            f"there is no schema `{name}`", hint=did_you_mean(name, NAMES) or f"use one of {', '.join(NAMES)}"
        )
    from keel.manifest.jsonschema import config_schema, manifest_schema  # noqa: PLC0415

    return _text(manifest_schema() if name == "manifest" else config_schema())


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
