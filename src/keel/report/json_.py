"""The JSON report: stable, sorted, without times, machine paths or colours."""

from __future__ import annotations

import json
from typing import Any

from keel.core.codes import Severity
from keel.core.finding import Finding, NotChecked
from keel.report.interface import Presentation

SCHEMA_VERSION = 1
"""Raised only when a consumer would have to change."""


def render(shown: Presentation) -> str:
    """Return the report as pretty JSON (DESIGN section 3)."""
    return json.dumps(report_value(shown), ensure_ascii=True, indent=2) + "\n"


def report_value(shown: Presentation) -> dict[str, Any]:
    """Return the report as a JSON value."""
    report = shown.report
    return {
        "schema_version": SCHEMA_VERSION,
        "command": shown.command,
        "findings": [_finding(item) for item in report.findings],
        "not_checked": [_gap(gap) for gap in report.not_checked],
        "changes": list(shown.lines),
        "counts": {
            **{severity.value: report.count(severity) for severity in Severity},
            "not_checked": len(report.not_checked),
        },
    }


def _finding(item: Finding) -> dict[str, Any]:
    at = item.location
    return {
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
    }


def _gap(gap: NotChecked) -> dict[str, str]:
    return {"what": gap.what, "code": gap.code, "why": gap.why, "next": gap.next}
