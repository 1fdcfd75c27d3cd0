"""`keel drift`: what servers say today against the lock, under each server's policy; never writes anything."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from keel.app.capture import Taken, take
from keel.app.context import Context, contracts
from keel.app.flows import ProjectFlows, read_flows
from keel.app.garbled import garbled, unread, without
from keel.app.outcome import Outcome
from keel.core.codes import CODES, Gate, Severity
from keel.core.digest import surface_digest
from keel.core.finding import Finding, InputErrors, Location, NotChecked, Report, finding
from keel.core.model import Json, Policy, ServerSpec, Surface, split_key
from keel.core.text import did_you_mean, plural
from keel.drift.impact import Impacts
from keel.drift.interface import DriftContext
from keel.drift.surface import compare_surfaces, uncompared
from keel.drift.volatile import apply_masks
from keel.errors import UsageError
from keel.gates.reviews import reviews
from keel.gates.suppressions import Applied, apply
from keel.lockfile.model import Lock
from keel.store.locks import load


@dataclass(frozen=True, slots=True)
class DriftOptions:
    """What the command line asks for."""

    servers: tuple[str, ...] = ()
    """Only these; all when empty."""
    confirm: int = 1
    """How many more listings must show a difference before it is reported."""
    allow_unreachable: tuple[str, ...] = ()
    """Servers whose gap does not make the run incomplete."""


def drift(context: Context, options: DriftOptions) -> Outcome:
    """Compare live surfaces with the lock.

    Raises:
        InputErrors: if there is no lock, or it cannot be trusted.
        UsageError: if a named server is not configured.
    """
    specs = _selected(context, options)
    lock = load(context.files)
    if lock is None:
        shown = context.files.shown(context.files.index)
        message = f"there is no `{shown}` to compare with"
        raise InputErrors([finding("lock-missing", message, location=Location(file=shown))])
    flows = read_flows(context)
    asked, gaps = _admitted(context, specs, lock)
    taken = _ask(context, asked, lock)
    by_name = {spec.name: spec for spec in asked}
    found = {name: _compare(context, by_name[name], lock, flows, item) for name, item in taken.items()}
    again = [by_name[name] for name, items in found.items() if items]
    for _ in range(options.confirm if again else 0):
        kept, unsteady = _confirmed(context, again, lock, flows, found, taken)
        found |= kept
        gaps.extend(unsteady)
    gaps.extend(item.gap for item in taken.values() if item.gap)
    findings = [item for items in found.values() for item in items]
    findings.extend(item for name in taken for item in taken[name].findings if item.severity is not Severity.INFO)
    findings.extend(reviews(specs, context.today, expired=Severity.ERROR))
    compared = [item for item in taken.values() if item.surface is not None]
    for item in compared:
        hint = f"run `keel drift {item.name}` again, or tell its author"
        gaps.extend(unread(item.name, item.findings, hint))
    applied = acknowledged(context, findings, {item.name for item in compared})
    report = Report.of(applied.findings, (gap for gap in gaps if gap.what not in options.allow_unreachable))
    return _outcome(report, specs, lock, compared, len(applied.suppressed))


def acknowledged(context: Context, findings: Iterable[Finding], compared: Collection[str]) -> Applied:
    """Apply the suppressions that this run can judge: of drift codes, for servers that were compared.

    One that waits for another command, or for a server that could not be reached, is no leftover.
    """
    config = context.project.config
    entries = [
        entry for entry in config.suppress if entry.code in _JUDGED_HERE and entry.key.partition("/")[0] in compared
    ]
    return apply(findings, entries, today=context.today, file=config.file)


_JUDGED_HERE = frozenset(code for code, info in CODES.items() if info.gate is Gate.DRIFT) - {
    "body-changed",
    "manifest-loosened",
}


def _selected(context: Context, options: DriftOptions) -> list[ServerSpec]:
    known = {server.name: server for server in context.project.servers}
    for name in (*options.servers, *options.allow_unreachable):
        if name not in known:
            hint = did_you_mean(name, known) or f"configured: {', '.join(sorted(known)) or 'none'}"
            raise UsageError(f"server `{name}` is not configured", hint=hint)
    return [known[name] for name in sorted(options.servers or known)]


def _admitted(context: Context, specs: Iterable[ServerSpec], lock: Lock) -> tuple[list[ServerSpec], list[NotChecked]]:
    """Split servers into those whose launch the lock holds, and those that are not started (DESIGN section 11)."""
    launches = context.launches
    asked: list[ServerSpec] = []
    gaps: list[NotChecked] = []
    for spec in specs:
        locked = lock.index.server(spec.name)
        if locked is None:
            why = "it is configured and not frozen, so it was not started"
            gaps.append(NotChecked(spec.name, "launch-not-accepted", why, f"run `keel freeze {spec.name}`"))
        elif spec.policy is Policy.OFF:
            continue
        elif locked.launch != launches[spec.name]:
            why = "its launch is not the one that was frozen, so it was not started"
            hint = f"review the launch, then run `keel freeze {spec.name}` to accept it"
            gaps.append(NotChecked(spec.name, "launch-not-accepted", why, hint))
        else:
            asked.append(spec)
    return asked, gaps


_RETRIES = 2
"""How often a refused connection, a 429, a 5xx and a timeout are tried again (DESIGN section 8)."""


def _ask(context: Context, specs: Iterable[ServerSpec], lock: Lock) -> dict[str, Taken]:
    """Ask servers under the protocol revision that was frozen; only one frozen without tools may have none now."""
    protocols = {server.name: server.protocol for server in lock.index.servers}
    groups: dict[bool, list[ServerSpec]] = {True: [], False: []}
    for spec in specs:
        groups[not lock.surfaces[spec.name].tools].append(spec)
    taken: dict[str, Taken] = {}
    for empty, group in groups.items():
        taken |= take(context, group, protocols=protocols, allow_empty=empty, retries=_RETRIES)
    return taken


def _compare(context: Context, spec: ServerSpec, lock: Lock, flows: ProjectFlows, item: Taken) -> tuple[Finding, ...]:
    if item.surface is None:
        return ()
    names = garbled(item.findings)
    frozen = without(apply_masks(lock.surfaces[spec.name], spec.volatile), names)
    live = item.surface
    wires = {f"{spec.name}/{wire['name']}": wire for wire in live.tools}
    before = lock.wires()
    manifest = context.project.manifest
    return compare_surfaces(
        frozen,
        live,
        DriftContext(
            server=spec.name,
            policy=spec.policy,
            referenced=_referenced(context, spec, frozen, flows),
            tools_section=manifest.tools is not None,
            frozen_contracts={tool.key: tool.contract for tool in lock.index.tools_of(spec.name)},
            live_contracts=contracts(context, wires, {}),
            fail_on=dict(manifest.fail_on),
            impacts=Impacts(flows.usage, before, {**_others(before, spec.name), **wires}),
        ),
    )


def _others(wires: Mapping[str, Mapping[str, Json]], server: str) -> dict[str, Mapping[str, Json]]:
    return {key: wire for key, wire in wires.items() if split_key(key)[0] != server}


def _referenced(context: Context, spec: ServerSpec, frozen: Surface, flows: ProjectFlows) -> frozenset[str]:
    if flows.has_flows:
        return flows.referenced
    keys = (f"{spec.name}/{tool['name']}" for tool in frozen.tools)
    return frozenset(key for key in keys if context.project.manifest.admits(key))


def _confirmed(
    context: Context,
    specs: list[ServerSpec],
    lock: Lock,
    flows: ProjectFlows,
    found: Mapping[str, tuple[Finding, ...]],
    taken: Mapping[str, Taken],
) -> tuple[dict[str, tuple[Finding, ...]], list[NotChecked]]:
    """Keep the differences that one more listing shows again; a server that changes its mind is `unstable`."""
    kept: dict[str, tuple[Finding, ...]] = {}
    unsteady: list[NotChecked] = []
    by_name = {spec.name: spec for spec in specs}
    for name, item in _ask(context, specs, lock).items():
        # Equal listings differ from the lock alike; their texts tell what `==` does not, such as `true` from `1`.
        same = item.surface is None or repr(item.surface) == repr(taken[name].surface)
        seen = set(found[name]) if same else set(_compare(context, by_name[name], lock, flows, item))
        kept[name] = tuple(difference for difference in found[name] if difference in seen)
        if len(kept[name]) < len(found[name]):
            lost = plural(len(found[name]) - len(kept[name]), "difference")
            why = f"{lost} of one listing did not come back in another"
            unsteady.append(NotChecked(name, "unstable", why, f"run `keel drift {name}` again, or tell its author"))
    return kept, unsteady


def _outcome(report: Report, specs: list[ServerSpec], lock: Lock, compared: list[Taken], suppressed: int) -> Outcome:
    skipped = {spec: uncompared(lock.surfaces[spec.name], spec.policy) for spec in specs if spec.name in lock.surfaces}
    parts = [plural(len(compared), "server") + " compared"]
    if suppressed:
        parts.append(f"{suppressed} acknowledged")
    if total := sum(skipped.values()):
        parts.append(f"{plural(total, 'tool')} not compared")
    if report.digest:
        parts.append(f"report {report.digest[:15]}")
    changed = {item.location.key.partition("/")[0] for item in report.findings}
    hints = tuple(
        f"`keel freeze {item.name} --expect {item.name}={surface_digest(item.surface)}` accepts what was seen here"
        for item in compared
        if item.name in changed and item.surface is not None
    )
    lines = tuple(
        f"{spec.name}: {plural(count, 'tool')} not compared under `{spec.policy}`"
        for spec, count in skipped.items()
        if count
    )
    return Outcome(report, looked_at=", ".join(parts), lines=lines, hints=hints)
