"""The documentation pages of rules, made from the rules themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable

from keel.rules.config.interface import ConfigRule
from keel.rules.interface import Category, Precision, Rule
from keel.rules.limits.providers import LIMITS, table
from keel.rules.limits.target_rule import TargetRule
from keel.rules.registry import BY_ID

_SURE = {
    Precision.EXACT: "exact: no false positive is expected",
    Precision.HEURISTIC: "heuristic: it matches a known pattern; read the text before acting on it",
}


_INTRODUCTION = (
    "Rules judge tool definitions, and how their servers are configured, by their text alone: deterministic, offline, "
    "without a model. A text that matches no rule is not thereby safe; freezing, review and drift carry the weight."
)


def page(rule: Rule | ConfigRule) -> str:
    """Return the documentation of one rule as markdown."""
    meta = rule.meta
    lines = [
        f"# `{meta.id}`",
        "",
        f"{_sentence(meta.summary)}",
        "",
        "| | |",
        "|---|---|",
        f"| category | {meta.category.value} |",
        f"| severity | {meta.severity.value} |",
        *([f'| under `profile = "strict"` | {meta.strict_severity.value} |'] if meta.strict_severity else []),
        f"| precision | {_SURE[meta.precision]} |",
        f"| since | {meta.since} |",
        f"| blocks `keel freeze` | {'yes' if meta.blocks_freeze else 'no'} |",
        f"| judges | {_judges(rule)} |",
        "",
        "## Why",
        "",
        meta.why,
        "",
        "## Example",
        "",
        "```json",
        _pretty(meta.example),
        "```",
        "",
        "## What to do",
        "",
        f"{_sentence(meta.next)}",
    ]
    if isinstance(rule, TargetRule):
        lines += ["", "## Limits", "", "| what | value |", "|---|---|"]
        lines += [f"| {what} | {_cell(value)} |" for what, value in table(LIMITS[rule.target])]
    if meta.references:
        lines += ["", "## References", ""]
        lines += [f"- {reference}" for reference in meta.references]
    return "\n".join(lines) + "\n"


def index(rules: Iterable[Rule | ConfigRule] = BY_ID.values()) -> str:
    """Return the page that lists all rules by category."""
    known = list(rules)
    lines = [
        "# Rules",
        "",
        _INTRODUCTION,
    ]
    for category in Category:
        lines += ["", f"## {category.value}", "", "| rule | severity | |", "|---|---|---|"]
        for rule in known:
            if rule.meta.category is category:
                meta = rule.meta
                lines.append(f"| [`{meta.id}`]({meta.id}.md) | {meta.severity.value} | {meta.summary} |")
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """Return every page of docs/rules by file name."""
    return {"index.md": index(), **{f"{rule.meta.id}.md": page(rule) for rule in BY_ID.values()}}


def _judges(rule: Rule | ConfigRule) -> str:
    if rule.meta.category is Category.CONFIG:
        return "launches, manifest and configuration, in `keel check`"
    if rule.meta.category is Category.LIMITS:
        return "projects that declare the target"
    if rule.meta.own_only:
        return 'native tools, servers with `own: true`, what `keel lint` is given; others under `profile = "strict"`'
    return "every tool"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _pretty(example: str) -> str:
    """Return an example with one member a line; characters that do not show stay escaped."""
    return json.dumps(json.loads(example), indent=2, ensure_ascii=True)
