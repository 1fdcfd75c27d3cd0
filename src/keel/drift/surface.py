"""A whole surface against the frozen one, under the server's policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from keel.core.codes import CODES, Severity
from keel.core.digest import definition, definition_digest, digest
from keel.core.finding import Finding, Location, finding
from keel.core.model import Policy, Surface
from keel.core.schema import bare
from keel.core.text import escape, excerpt
from keel.drift.interface import DriftContext, severity_of
from keel.drift.texts import word_diff
from keel.drift.tools import Reporter, compare_tool


def compare_surfaces(old: Surface, new: Surface, context: DriftContext) -> tuple[Finding, ...]:
    """Return every difference that the policy looks at (DESIGN section 8).

    Args:
        old: the frozen surface.
        new: the same server's surface now, with the same masks applied.
        context: policy, references, contracts and severities.
    """
    if context.policy is Policy.OFF:
        return ()
    before, after = _by_name(old), _by_name(new)
    gone, fresh = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
    findings = list(_removed(gone, fresh, before, after, context))
    if context.policy is not Policy.NAMES:
        findings.extend(_added({name: after[name] for name in fresh}, context))
        findings.extend(_server_facts(old, new, context))
        for name in sorted(before.keys() & after.keys()):
            findings.extend(compare_tool(f"{context.server}/{name}", before[name], after[name], context))
    return tuple(_unversioned(findings, old, new, context.server))


def _unversioned(findings: Iterable[Finding], old: Surface, new: Surface, server: str) -> Iterator[Finding]:
    """Add to each change of a tool that the server did not change its version with it."""
    version = new.server_version
    for item in findings:
        # A contract also changes with the manifest, which the server has no part in.
        own = item.code.startswith("contract-")
        quiet = own or item.location.key == server or item.severity is Severity.INFO
        if quiet or not version or version != old.server_version:
            yield item
        else:
            note = f"Unversioned change: the server still calls itself `{excerpt(version, 40)}`."
            yield replace(item, why=f"{item.why} {note}")


def uncompared(old: Surface, policy: Policy) -> int:
    """Return how many frozen tools a policy leaves uncompared, which a report must say."""
    return len(old.tools) if policy in (Policy.OFF, Policy.NAMES) else 0


def _by_name(surface: Surface) -> dict[str, Mapping[str, Any]]:
    return {str(tool["name"]): tool for tool in surface.tools}


def _removed(
    gone: list[str],
    fresh: list[str],
    before: Mapping[str, Mapping[str, Any]],
    after: Mapping[str, Mapping[str, Any]],
    context: DriftContext,
) -> Iterator[Finding]:
    successors = _Successors({name: after[name] for name in fresh} if gone else {})
    for name in gone:
        key = f"{context.server}/{name}"
        if context.policy is Policy.NAMES and key not in context.referenced:
            continue
        report = Reporter(key, context, digest([definition(before[name]), None]))
        successor, why = successors.of(name, before[name])
        if successor:
            yield from report.yields("tool-renamed", f"is gone; `{escape(successor)}` {why}", "")
        else:
            yield from report.yields("tool-removed", "is gone", "")


_ALIKE = {1: 0.8}
_ALIKE_OTHERWISE = 0.6
"""Least similarity of two names (Ratcliff-Obershelp) whose equal parameters suggest a rename, by their number."""
_MOST_ALIKE = 100
"""Among more new tools with equal parameters, equal parameters suggest nothing."""


class _Successors:
    """Finds the new tool that a gone one probably became; a link for readers, never an acceptance."""

    def __init__(self, fresh: Mapping[str, Mapping[str, Any]]) -> None:
        self._definitions: dict[str, str] = {}
        self._spellings: dict[str, str] = {}
        self._parameters: dict[str, list[str]] = {}
        for name, tool in fresh.items():
            self._definitions.setdefault(_nameless(tool), name)
            self._spellings.setdefault(_letters(name), name)
            self._parameters.setdefault(_parameters(tool), []).append(name)

    def of(self, name: str, tool: Mapping[str, Any]) -> tuple[str, str]:
        """Return its name and why it is taken for it; empty where there is none."""
        if found := self._definitions.get(_nameless(tool)):
            return found, "has the same definition"
        if found := self._spellings.get(_letters(name)):
            return found, "has the same name in another spelling"
        parameters = _parameters(tool)
        alike = self._parameters.get(parameters, ()) if parameters else ()
        if not alike or len(alike) > _MOST_ALIKE:
            return "", ""
        ratio, other = max((SequenceMatcher(None, name, item).ratio(), item) for item in alike)
        least = _ALIKE.get(len(tool["inputSchema"]["properties"]), _ALIKE_OTHERWISE)
        return (other, "has the same parameters") if ratio >= least else ("", "")


def _nameless(tool: Mapping[str, Any]) -> str:
    return digest({field: value for field, value in definition(dict(tool)).items() if field not in ("name", "title")})


def _letters(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())


def _parameters(tool: Mapping[str, Any]) -> str:
    schema = tool.get("inputSchema")
    has_any = isinstance(schema, Mapping) and bool(schema.get("properties"))
    return digest(bare(schema)) if has_any else ""


def _added(fresh: Mapping[str, Mapping[str, Any]], context: DriftContext) -> Iterator[Finding]:
    for name, tool in fresh.items():
        key = f"{context.server}/{name}"
        severity = severity_of("tool-added", context, referenced=False)
        if severity is not None:
            silence = "" if context.tools_section else ", and no `tools` section keeps it out"
            message = f"`{escape(key)}`: is new and was never reviewed{silence}"
            location = Location(key=key)
            binding = digest([None, definition_digest(tool)])
            yield _finding("tool-added", message, location, severity, binding)


def _server_facts(old: Surface, new: Surface, context: DriftContext) -> Iterator[Finding]:
    at = Location(key=context.server, pointer="/initialize")
    if (old.instructions or "") != (new.instructions or ""):
        severity = severity_of("instructions-changed", context, referenced=True)
        if severity is not None:
            change = word_diff(old.instructions or "", new.instructions or "")
            message = f"`{context.server}`: instructions changed: {change}"
            binding = digest([old.instructions, new.instructions])
            where = Location(key=context.server, pointer="/initialize/instructions")
            yield _finding("instructions-changed", message, where, severity, binding)
    facts = [_fact(old, new, name) for name in ("serverInfo", "protocolVersion", "capabilities")]
    changed = [text for text in facts if text]
    severity = severity_of("identity-changed", context, referenced=True)
    if changed and severity is not None:
        message = f"`{context.server}`: {'; '.join(changed)}"
        binding = digest([dict(old.initialize), dict(new.initialize)])
        yield _finding("identity-changed", message, at, severity, binding)
    for name in ("prompts", "resources", "resource_templates"):
        yield from _primitives(name, getattr(old, name), getattr(new, name), context)


def _fact(old: Surface, new: Surface, name: str) -> str:
    before, after = old.initialize.get(name), new.initialize.get(name)
    if digest(before) == digest(after):
        return ""
    old_text, new_text = _shown(before), _shown(after)
    return f"`{name}` {old_text} → {new_text}" if old_text != new_text else f"`{name}` changed in detail"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        parts = [str(value[name]) for name in ("name", "version") if isinstance(value.get(name), str)]
        return excerpt(" ".join(parts) or ", ".join(sorted(value)), 60) or "none"
    return excerpt(str(value), 60) if value is not None else "absent"


def _primitives(name: str, old: Any, new: Any, context: DriftContext) -> Iterator[Finding]:
    if old is None or new is None or digest(list(old)) == digest(list(new)):
        return
    severity = severity_of("text-changed", context, referenced=False)
    if severity is not None:
        shown = name.replace("_", " ")
        location = Location(key=context.server, pointer=f"/{name}")
        binding = digest([list(old), list(new)])
        message = f"`{context.server}`: its {shown} changed ({len(old)} → {len(new)})"
        yield _finding("text-changed", message, location, severity, binding)


def _finding(code: str, message: str, at: Location, severity: Severity, binding: str) -> Finding:
    step = CODES[code].next.replace("SERVER", at.key.partition("/")[0])
    return finding(code, message, location=at, severity=severity, digest=binding, next=step)
