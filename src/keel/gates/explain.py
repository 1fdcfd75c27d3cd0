"""Tells a way through a flow line by line, with the branch taken at each step."""

from __future__ import annotations

from keel.analysis.paths import Uncovered
from keel.core.finding import PathStep
from keel.core.graph import Edge, FlowGraph, Graph, Kind, Label, Node

MAX_STEPS = 40
"""Longer ways are cut in the middle."""


def told(flow: FlowGraph, way: Uncovered) -> tuple[PathStep, ...]:
    """Return the lines of a way from the flow's entry to the call."""
    graph = flow.graph
    found: list[PathStep] = [PathStep(flow.file, flow.line, f"enter `{flow.name}`")]
    for index, edge in zip(way.nodes[:-1], way.edges, strict=True):
        text = _text(graph, graph.nodes[index], edge)
        if text:
            span = graph.nodes[index].span
            step = PathStep(span.file, span.line, text)
            if step != found[-1]:
                found.append(step)
    last = graph.nodes[way.nodes[-1]]
    found.append(PathStep(last.span.file, last.span.line, f"`{last.text}` is reached"))
    return _cut(found)


def _text(graph: Graph, node: Node, edge: Edge) -> str:
    if edge.label is Label.EXCEPTION:
        what = f"`{node.text}`" if node.text else "the code"
        return f"{what} raises `ApprovalDenied`" if node.kind is Kind.GATE else f"{what} raises"
    if node.kind is Kind.BRANCH:
        return f"`{node.text}` is {'true' if edge.label is Label.TRUE else 'false'}"
    if node.kind is Kind.LOOP:
        return _loop(node, edge)
    if node.kind is Kind.HANDLER:
        return f"`{node.text}` catches it"
    if node.kind is Kind.GATE:
        returns = dict(node.options).get("on_reject") == "return"
        return f"`{node.text}` {'gives its answer' if returns else 'completes'}"
    if node.kind is Kind.CALL:
        return f"`{node.text}`"
    del graph
    return ""


def _loop(node: Node, edge: Edge) -> str:
    if not node.text:
        return ""
    if edge.label is Label.LEAVE:
        return f"the loop over `{node.text}` ends"
    return f"the loop over `{node.text}` takes an element" if edge.label is Label.TRUE else ""


def _cut(steps: list[PathStep]) -> tuple[PathStep, ...]:
    if len(steps) <= MAX_STEPS:
        return tuple(steps)
    half = MAX_STEPS // 2
    hidden = len(steps) - 2 * half
    middle = PathStep(steps[half].file, steps[half].line, f"… {hidden} more steps …")
    return (*steps[:half], middle, *steps[-half:])
