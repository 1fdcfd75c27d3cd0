"""`keel freeze`: bring the lock in step with the project, one server at a time, losing nothing on the way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from keel.app import native
from keel.app.capture import Taken, take
from keel.app.context import Context, contracts
from keel.app.flows import ProjectFlows, freeze_context, read_flows
from keel.app.lint import blocking, lint_one
from keel.app.outcome import Outcome
from keel.core.codes import Severity
from keel.core.digest import surface_digest
from keel.core.finding import Finding, InputErrors, Location, Report, finding
from keel.core.model import Policy, ServerSpec, Surface, Transport
from keel.core.text import did_you_mean, plural
from keel.errors import UsageError
from keel.gates import freeze as freeze_gate
from keel.lockfile.merge import resolve
from keel.lockfile.model import NATIVE_SURFACE, Lock, LockedServer, LockIndex
from keel.lockfile.read import Parts, read_index, verify_parts
from keel.lockfile.sync import Plan, change_lines, plan, unchanged
from keel.lockfile.write import locked_server, locked_tool
from keel.store.files import exclusive
from keel.store.locks import differing, read_index_file, save


@dataclass(frozen=True, slots=True)
class FreezeOptions:
    """What the command line asks for."""

    servers: tuple[str, ...] = ()
    """Servers to take as they are today, accepting their launch."""
    update: bool = False
    check: bool = False
    offline: bool = False
    allow_empty: bool = False
    once: bool = False
    probe_paths: bool = False
    expect: Mapping[str, str] = field(default_factory=dict)
    """Server to the surface digest that it must have."""


def freeze(context: Context, options: FreezeOptions) -> Outcome:
    """Sync the lock with the project and write it, or with `check` say what a sync would do.

    Raises:
        InputErrors: if the lock, the configuration or the manifest cannot be read.
        UsageError: if a named server is not configured.
    """
    if options.check and (options.servers or options.update or options.offline or options.expect):
        raise UsageError("`--check` reaches nothing and takes nothing", hint="leave the other options out")
    _known(context, options)
    flows = read_flows(context)
    if options.check:
        held = _held(context)
        return _check(context, flows, held, _plan(context, options, held))
    folder = context.files.index.parent
    with exclusive(folder, lambda: context.say("keel.lock", "waiting for another freeze")):
        return _sync(context, options, flows)


def _sync(context: Context, options: FreezeOptions, flows: ProjectFlows) -> Outcome:
    held = _held(context)
    todo = _plan(context, options, held)
    taken = _take(context, options, held, todo)
    derived = native.derive(context, flows, held)
    new = _assemble(context, held, todo, taken, derived)
    findings = [*context.project.findings, *flows.findings, *_refused(context, todo), *derived.findings]
    findings.extend(_untaken(context, held, taken))
    for item in taken.values():
        findings.extend(item.findings)
    save(context.files, new)
    report = Report.of(findings, [item.gap for item in taken.values() if item.gap])
    same = unchanged(held.index, new.index)
    looked_at = f"{plural(len(new.index.servers), 'server')}, {plural(len(new.index.tools), 'tool')}, {same} unchanged"
    return Outcome(report, looked_at=looked_at, lines=change_lines(held.index, new.index))


def _plan(context: Context, options: FreezeOptions, held: Parts) -> Plan:
    """Plan the sync; a server that a merge left undecided is not new, so that only its name has it captured."""
    undecided = held.errors.keys() - {server.name for server in held.index.servers} - set(options.servers)
    launches = {name: launch for name, launch in context.launches.items() if name not in undecided}
    return plan(launches, held.index, named=options.servers, update=options.update)


def _known(context: Context, options: FreezeOptions) -> None:
    names = {server.name for server in context.project.servers}
    for name in (*options.servers, *options.expect):
        if name not in names:
            hint = did_you_mean(name, names) or f"configured: {', '.join(sorted(names)) or 'none'}"
            raise UsageError(f"server `{name}` is not configured", hint=hint)


def _held(context: Context) -> Parts:
    """Read the lock as far as it can be trusted, resolving a merge where only one side is right."""
    files = context.files
    shown = files.shown(files.index)
    text = read_index_file(files)
    if text is None:
        return Parts(LockIndex(), {}, {})
    try:
        parts = verify_parts(read_index(text, shown), shown, files.candidates, files.verified)
    except InputErrors as error:
        return _resolved(context, text, error)
    return _merged(context, text, parts) if parts.errors else parts


def _merged(context: Context, text: str, parts: Parts) -> Parts:
    """Undo what a line-wise merge brought back, such as the line of a tool that one side removed."""
    try:
        resolved = _resolved(context, text)
    except InputErrors:
        return parts
    return resolved if resolved.errors.keys() < parts.errors.keys() else parts


_TWICE = re.compile("overwrite|twice")


def _resolved(context: Context, text: str, error: InputErrors | None = None) -> Parts:
    # A line-wise merge leaves a key or a section twice, which TOML refuses; a marker is a conflict by itself.
    if error and not all(item.code == "lock-conflict" or _TWICE.search(item.message) for item in error.findings):
        raise error
    files = context.files
    shown = files.shown(files.index)
    index, unresolved = resolve(text, shown, files.candidates, context.launches)
    parts = verify_parts(index, shown, files.candidates)
    return replace(parts, errors={**parts.errors, **{item.location.key: (item,) for item in unresolved}})


def _take(context: Context, options: FreezeOptions, held: Parts, todo: Plan) -> dict[str, Taken]:
    taken = _captured(context, options, held, todo)
    surfaces = {**held.surfaces, **{name: item.surface for name, item in taken.items() if item.surface is not None}}
    return {
        name: _linted(context, _as_expected(item, options.expect.get(name)), surfaces) for name, item in taken.items()
    }


def _captured(context: Context, options: FreezeOptions, held: Parts, todo: Plan) -> dict[str, Taken]:
    """Capture servers; a stdio surface that is new or changed is looked at under a second start too."""
    specs = [server for server in context.project.servers if server.name in todo.take]
    frozen = {server.name: server for server in held.index.servers if server.name not in held.errors}
    # A launch that changed may be another version, so that only an unchanged one is known to speak what is frozen.
    known = {name: locked.protocol for name, locked in frozen.items() if locked.launch == context.launches.get(name)}
    ask = partial(
        take,
        context,
        offline=options.offline,
        allow_empty=options.allow_empty,
        probe_paths=options.probe_paths,
        protocols=known,
    )
    new = [spec.name for spec in specs if spec.name not in frozen]
    taken = ask(specs, twice=() if options.once else new)
    changed = [spec for spec in specs if not options.once and _is_changed(spec, taken[spec.name], frozen)]
    again = ask(changed, twice=[spec.name for spec in changed]) if changed else {}
    return {**taken, **{name: _seen_again(taken[name], item) for name, item in again.items()}}


def _is_changed(spec: ServerSpec, item: Taken, frozen: Mapping[str, LockedServer]) -> bool:
    locked = frozen.get(spec.name)
    if locked is None or item.surface is None or spec.transport is not Transport.STDIO:
        return False
    return locked.surface != surface_digest(item.surface)


def _seen_again(first: Taken, second: Taken) -> Taken:
    if second.gap is None:
        return second
    message = f"`{first.name}` was not compared with a second start: {second.gap.why}"
    unverified = finding("stability-unverified", message, location=Location(key=first.name))
    return replace(first, findings=(*first.findings, unverified))


def _linted(context: Context, item: Taken, surfaces: Mapping[str, Surface]) -> Taken:
    """Withhold a surface whose text or names hide something; the other rules are for `keel check`."""
    if item.surface is None:
        return item
    found = blocking(lint_one(context, item.name, item.surface, surfaces, blocking_only=True)[0])
    return replace(item, surface=None, findings=(*item.findings, *found)) if found else item


def _as_expected(item: Taken, wanted: str | None) -> Taken:
    if wanted is None or item.surface is None:
        return item
    got = surface_digest(item.surface)
    if got == wanted:
        return item
    message = f"the surface of `{item.name}` is `{got}`, not the expected `{wanted}`"
    problem = finding("unexpected-surface", message, location=Location(key=item.name))
    return replace(item, surface=None, findings=(*item.findings, problem))


def _untaken(context: Context, held: Parts, taken: Mapping[str, Taken]) -> list[Finding]:
    """Errors of damaged entries that this run neither replaced nor dropped."""
    replaced = {name for name, item in taken.items() if item.surface is not None}
    left = {server.name for server in context.project.servers} - replaced
    return [item for name, found in held.errors.items() if name in left for item in found]


def _refused(context: Context, todo: Plan) -> list[Finding]:
    specs = {server.name: server for server in context.project.servers}
    findings = []
    for name in todo.refused:
        spec = specs[name]
        message = f"the launch of `{name}` is not the one that was frozen; it was not started"
        location = Location(file=spec.file, line=spec.line, column=spec.column, key=name)
        hint = f"review the launch, then run `keel freeze {name}` to accept it"
        findings.append(finding("launch-changed", message, location=location, next=hint))
    return findings


def _assemble(context: Context, held: Parts, todo: Plan, taken: Mapping[str, Taken], derived: native.Derived) -> Lock:
    """Join what is kept, what was captured and what was derived into one lock."""
    specs = {server.name: server for server in context.project.servers}
    launches = context.launches
    surfaces = {name: surface for name, surface in held.surfaces.items() if name in specs and name not in todo.drop}
    entries = {server.name: server for server in held.index.servers if server.name in surfaces}
    for name, item in taken.items():
        if item.surface is not None:
            surfaces[name] = item.surface
            entries[name] = locked_server(name, item.surface, policy=Policy.PIN, launch=launches[name])
    servers = [replace(entry, policy=specs[name].policy) for name, entry in entries.items()]
    wires = {f"{name}/{wire['name']}": wire for name, surface in surfaces.items() for wire in surface.tools}
    given = contracts(context, wires, {})
    tools = [*(locked_tool(key, wire, given[key]) for key, wire in wires.items()), *derived.tools]
    if derived.surface is not None:
        surfaces[NATIVE_SURFACE] = derived.surface
    index = LockIndex(
        tuple(sorted(servers, key=lambda item: item.name)), tuple(sorted(tools, key=lambda item: item.key))
    )
    return Lock(index, surfaces)


def _as_work(item: Finding) -> Finding:
    """A changed body is no news for `check`, but a sync would record it."""
    if item.code != "body-changed":
        return item
    return finding("lock-stale", item.message, location=item.location)


def _check(context: Context, flows: ProjectFlows, held: Parts, todo: Plan) -> Outcome:
    """Say what a sync would do, reaching no server and starting nothing."""
    if held.errors:
        raise InputErrors(item for found in held.errors.values() for item in found)
    findings = [*context.project.findings, *flows.findings]
    if read_index_file(context.files) is None:
        findings.extend(freeze_gate.check(freeze_context(context, flows, None)))
        return Outcome(Report.of(findings), looked_at="no lock")
    lock = Lock(held.index, held.surfaces)
    findings.extend(_as_work(item) for item in freeze_gate.stale(freeze_context(context, flows, lock), lock.index))
    lines = [f"+ {name}" for name in todo.take] + [f"- {name}" for name in todo.drop]
    if not any(item.severity is Severity.ERROR for item in findings):
        derived = native.Derived(lock.surfaces.get(NATIVE_SURFACE), lock.index.tools_of(NATIVE_SURFACE))
        for path in differing(context.files, _assemble(context, held, todo, {}, derived)):
            message = f"`{path}` is not what a freeze would write"
            findings.append(finding("lock-stale", message, location=Location(file=path)))
    looked_at = (
        f"{plural(len(held.index.servers), 'server')}, {plural(len(held.index.tools), 'tool')}, nothing contacted"
    )
    return Outcome(Report.of(findings), looked_at=looked_at, lines=tuple(lines))
