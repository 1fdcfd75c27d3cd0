"""Gate 5, race and retry admission: what may be cancelled half-way, done twice, or sent again."""

from __future__ import annotations

from collections.abc import Iterator

from keel.analysis.provenance import expansion
from keel.core.finding import Finding, finding
from keel.core.graph import FlowGraph, Graph, Kind, Label, Node, RegionKind, ValueKind, site
from keel.core.model import Effect
from keel.gates.interface import GateContext, at, judged

BRANCHES = "branches"
"""Text of the loop head that stands for a branch made of many calls."""


def check(context: GateContext) -> Iterator[Finding]:
    """Judge races, retries and parallel writes of every flow."""
    for flow in context.entries:
        name = context.name_of(flow)
        for index, node in enumerate(flow.graph.nodes):
            if not judged(node):
                continue
            yield from _raced(context, flow, node, name)
            if node.kind is Kind.CALL:
                yield from _retried(context, flow, index, node, name)
        yield from _parallel(context, flow, name)


def _raced(context: GateContext, flow: FlowGraph, node: Node, name: str) -> Iterator[Finding]:
    races = [
        flow.graph.regions[number] for number, _ in node.regions if flow.graph.regions[number].kind is RegionKind.RACE
    ]
    if not races or node.kind not in (Kind.CALL, Kind.GATE, Kind.AGENT, Kind.THINK):
        return
    race = races[-1].name
    where, place = at(node.span, node.key), site(name, node)
    if node.kind is Kind.GATE:
        message = f"a branch of `{race}` asks a person; another branch may win and nobody is waited for"
        yield finding("race-not-admitted", message, location=where, site=place, next=f"ask before the `{race}`")
    elif node.kind is Kind.AGENT:
        message = f"a branch of `{race}` runs agent `{node.key}`, which may be cancelled at an unknown point"
        yield finding(
            "race-not-admitted", message, location=where, site=place, next=f"run the agent before or after the `{race}`"
        )
    elif node.kind is Kind.CALL:
        yield from _raced_call(context, node, race, name)


def _raced_call(context: GateContext, node: Node, race: str, name: str) -> Iterator[Finding]:
    contract = context.contract(node.key)
    where, place = at(node.span, node.key), site(name, node)
    if contract.raceable and not node.gated:
        return
    if not contract.asserted and not node.gated and contract.effect is not Effect.DANGEROUS:
        message = f"a branch of `{race}` calls `{node.key}`, whose contract nobody asserted"
        yield finding("race-unasserted", message, location=where, site=place)
        return
    what = "asks a person" if node.gated else f"is `{contract.effect}` and its idempotency is `{contract.idempotency}`"
    message = f"a branch of `{race}` calls `{node.key}`, which {what}: it may be cancelled half-way or done for nothing"
    yield finding(
        "race-not-admitted", message, location=where, site=place, next=f"call it before or after the `{race}`"
    )


def _retried(context: GateContext, flow: FlowGraph, index: int, node: Node, name: str) -> Iterator[Finding]:
    contract = context.contract(node.key)
    if contract.retryable:
        return
    retries = dict(node.options).get("retries", 0)
    how = ""
    if retries not in (0, None):
        how = f"`retries={retries}`" if retries != "?" else "`retries`, whose value is not known,"
    elif _called_again(flow.graph, index):
        how = "a loop that swallows its exception"
    if how:
        why = (
            f"is `{contract.effect}` with idempotency `{contract.idempotency}`"
            if contract.asserted
            else "has a contract that nobody asserted"
        )
        yield finding(
            "retry-not-admitted",
            f"{how} may send the same call of `{node.key}` again, which {why}",
            location=at(node.span, node.key),
            site=site(name, node),
            next="drop the retry, or assert `idempotency: required` or `native` if the server honours it",
        )


def _called_again(graph: Graph, index: int) -> bool:
    """Tell whether control can come back to a call after its exception, with the same arguments."""
    node = graph.nodes[index]
    stack = [edge.target for edge in graph.outgoing[index] if edge.label is Label.EXCEPTION]
    if not node.loops or not stack:
        return False
    used = expansion(graph, [item.value for item in node.arguments], hidden=False)
    makers: set[int] = set()
    for value in used:
        item = graph.values[value]
        if item.kind in (ValueKind.RESULT, ValueKind.ELEMENT, ValueKind.BOUND):
            makers.add(item.node)
    changed = {at for at, other in enumerate(graph.nodes) if not used.isdisjoint(other.changes)}
    seen = set(stack)
    while stack:
        at_ = stack.pop()
        if at_ == index:
            return True
        if at_ in makers or at_ in changed or graph.nodes[at_].echo:
            continue
        for edge in graph.outgoing[at_]:
            if edge.target not in seen:
                seen.add(edge.target)
                stack.append(edge.target)
    return False


# -- parallel writes --------------------------------------------------------------------------------


def _parallel(context: GateContext, flow: FlowGraph, name: str) -> Iterator[Finding]:
    """Warn of two writes to one tool that may run together."""
    graph = flow.graph
    groups: dict[tuple[int, str], list[tuple[int, Node]]] = {}
    for node in graph.nodes:
        if node.kind is not Kind.CALL or not judged(node) or context.contract(node.key).effect is Effect.READ:
            continue
        for number, branch in node.regions:
            if graph.regions[number].kind is RegionKind.PARALLEL:
                groups.setdefault((number, node.key), []).append((branch, node))
    for (number, key), calls in groups.items():
        later = _clash(context, graph, calls, number)
        if later is not None:
            yield finding(
                "parallel-writes",
                f"two writes to `{key}` may run at the same time in this `{graph.regions[number].name}`",
                location=at(later.span, key),
                site=site(name, later),
                next="await them one after the other, or name the argument that tells them apart in the grant's `key`",
            )


def _clash(context: GateContext, graph: Graph, calls: list[tuple[int, Node]], number: int) -> Node | None:
    key = calls[0][1].key
    grant = context.grant(key)
    names = grant.key if grant is not None and grant.key else None
    for at_, (branch, node) in enumerate(calls):
        if _repeated(graph, node, number):
            return node
        for other, earlier in calls[:at_]:
            if other != branch and not _differ(graph, earlier, node, names):
                return node
    return None


def _repeated(graph: Graph, node: Node, number: int) -> bool:
    """Tell whether one site stands for many calls of a region: in a loop that makes or starts its branches."""
    region = graph.regions[number]
    for loop in node.loops:
        head = graph.nodes[loop]
        if any(place[0] == number for place in head.regions):
            if head.text == BRANCHES:
                return True
        elif region.name == "TaskGroup" and head.span.line >= region.span.line:
            return True
        elif region.name == "create_task":
            return not _awaited_inside(graph, node, loop)
    return False


def _awaited_inside(graph: Graph, node: Node, loop: int) -> bool:
    """Tell whether a task is awaited in the round that starts it."""
    return any(other.echo and other.span == node.span and loop in other.loops for other in graph.nodes)


def _differ(graph: Graph, one: Node, other: Node, names: tuple[str, ...] | None) -> bool:
    """Tell whether two calls write to different resources: some argument, or some key argument, is another literal."""
    mine = {item.name: item.value for item in one.arguments}
    theirs = {item.name: item.value for item in other.arguments}
    for name in mine.keys() & theirs.keys():
        if names is not None and name not in names:
            continue
        left, right = graph.values[mine[name]], graph.values[theirs[name]]
        if left.kind is ValueKind.LITERAL and right.kind is ValueKind.LITERAL and left.key != right.key:
            return True
    return False
