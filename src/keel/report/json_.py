"""The JSON report: stable, sorted, without times, machine paths or colours."""

from __future__ import annotations

import json
from typing import Any

from keel.core.codes import Severity
from keel.core.finding import Finding, NotChecked
from keel.core.model import split_key
from keel.core.text import LOG_COMMAND
from keel.report.interface import Presentation

SCHEMA_VERSION = 1
"""Raised only when a consumer would have to change."""


def render(shown: Presentation) -> str:
    """Return the report as pretty JSON (DESIGN section 3).

    What CI systems would obey in a log is written with an escape of JSON's own, which leaves the value as it is.
    """
    text = json.dumps(report_value(shown), ensure_ascii=True, indent=2)
    return LOG_COMMAND.sub(r"\\u0023#", text) + "\n"


def report_value(shown: Presentation) -> dict[str, Any]:
    """Return the report as a JSON value."""
    report = shown.report
    return {
        "schema_version": SCHEMA_VERSION,
        "command": shown.command,
        "findings": [_finding(item, shown) for item in report.findings],
        "not_checked": [_gap(gap) for gap in report.not_checked],
        "changes": list(shown.lines),
        "digest": report.digest,
        "counts": {
            **{severity.value: report.count(severity) for severity in Severity},
            "not_checked": len(report.not_checked),
        },
    }


def _finding(item: Finding, shown: Presentation) -> dict[str, Any]:
    at = item.location
    # What is linted is definitions alone, so that a scorer or an editor finds tool and pointer without a detour.
    flat = {"tool": split_key(at.key)[1], "pointer": at.pointer} if shown.command == "lint" else {}
    return {
        **flat,
        "code": item.code,
        "severity": item.severity.value,
        "gate": item.gate.value,
        "message": item.message,
        "why": item.why,
        "next": item.next,
        "location": {
            "file": at.file,
            "line": at.line,
            "column": at.column,
            "key": at.key,
            "pointer": at.pointer,
        },
        "site": item.site,
        "path": [{"file": step.file, "line": step.line, "text": step.text} for step in item.path],
        "digest": item.digest,
        "suppress": shown.excuse(item),
    }


def _gap(gap: NotChecked) -> dict[str, str]:
    return {"what": gap.what, "code": gap.code, "why": gap.why, "next": gap.next}


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the report."""
    text = {"type": "string"}
    number = {"type": "integer", "minimum": 0}
    place = {"file": text, "line": number, "column": number, "key": text, "pointer": text}
    step = _closed({"file": text, "line": number, "text": text})
    item = {
        "code": {"type": "string", "description": "Stable kebab-case id; `keel explain CODE` documents it."},
        "severity": {"enum": [severity.value for severity in Severity]},
        "gate": text,
        "message": text,
        "why": text,
        "next": {"type": "string", "description": "What to do about it."},
        "location": _closed(place) | {"description": "Relative to the project; lines and columns 1-based, 0 is none."},
        "site": {"type": "string", "description": "`flow@file:line:column` of the tool call, or empty."},
        "path": {"type": "array", "items": step},
        "digest": {"type": "string", "description": "What a suppression binds to, or empty."},
        "suppress": {
            "type": "string",
            "description": "TOML for `keel.toml` that accepts the finding once reason and date are given; or empty.",
        },
    }
    counts = {**{severity.value: number for severity in Severity}, "not_checked": number}
    gap = {"what": text, "code": text, "why": text, "next": text}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "keel report",
        **_closed(
            {
                "schema_version": {"const": SCHEMA_VERSION},
                "command": text,
                "findings": {"type": "array", "items": _with_flat(_closed(item))},
                "not_checked": {"type": "array", "items": _closed(gap)},
                "changes": {"type": "array", "items": text},
                "digest": text | {"description": "Equal for equal findings wherever they stand; empty for none."},
                "counts": _closed(counts),
            }
        ),
    }


def _with_flat(schema: dict[str, Any]) -> dict[str, Any]:
    text = {"type": "string", "description": "Only of `keel lint`: the same as in `location`."}
    return {**schema, "properties": {**schema["properties"], "tool": text, "pointer": text}}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
