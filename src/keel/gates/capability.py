"""Gate 3, capability: what the manifest grants, which versions it accepts, what nobody asserted or uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from keel.core.finding import Finding, Location, finding
from keel.core.graph import FlowGraph, Kind, Node, site
from keel.core.model import NATIVE, Grant, ServerSpec, split_key
from keel.core.text import excerpt
from keel.gates import counting, taint
from keel.gates.interface import GateContext, at, judged
from keel.gates.reviews import reviews
from keel.manifest.network import host_of, reaches
from keel.manifest.policy import effect_lowered, needs_reason, paste_line


def check(context: GateContext) -> Iterator[Finding]:
    """Judge grants, servers, models, data and counts."""
    if not context.manifest.exists:
        place = Location(context.config_file, 1 if context.config_file else 0)
        yield finding(
            "no-manifest", "the project has no capability manifest, so that nothing is constrained", location=place
        )
    for flow in context.entries:
        yield from _steps(context, flow)
    yield from _agents(context)
    yield from _servers(context)
    yield from _grants(context)
    yield from taint.check(context)
    yield from counting.check(context)


# -- steps ------------------------------------------------------------------------------------------


def _steps(context: GateContext, flow: FlowGraph) -> Iterator[Finding]:
    name = context.name_of(flow)
    for node in flow.graph.nodes:
        if not judged(node):
            continue
        place = site(name, node)
        if node.kind is Kind.CALL:
            yield from _tool(context, node.key, at(node.span, node.key), place)
        elif node.kind is Kind.THINK:
            yield from _reasoner(context, node, place)
            yield from _model(context, node.model, at(node.span), place)
            yield from _scope(context, node.scope, at(node.span), place)
        elif node.kind is Kind.AGENT:
            yield from _agent_step(context, node, place)


def _agent_step(context: GateContext, node: Node, place: str) -> Iterator[Finding]:
    yield from _model(context, node.model, at(node.span), place)
    yield from _scope(context, node.scope, at(node.span), place)


def _tool(context: GateContext, key: str, where: Location, place: str = "") -> Iterator[Finding]:
    server = NATIVE if key in context.natives else split_key(key)[0]
    manifest = context.manifest
    if server != NATIVE and manifest.servers is not None and all(spec.name != server for spec in manifest.servers):
        yield finding(
            "server-not-granted",
            f"server `{excerpt(server, 60)}` is not in the manifest's `servers`",
            location=where,
            site=place,
            next=f"add `{excerpt(server, 60)}` to `servers` in `{manifest.file or 'the manifest'}`",
        )
    if not manifest.admits(key):
        yield finding(
            "tool-not-granted",
            f"`{excerpt(key, 100)}` is not in the manifest's `tools`",
            location=where,
            site=place,
            next=f"add to `tools`: `{paste_line(key, _hints(context, key), contract=context.contract(key))}`",
        )
    if not context.contract(key).asserted:
        yield finding(
            "unasserted-contract",
            f"nobody asserted the contract of `{excerpt(key, 100)}`: it counts as `{context.contract(key).effect}`",
            location=where,
            site=place,
            next="paste into `tools` and correct: "
            f"`{paste_line(key, _hints(context, key), contract=context.contract(key))}`",
        )


def _hints(context: GateContext, key: str) -> Mapping[str, object] | None:
    frozen = context.tool(key)
    hints = frozen.wire.get("annotations") if frozen is not None else None
    return hints if isinstance(hints, Mapping) else None


def _reasoner(context: GateContext, node: Node, place: str) -> Iterator[Finding]:
    allowed = context.manifest.reasoners
    if allowed is not None and node.key not in allowed:
        yield finding(
            "reasoner-not-granted",
            f"reasoner `{node.key}` is not in the manifest's `reasoners`",
            location=at(node.span),
            site=place,
        )


def _model(context: GateContext, model: str, where: Location, place: str) -> Iterator[Finding]:
    allowed = context.manifest.models
    if allowed is not None and model not in allowed:
        what = f"model `{excerpt(model, 80)}`" if model else "a model that is not known"
        yield finding("model-not-granted", f"{what} is not in the manifest's `models`", location=where, site=place)


def _scope(context: GateContext, scope: str, where: Location, place: str) -> Iterator[Finding]:
    allowed = context.manifest.scopes
    if allowed is not None and scope not in allowed:
        yield finding(
            "scope-not-granted",
            f"scope `{excerpt(scope, 60)}` is not in the manifest's `scopes`",
            location=where,
            site=place,
        )


def _agents(context: GateContext) -> Iterator[Finding]:
    for agent in context.program.agents:
        for tool in agent.tools:
            if not tool.flow:
                yield from _tool(context, tool.key, Location(tool.file, tool.line, tool.column, tool.key))


# -- servers ----------------------------------------------------------------------------------------


def _servers(context: GateContext) -> Iterator[Finding]:
    listed = context.manifest.servers
    for spec in context.servers:
        where = Location(spec.file, spec.line, spec.column, spec.name)
        if listed is not None and all(item.name != spec.name for item in listed):
            continue
        yield from _version(context, spec, where)
        yield from _network(context, spec, where)
        yield from reviews([spec], context.today, lines=_review_lines(context, spec))


def _version(context: GateContext, spec: ServerSpec, where: Location) -> Iterator[Finding]:
    surface = context.surfaces.get(spec.name)
    if spec.version is None or surface is None:
        return
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - start-up
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - start-up

    said = surface.server_version
    try:
        inside = SpecifierSet(spec.version).contains(Version(said), prereleases=True)
    except (InvalidVersion, InvalidSpecifier):
        inside = False
    if not inside:
        line = _line(context, f"/servers/{spec.name}/version") or where.line
        yield finding(
            "server-version",
            f"server `{spec.name}` is version `{excerpt(said, 40) or '(none)'}`, outside `{spec.version}`",
            location=Location(where.file, line, where.column, spec.name),
        )


def _network(context: GateContext, spec: ServerSpec, where: Location) -> Iterator[Finding]:
    allowed = context.manifest.network
    if allowed is None or not spec.url:
        return
    host = host_of(spec.url)[0]
    if not reaches(spec.url, allowed):
        yield finding(
            "network-not-granted",
            f"host `{excerpt(host, 80)}` of server `{spec.name}` is not in the manifest's `network`",
            location=where,
        )


def _review_lines(context: GateContext, spec: ServerSpec) -> dict[str, int]:
    line = _line(context, f"/servers/{spec.name}/review_expires_at")
    return {spec.name: line} if line else {}


def _line(context: GateContext, pointer: str) -> int:
    return dict(context.manifest.lines).get(pointer, 0)


# -- grants -----------------------------------------------------------------------------------------


def _grants(context: GateContext) -> Iterator[Finding]:
    used = {node.key for flow in context.program.flows for node in flow.graph.nodes if node.kind is Kind.CALL}
    used |= {tool.key for agent in context.program.agents for tool in agent.tools if not tool.flow}
    for grant in context.manifest.tools or ():
        where = Location(context.manifest.file, grant.line, grant.column, grant.tool)
        yield from _lowered(context, grant, where)
        if grant.is_wildcard:
            prefix = grant.tool.removesuffix("*")
            if not any(key.startswith(prefix) for key in used):
                yield finding("unused-grant", f"no flow calls a tool that `{grant.tool}` grants", location=where)
        elif _is_stale(context, grant):
            yield finding("stale-grant", f"`{grant.tool}` is granted and does not exist", location=where)
        elif grant.tool not in used:
            yield finding("unused-grant", f"`{grant.tool}` is granted and no flow calls it", location=where)


def _is_stale(context: GateContext, grant: Grant) -> bool:
    server = split_key(grant.tool)[0]
    if server == NATIVE:
        return grant.tool not in context.natives
    surface = context.surfaces.get(server)
    return surface is not None and all(f"{server}/{tool.get('name')}" != grant.tool for tool in surface.tools)


def _lowered(context: GateContext, grant: Grant, where: Location) -> Iterator[Finding]:
    if grant.is_wildcard:
        return
    native = context.natives.get(grant.tool)
    declaration = native.declaration if native is not None else None
    hints = _hints(context, grant.tool)
    how = effect_lowered(grant.tool, context.manifest, hints, declaration)
    if how is None:
        return
    if needs_reason(grant.tool, context.manifest, declaration):
        yield finding(
            "manifest-error",
            f"`{grant.tool}` is asserted below its declaration ({how}) without a `reason`",
            location=where,
            next="add `reason: …`, or assert what `@tool` declares",
        )
    else:
        yield finding("effect-lowered", f"`{grant.tool}` is asserted below what is known of it: {how}", location=where)
