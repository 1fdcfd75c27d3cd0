"""One tool against its frozen definition, on every axis."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from keel.core.codes import CODES, Severity
from keel.core.digest import definition_digest, digest, extra_digest
from keel.core.finding import Finding, Location, finding
from keel.core.model import Contract, Policy
from keel.core.text import escape, excerpt
from keel.drift.affected import Impact
from keel.drift.interface import DriftContext, severity_of
from keel.drift.schemas import SchemaChange, schema_changes
from keel.drift.texts import TextChange, text_changes, word_diff
from keel.lockfile.model import NATIVE_SURFACE

_KNOWN = ("annotations", "description", "inputSchema", "name", "outputSchema", "title", "_meta", "icons")


def compare_tool(key: str, old: Mapping[str, Any], new: Mapping[str, Any], context: DriftContext) -> Iterator[Finding]:
    """Yield the differences of one tool under `pin` or `compatible`."""
    # Most tools are equal in every byte, which is seen much sooner than what their digests are.
    same = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)
    if same and context.frozen_contracts.get(key) == context.live_contracts.get(key):
        return
    before, after = definition_digest(old), definition_digest(new)
    report = Reporter(key, context, digest([before, after]))
    if before != after:
        # Whatever differs must be said: what no axis names is another spelling of the same definition.
        yield from _definition(old, new, report)
        if not report.spoke:
            yield from report.yields("representation-only", "is written differently and means the same", "")
    if extra_digest(old) != extra_digest(new):
        yield from _extra(old, new, report)
    yield from _contract(key, report)


def _definition(old: Mapping[str, Any], new: Mapping[str, Any], report: Reporter) -> Iterator[Finding]:
    schemas = schema_changes(old, new)
    # What a collapsed schema lost is said once, not once for each of its texts.
    gone = tuple(item.pointer for item in schemas if item.code == "schema-collapsed")
    texts = [item for item in text_changes(old, new) if not (gone and item.pointer.startswith(gone))]
    for change in texts:
        yield from _text(change, report)
    if digest(old.get("annotations")) != digest(new.get("annotations")):
        text = _hints(old.get("annotations"), new.get("annotations"))
        yield from report.yields("hints-changed", text, "/annotations", edit=text)
    for item in schemas:
        yield from report.schema(item)
    for name in sorted((old.keys() | new.keys()) - set(_KNOWN)):
        if digest(old.get(name)) != digest(new.get(name)) and not any(
            item.pointer.startswith(f"/{name}") for item in texts
        ):
            yield from report.yields("text-changed", f"the field `{escape(name)}` changed", f"/{name}")


def _text(change: TextChange, report: Reporter) -> Iterator[Finding]:
    edit = digest([change.pointer, change.old, change.new])
    # `compatible` judges the text that both sides have; the rest is said all the same.
    one_sided = report.context.policy is Policy.COMPATIBLE and (change.old is None or change.new is None)
    what = "default" if change.pointer.endswith("/default") else "text"
    code, severity = "text-changed", Severity.INFO if one_sided else None
    if change.lost_parameter_description:
        code, text = "parameter-undocumented", "a parameter lost its description"
    elif change.old is None:
        text = f"new {what} `{excerpt(change.new or '', 200)}`"
    elif change.new is None:
        text = f"{what} is gone: `{excerpt(change.old, 120)}`"
    else:
        text = f"{what} changed: {word_diff(change.old, change.new)}"
    yield from report.yields(code, text, change.pointer, edit=edit, binding=edit, default=severity)


def _extra(old: Mapping[str, Any], new: Mapping[str, Any], report: Reporter) -> Iterator[Finding]:
    """Report icons and `_meta`; keys that name what a client renders are worth a look."""
    before, after = _meta(old), _meta(new)
    keys = [name for name in sorted({*before, *after}) if digest(before.get(name)) != digest(after.get(name))]
    shown = (
        f"`_meta` changed at {', '.join(f'`{excerpt(name, 60)}`' for name in keys[:6])}" if keys else "icons changed"
    )
    rendered = any(_RENDERED.search(name) for name in keys)
    binding = digest([extra_digest(old), extra_digest(new)])
    default = Severity.WARNING if rendered else None
    yield from report.yields("extra-changed", shown, "", edit=shown, binding=binding, default=default)


def _meta(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    held = tool.get("_meta")
    return held if isinstance(held, Mapping) else {}


_RENDERED = re.compile(r"(^|/)ui(/|$)|template", re.IGNORECASE)
"""Keys by which clients choose what to render (MCP Apps `ui`, `ui/resourceUri`, `openai/outputTemplate`)."""


_HINT_DEFAULTS = {"destructiveHint": True, "idempotentHint": False, "openWorldHint": True, "readOnlyHint": False}
"""What a client assumes of a hint that is absent (MCP 2025-11-25, `ToolAnnotations`)."""


def _hints(old: Any, new: Any) -> str:
    before = old if isinstance(old, Mapping) else {}
    after = new if isinstance(new, Mapping) else {}
    changes = [
        f"`{escape(name)}` {_hint(before, name)} → {_hint(after, name)}{_same_meaning(before, after, name)}"
        for name in sorted(before.keys() | after.keys())
        if digest(before.get(name)) != digest(after.get(name)) or (name in before) != (name in after)
    ]
    return f"hints changed: {', '.join(changes) or 'their form'}"


def _hint(hints: Mapping[str, Any], name: str) -> str:
    if name not in hints:
        return "absent"
    value = hints[name]
    return excerpt(value if isinstance(value, str) else json.dumps(value, sort_keys=True), 30)


def _same_meaning(old: Mapping[str, Any], new: Mapping[str, Any], name: str) -> str:
    """Say that a hint that was added or left out means what its absence means; it is reported all the same."""
    assumed = _HINT_DEFAULTS.get(name)
    same = assumed is not None and old.get(name, assumed) is assumed and new.get(name, assumed) is assumed
    return " (which means the same)" if same else ""


def _contract(key: str, report: Reporter) -> Iterator[Finding]:
    old, new = report.context.frozen_contracts.get(key), report.context.live_contracts.get(key)
    if old is None or new is None or _weighs_the_same(old, new):
        return
    raised = new.effect.rank > old.effect.rank or (old.retryable and not new.retryable)
    text = (
        f"contract {old.effect}/{old.idempotency}{'' if old.asserted else ' (unasserted)'} → "
        f"{new.effect}/{new.idempotency}{'' if new.asserted else ' (unasserted)'}"
    )
    binding = digest([report.binding, text])
    yield from report.yields("contract-raised" if raised else "contract-lowered", text, "", edit=text, binding=binding)


def _weighs_the_same(old: Contract, new: Contract) -> bool:
    """Tell whether every gate judges two contracts alike, as when a person asserts what was assumed anyway."""
    return (old.effect, old.idempotency, old.raceable, old.retryable) == (
        new.effect,
        new.idempotency,
        new.raceable,
        new.retryable,
    )


_INPUT_SIDE = frozenset({"input-breaking", "input-latent"})
_OUTPUT_SIDE = frozenset({"output-breaking", "output-widened"})
_GONE = frozenset({"tool-removed", "tool-renamed"})


class Reporter:
    """Builds the findings of one tool with the severity and the impact that policy and use give them."""

    def __init__(self, key: str, context: DriftContext, binding: str) -> None:
        """Args: tool key, comparison context, and the digest that a suppression of these findings binds to."""
        self.key = key
        self.context = context
        self.binding = binding
        self.spoke = False
        """Whether any difference was named, also one that `fail_on` silences."""

    def schema(self, change: SchemaChange) -> Iterator[Finding]:
        """Yield what happened to a schema."""
        strict = change.unproved and self.context.policy is Policy.COMPATIBLE
        default = Severity.ERROR if strict else change.severity
        yield from self.yields(change.code, change.text, change.pointer, edit=change.clause, default=default)

    def yields(
        self,
        code: str,
        text: str,
        pointer: str,
        *,
        edit: str = "",
        binding: str = "",
        default: Severity | None = None,
    ) -> Iterator[Finding]:
        """Yield one finding, or none when `fail_on` silences its kind.

        Args:
            code: what differs.
            text: one clause on it.
            pointer: where in the tool.
            edit: tells equal edits in several tools; empty for what stands alone.
            binding: what a suppression binds to, where that is not the pair of definitions.
            default: the severity, where that is not the one of the code.
        """
        self.spoke = True
        referenced = self.key in self.context.referenced
        severity = severity_of(code, self.context, referenced=referenced, default=default)
        if severity is None:
            return
        impact = self._impact(code, pointer)
        unused = "" if referenced or severity is not Severity.WARNING else " (no flow uses it)"
        clause = f"; {impact.sentence}" if impact and referenced and code in _JUDGED else ""
        yield finding(
            code,
            f"`{escape(self.key)}`: {text}{clause}{unused}",
            location=Location(key=self.key, pointer=pointer),
            severity=severity,
            next=CODES[code].next.replace("SERVER", self.context.server),
            site=impact.site if impact else "",
            path=impact.path if impact else (),
            digest=binding or self.binding,
            # An edit that breaks a flow is never folded away among those that do not.
            edit=digest([code, pointer, edit]) if edit and not (impact and impact.affected) else "",
        )

    def _impact(self, code: str, pointer: str) -> Impact | None:
        impacts = self.context.impacts
        if impacts is None:
            return None
        key = self.key.removeprefix(f"{NATIVE_SURFACE}/")
        if code in _GONE:
            return impacts.gone(key)
        if code not in _JUDGED:
            return impacts.uses(key)
        side = code in _OUTPUT_SIDE or (code not in _INPUT_SIDE and pointer.startswith("/outputSchema"))
        return impacts.output(key) if side else impacts.input(key)


_JUDGED = _INPUT_SIDE | _OUTPUT_SIDE | _GONE | {"schema-collapsed", "schema-undecided"}
"""Codes after which a call or a read may fail."""
