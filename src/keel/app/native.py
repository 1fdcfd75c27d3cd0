"""Deriving the project's own tools for the lock: fingerprints from source, definitions from the child interpreter."""

from __future__ import annotations

from dataclasses import dataclass

from keel.app.context import Context, contracts
from keel.app.flows import ProjectFlows
from keel.core.finding import Finding
from keel.core.model import Surface
from keel.lockfile.model import NATIVE_SURFACE, LockedTool
from keel.lockfile.read import Parts
from keel.lockfile.write import locked_tool

_IMPORT_TIMEOUT_S = 60.0
"""Seconds for all flow modules together; `--timeout` overrides it."""


@dataclass(frozen=True, slots=True)
class Derived:
    """The native part of a lock."""

    surface: Surface | None = None
    """None when the project has no native tools, or they could not be derived and none were frozen."""
    tools: tuple[LockedTool, ...] = ()
    findings: tuple[Finding, ...] = ()


def derive(context: Context, flows: ProjectFlows, held: Parts) -> Derived:
    """Derive every native tool; on any fault the frozen ones are kept, so that a broken module loses nothing."""
    if not flows.native:
        return Derived()
    from keel.native.request import ModuleRef, Request, ToolRef  # noqa: PLC0415
    from keel.store.child import choose_python, introspect  # noqa: PLC0415

    context.say("native tools", "importing flow modules")
    project = context.project
    request = Request(
        project=str(project.root),
        roots=project.config.source_roots,
        modules=tuple(ModuleRef(name, file) for name, file in sorted({(t.module, t.file) for t in flows.declared})),
        tools=tuple(ToolRef(tool.module, tool.qualname, tool.key, tool.line) for tool in flows.declared),
    )
    answer = introspect(
        choose_python(project.root, project.config.python, context.environ),
        request,
        cwd=project.root,
        timeout_s=context.timeout_s or _IMPORT_TIMEOUT_S,
        env=context.environ,
    )
    if answer.findings:
        return _as_frozen(held, answer.findings)
    wires = {definition.tool.name: definition.wire for definition in answer.definitions}
    given = contracts(context, wires, flows.declarations)
    sources = {tool.key: tool for tool in flows.native}
    tools = tuple(
        locked_tool(key, wire, given[key], source=sources[key].source, body=sources[key].body)
        for key, wire in sorted(wires.items())
    )
    return Derived(Surface({}, tuple(wires[key] for key in sorted(wires))), tools)


def _as_frozen(held: Parts, findings: tuple[Finding, ...]) -> Derived:
    surface = held.surfaces.get(NATIVE_SURFACE)
    tools = held.index.tools_of(NATIVE_SURFACE) if surface is not None else ()
    return Derived(surface, tools, findings)
