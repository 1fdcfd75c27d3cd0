"""What the quality rules share."""

from __future__ import annotations

from keel.rules.interface import Category, Precision, RuleMeta, Severity

NEXT_TEXT = "say what the tool does, when to use it, when not, and what it returns"


def quality_meta(
    id: str,  # noqa: A002 - the field's own name
    summary: str,
    why: str,
    example: str,
    *,
    next: str = NEXT_TEXT,  # noqa: A002 - the field's own name
    severity: Severity = Severity.WARNING,
    precision: Precision = Precision.HEURISTIC,
    own_only: bool = True,
) -> RuleMeta:
    """Build the documentation of a quality rule; infos become warnings under the strict profile."""
    return RuleMeta(
        id=id,
        category=Category.QUALITY,
        severity=severity,
        summary=summary,
        why=why,
        next=next,
        example=example,
        precision=precision,
        references=("MCP 2025-11-25 Server/Tools",),
        own_only=own_only,
        strict_severity=Severity.WARNING if severity is Severity.INFO else None,
    )
