"""Gate 1, freeze: what flows reference is frozen and sound, and the lock is the project's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from keel.core.codes import Severity
from keel.core.finding import Finding, Location, finding
from keel.core.model import Contract, FrozenTool, ServerSpec, Surface, split_key
from keel.core.soundness import defects
from keel.core.text import did_you_mean
from keel.lockfile.model import LockIndex


@dataclass(frozen=True, slots=True)
class Reference:
    """One place in the project that names a tool: a call site where there is one, else the declaration."""

    key: str
    location: Location
    site: str = ""


@dataclass(frozen=True, slots=True)
class NativeTool:
    """A native tool as the source has it now."""

    key: str
    location: Location
    source: str
    """Fingerprint of the interface."""
    body: str
    """Fingerprint of the body."""


@dataclass(frozen=True, slots=True)
class FreezeContext:
    """What the gate looks at."""

    index: LockIndex | None
    """None when there is no lock."""
    lock_file: str
    surfaces: Mapping[str, Surface]
    tools: Mapping[str, FrozenTool]
    servers: tuple[ServerSpec, ...]
    """Every configured server that may be used."""
    withheld: frozenset[str]
    """Servers of a client configuration that a present `servers` section omits."""
    launches: Mapping[str, str]
    """Server name to the fingerprint of its launch as configured now."""
    contract_of: Callable[[str], Contract]
    """The contract that manifest, hints and declaration give a frozen tool now."""
    references: tuple[Reference, ...] = ()
    native: tuple[NativeTool, ...] = ()


def check(context: FreezeContext) -> tuple[Finding, ...]:
    """Return the findings of gate 1 (DESIGN section 6)."""
    findings = list(_references(context))
    if context.index is None:
        if context.servers or context.native or context.references:
            message = f"there is no `{context.lock_file}`: nothing is frozen"
            findings.append(finding("lock-missing", message, location=Location(file=context.lock_file)))
        return tuple(findings)
    findings.extend(stale(context, context.index))
    findings.extend(_soundness(context))
    return tuple(findings)


def stale(context: FreezeContext, index: LockIndex) -> Iterator[Finding]:
    """Yield where the lock no longer matches the project; a sync would have work for each."""
    yield from _servers(context, index)
    yield from _native(context, index)
    for tool in index.tools:
        if tool.key not in context.tools:
            continue
        contract = context.contract_of(tool.key)
        if contract != tool.contract:
            message = f"the contract of `{tool.key}` is {_shown(contract)}; the lock has {_shown(tool.contract)}"
            yield _stale(context, tool.key, message, "run `keel freeze` and review the difference")


def _references(context: FreezeContext) -> Iterator[Finding]:
    configured = {server.name for server in context.servers}
    for reference in context.references:
        server, tool = split_key(reference.key)
        if not server:
            continue
        if server not in configured:
            if server not in context.withheld:
                message = f"server `{server}` is neither in the manifest nor in a client configuration"
                yield finding(
                    "unknown-server",
                    message,
                    location=reference.location,
                    site=reference.site,
                    next=did_you_mean(server, configured) or "add it to `servers` in the manifest",
                )
        elif server in context.surfaces and reference.key not in context.tools:
            names = [str(item["name"]) for item in context.surfaces[server].tools]
            message = f"`{reference.key}` is not in the frozen surface of `{server}`"
            hint = did_you_mean(tool, names) or f"run `keel freeze {server}` if the server now has it"
            yield finding("unknown-tool", message, location=reference.location, site=reference.site, next=hint)


def _servers(context: FreezeContext, index: LockIndex) -> Iterator[Finding]:
    configured = {server.name: server for server in context.servers}
    for name, spec in sorted(configured.items()):
        at = Location(file=spec.file, line=spec.line, column=spec.column, key=name)
        locked = index.server(name)
        if locked is None:
            message = f"server `{name}` is configured and not frozen"
            yield finding("lock-stale", message, location=at, next=f"run `keel freeze {name}`")
            continue
        if locked.launch != context.launches.get(name):
            message = f"the launch of `{name}` is not the one that was frozen"
            hint = f"review the launch, then run `keel freeze {name}` to accept it"
            yield finding("launch-changed", message, location=at, next=hint)
        if locked.policy is not spec.policy:
            yield _stale(context, name, f"`{name}` has policy {spec.policy}; the lock has {locked.policy}", "", at)
    for locked in index.servers:
        if locked.name not in configured:
            yield _stale(context, locked.name, f"`{locked.name}` is frozen and no longer configured", "")


def _native(context: FreezeContext, index: LockIndex) -> Iterator[Finding]:
    held = {tool.key: tool for tool in index.tools if "/" not in tool.key}
    now = {tool.key: tool for tool in context.native}
    for key, tool in sorted(now.items()):
        locked = held.get(key)
        if locked is None:
            yield _stale(context, key, f"native tool `{key}` is not frozen", "", tool.location)
        elif locked.source != tool.source:
            message = f"the interface of native tool `{key}` changed since it was frozen"
            yield _stale(context, key, message, "", tool.location)
        elif locked.body != tool.body:
            message = f"the body of native tool `{key}` changed since it was frozen"
            yield finding("body-changed", message, location=tool.location)
    for key in sorted(held.keys() - now.keys()):
        yield _stale(context, key, f"native tool `{key}` is frozen and no longer in the source", "")


def _soundness(context: FreezeContext) -> Iterator[Finding]:
    referenced: dict[str, Reference] = {}
    for reference in reversed(context.references):
        referenced[reference.key] = reference
    for key, tool in sorted(context.tools.items()):
        for defect in defects(tool.wire):
            reference_ = referenced.get(key)
            at = reference_.location if reference_ else Location()
            location = Location(at.file, at.line, at.column, key=key, pointer=defect.pointer)
            severity = Severity.ERROR if reference_ else Severity.WARNING
            unused = "" if reference_ else " (no flow uses it)"
            message = f"`{key}`: {defect.text}{unused}"
            yield finding(defect.code, message, location=location, severity=severity)


def _stale(context: FreezeContext, key: str, message: str, hint: str, location: Location | None = None) -> Finding:
    at = location or Location(file=context.lock_file, key=key)
    return finding("lock-stale", message, location=at, next=hint or "run `keel freeze` and review the difference")


def _shown(contract: Contract) -> str:
    return f"{contract.effect}/{contract.idempotency}{'' if contract.asserted else ' (unasserted)'}"
