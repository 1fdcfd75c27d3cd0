"""What the schema rules share: documentation defaults and the dialect a schema declares."""

from __future__ import annotations

from typing import Any

from keel.rules.interface import Category, Precision, RuleMeta, Severity, ToolView

NEXT = "correct the schema, or report it to the server's author"

DIALECTS = {
    "http://json-schema.org/draft-04/schema": "Draft4Validator",
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
}
DEFAULT_DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""MCP 2025-11-25: a schema without `$schema` is 2020-12."""


def dialect(schema: Any) -> str | None:
    """Return the URI of the dialect a schema declares, the default where it declares none, None where it is unknown."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(declared, str):
        return DEFAULT_DIALECT
    uri = declared.rstrip("#").replace("https://json-schema.org/draft-0", "http://json-schema.org/draft-0")
    return uri if uri in DIALECTS else None


_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def references_of(tool: ToolView) -> tuple[tuple[str, str, str], ...]:
    """Return (field of the tool, pointer of the reference, its value) for every reference, computed once."""
    found = tool.memo.get("references")
    if found is None:
        found = tuple(
            (pointer.split("/", 2)[1], f"{pointer}/{keyword}", schema[keyword])
            for pointer, schema in tool.schemas
            if isinstance(schema, dict)
            for keyword in _REFERENCES
            if isinstance(schema.get(keyword), str)
        )
        tool.memo["references"] = found
    return found


def schema_meta(
    id: str,  # noqa: A002 - the field's own name
    summary: str,
    why: str,
    example: str,
    *,
    severity: Severity = Severity.ERROR,
    precision: Precision = Precision.EXACT,
    next: str = NEXT,  # noqa: A002 - the field's own name
) -> RuleMeta:
    """Build the documentation of a schema rule from what differs between them."""
    return RuleMeta(
        id=id,
        category=Category.SCHEMA,
        severity=severity,
        summary=summary,
        why=why,
        next=next,
        example=example,
        precision=precision,
        references=("MCP 2025-11-25 Server/Tools", "JSON Schema 2020-12"),
    )
