"""One tool against its frozen definition, on every axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keel.core.codes import CODES, Severity
from keel.core.digest import definition_digest, digest, extra_digest
from keel.core.finding import Finding, Location, finding
from keel.core.model import Policy
from keel.core.text import escape, excerpt
from keel.drift.interface import DriftContext, severity_of
from keel.drift.schemas import schema_changes
from keel.drift.texts import TextChange, text_changes, word_diff

_KNOWN = ("annotations", "description", "inputSchema", "name", "outputSchema", "title", "_meta", "icons")


def compare_tool(key: str, old: Mapping[str, Any], new: Mapping[str, Any], context: DriftContext) -> Iterator[Finding]:
    """Yield the differences of one tool under `pin` or `compatible`."""
    report = Reporter(key, context, digest([definition_digest(old), definition_digest(new)]))
    if definition_digest(old) != definition_digest(new):
        # Whatever differs must be said: what no axis names is another spelling of the same definition.
        yield from _definition(old, new, report)
        if not report.spoke:
            yield from report.yields("representation-only", "is written differently and means the same", "")
    if extra_digest(old) != extra_digest(new):
        yield from report.yields("extra-changed", "icons or `_meta` changed", "")
    yield from _contract(key, report)


def _definition(old: Mapping[str, Any], new: Mapping[str, Any], report: Reporter) -> Iterator[Finding]:
    schemas = schema_changes(old, new)
    # What a collapsed schema lost is said once, not once for each of its texts.
    gone = tuple(item.pointer for item in schemas if item.code == "schema-collapsed")
    texts = [item for item in text_changes(old, new) if not (gone and item.pointer.startswith(gone))]
    for change in texts:
        if report.context.policy is not Policy.COMPATIBLE or (change.old is not None and change.new is not None):
            yield from _text(change, report)
    if digest(old.get("annotations")) != digest(new.get("annotations")):
        yield from report.yields(
            "hints-changed", _hints(old.get("annotations"), new.get("annotations")), "/annotations"
        )
    schemas = schema_changes(old, new)
    for item in schemas:
        yield from report.yields(item.code, item.text, item.pointer)
    for name in sorted((old.keys() | new.keys()) - set(_KNOWN)):
        if digest(old.get(name)) != digest(new.get(name)) and not any(
            item.pointer.startswith(f"/{name}") for item in texts
        ):
            yield from report.yields("text-changed", f"the field `{escape(name)}` changed", f"/{name}")


def _text(change: TextChange, report: Reporter) -> Iterator[Finding]:
    edit = digest([change.pointer, change.old, change.new])
    if change.lost_parameter_description:
        yield from report.yields(
            "parameter-undocumented", "a parameter lost its description", change.pointer, edit=edit
        )
    elif change.old is None:
        text = f"new text `{excerpt(change.new or '', 200)}`"
        yield from report.yields("text-changed", text, change.pointer, edit=edit)
    elif change.new is None:
        yield from report.yields(
            "text-changed", f"text is gone: `{excerpt(change.old, 120)}`", change.pointer, edit=edit
        )
    else:
        text = f"text changed: {word_diff(change.old, change.new)}"
        yield from report.yields("text-changed", text, change.pointer, edit=edit)


def _hints(old: Any, new: Any) -> str:
    before = old if isinstance(old, Mapping) else {}
    after = new if isinstance(new, Mapping) else {}
    changes = [
        f"`{escape(name)}` {_hint(before, name)} → {_hint(after, name)}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    return f"hints changed: {', '.join(changes) or 'their form'}"


def _hint(hints: Mapping[str, Any], name: str) -> str:
    return excerpt(str(hints[name]), 30) if name in hints else "absent"


def _contract(key: str, report: Reporter) -> Iterator[Finding]:
    old, new = report.context.frozen_contracts.get(key), report.context.live_contracts.get(key)
    if old is None or new is None or old == new:
        return
    raised = new.effect.rank > old.effect.rank or (old.retryable and not new.retryable)
    text = (
        f"contract {old.effect}/{old.idempotency}{'' if old.asserted else ' (unasserted)'} → "
        f"{new.effect}/{new.idempotency}{'' if new.asserted else ' (unasserted)'}"
    )
    yield from report.yields("contract-raised" if raised else "contract-lowered", text, "")


class Reporter:
    """Builds the findings of one tool with the severity that policy and use give them."""

    def __init__(self, key: str, context: DriftContext, binding: str) -> None:
        """Args: tool key, comparison context, and the digest that a suppression of these findings binds to."""
        self.key = key
        self.context = context
        self.binding = binding
        self.spoke = False
        """Whether any difference was named, also one that `fail_on` silences."""

    def yields(self, code: str, text: str, pointer: str, *, edit: str = "") -> Iterator[Finding]:
        """Yield one finding, or none when `fail_on` silences its kind; `edit` lets equal edits be grouped."""
        self.spoke = True
        referenced = self.key in self.context.referenced
        severity = severity_of(code, self.context, referenced=referenced)
        if severity is None:
            return
        sites = self.context.sites.get(self.key, ())
        used = f"; used at {', '.join(sites[:3])}{' …' if len(sites) > 3 else ''}" if sites else ""
        unused = "" if referenced or severity is not Severity.WARNING else " (no flow uses it)"
        yield finding(
            code,
            f"`{self.key}`: {text}{used}{unused}",
            location=Location(key=self.key, pointer=pointer),
            severity=severity,
            next=CODES[code].next.replace("SERVER", self.context.server),
            site=sites[0] if sites else "",
            digest=edit or self.binding,
        )
