"""Two locks against each other: what a reviewer of a lockfile difference wants to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from keel.core.codes import Severity
from keel.core.digest import surface_digest
from keel.core.finding import Finding, Location, finding
from keel.core.model import Contract, Policy, Surface
from keel.core.text import plural
from keel.drift.affected import Impact
from keel.drift.impact import Impacts
from keel.drift.interface import DriftContext
from keel.drift.surface import compare_surfaces
from keel.drift.usage import Usage
from keel.lockfile.model import NATIVE_SURFACE, Lock, LockedServer

_POLICY_ORDER = (Policy.PIN, Policy.COMPATIBLE, Policy.NAMES, Policy.OFF)


def compare_locks(old: Lock, new: Lock, usage: Usage | None = None) -> tuple[Finding, ...]:
    """Return every difference between two locks, judged as if every tool were in use.

    Args:
        old: the lock before.
        new: the lock after.
        usage: what the flows use, when they are known.
    """
    findings: list[Finding] = []
    impacts = Impacts(usage, old.wires(), new.wires()) if usage is not None else None
    for name in sorted(old.surfaces.keys() | new.surfaces.keys()):
        before, after = old.surfaces.get(name), new.surfaces.get(name)
        if before is None or after is None:
            findings.append(_server_presence(name, before, after, impacts))
            continue
        context = DriftContext(
            server=name,
            referenced=frozenset(_keys(name, before)),
            tools_section=True,
            frozen_contracts=_contracts(old),
            live_contracts=_contracts(new),
            impacts=impacts,
        )
        findings.extend(_native_keys(item, name) for item in compare_surfaces(before, after, context))
        findings.extend(_server_entry(old.index.server(name), new.index.server(name)))
    findings.extend(_bodies(old, new))
    return tuple(findings)


def compare_surface_files(name: str, old: Surface, new: Surface) -> tuple[Finding, ...]:
    """Return every difference between two surface files of one server, judged as if every tool were in use."""
    context = DriftContext(server=name, referenced=frozenset(_keys(name, old)), tools_section=True)
    return compare_surfaces(old, new, context)


def _keys(name: str, surface: Surface) -> Iterator[str]:
    return (f"{name}/{tool['name']}" for tool in surface.tools)


def _contracts(lock: Lock) -> dict[str, Contract]:
    return {f"{tool.surface}/{tool.key.rpartition('/')[2]}": tool.contract for tool in lock.index.tools}


def _native_keys(item: Finding, name: str) -> Finding:
    """Show native tools by their own key, without the name of the file that holds them."""
    if name != NATIVE_SURFACE:
        return item
    prefix = f"{NATIVE_SURFACE}/"
    at = replace(item.location, key=item.location.key.removeprefix(prefix))
    return replace(item, message=item.message.replace(prefix, "", 1), location=at)


def _server_presence(name: str, old: Surface | None, new: Surface | None, impacts: Impacts | None) -> Finding:
    what = "native tools" if name == NATIVE_SURFACE else f"server `{name}`"
    at = Location(key=name)
    if old is None:
        count = plural(len(new.tools) if new else 0, "tool")
        binding = surface_digest(new) if new else ""
        return finding("tool-added", f"{what} with {count} is new", location=at, digest=binding)
    impact = impacts.gone(*(_key(name, tool) for tool in old.tools)) if impacts is not None else Impact()
    return finding(
        "tool-removed",
        f"{what} with {plural(len(old.tools), 'tool')} is gone{f'; {impact.sentence}' if impacts else ''}",
        location=at,
        severity=Severity.ERROR,
        site=impact.site,
        path=impact.path,
        digest=surface_digest(old),
    )


def _key(name: str, tool: Mapping[str, Any]) -> str:
    return str(tool["name"]) if name == NATIVE_SURFACE else f"{name}/{tool['name']}"


def _server_entry(old: LockedServer | None, new: LockedServer | None) -> Iterator[Finding]:
    if old is None or new is None:
        return
    at = Location(key=old.name)
    if old.launch != new.launch:
        yield finding("launch-changed", f"`{old.name}` was frozen from another launch", location=at)
    if _POLICY_ORDER.index(new.policy) > _POLICY_ORDER.index(old.policy):
        message = f"`{old.name}`: drift policy {old.policy} → {new.policy} compares less"
        yield finding("manifest-loosened", message, location=at)


def _bodies(old: Lock, new: Lock) -> Iterator[Finding]:
    before = {tool.key: tool for tool in old.index.tools}
    for tool in new.index.tools:
        held = before.get(tool.key)
        if held is not None and held.body != tool.body:
            yield finding("body-changed", f"the body of `{tool.key}` changed", location=Location(key=tool.key))
