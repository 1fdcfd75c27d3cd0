"""What every gate gets: the program as read, the manifest, the lock's tools, and the day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from keel.core.finding import Location
from keel.core.graph import FlowGraph, Node, Span
from keel.core.model import Contract, FrozenTool, Grant, Manifest, ServerSpec, Surface
from keel.flow.read import Program
from keel.flow.values import NativeTool
from keel.manifest.policy import contract_for


@dataclass(frozen=True)
class GateContext:
    """One project at one moment."""

    program: Program
    manifest: Manifest
    servers: tuple[ServerSpec, ...] = ()
    """Every configured server, from the manifest and from client configurations."""
    tools: Mapping[str, FrozenTool] | None = None
    """Frozen tools by key; None when there is no lock."""
    surfaces: Mapping[str, Surface] = field(default_factory=dict)
    """Frozen surfaces by server."""
    today: date = date.max
    config_file: str = ""
    """The project's configuration, where a finding about the whole project stands."""

    @cached_property
    def natives(self) -> Mapping[str, NativeTool]:
        """Native tools by key."""
        return {item.key: item for item in self.program.native_tools}

    @cached_property
    def entries(self) -> tuple[FlowGraph, ...]:
        """Flows that are judged by themselves: entries, and inner ones that nobody calls or that an agent holds."""
        held = {tool.flow for agent in self.program.agents for tool in agent.tools if tool.flow}
        return tuple(flow for flow in self.program.flows if flow.entry or not flow.called or flow.qualified in held)

    def tool(self, key: str) -> FrozenTool | None:
        """Return a frozen tool."""
        return self.tools.get(key) if self.tools is not None else None

    def contract(self, key: str) -> Contract:
        """Return a tool's contract as the manifest, the declaration and the frozen hints give it."""
        return self._contracts(key)

    def _contracts(self, key: str) -> Contract:
        known = self._memo.get(key)
        if known is None:
            native = self.natives.get(key)
            frozen = self.tool(key)
            hints = frozen.wire.get("annotations") if frozen is not None else None
            known = self._memo[key] = contract_for(
                key,
                self.manifest,
                hints if isinstance(hints, Mapping) else None,
                native.declaration if native is not None else None,
            )
        return known

    @cached_property
    def _memo(self) -> dict[str, Contract]:
        return {}

    def grant(self, key: str) -> Grant | None:
        """Return the grant that decides for a tool."""
        return self.manifest.grant_for(key)

    def name_of(self, flow: FlowGraph) -> str:
        """Return the name a flow is called by in reports."""
        return self._names[flow.qualified]

    @cached_property
    def _names(self) -> Mapping[str, str]:
        names = {flow.qualified: flow.qualified for flow in self.program.flows}
        names.update((flow.qualified, name) for name, flow in self.program.flow_names.items())
        return names


def at(span: Span, key: str = "") -> Location:
    """Return the location of a span."""
    return Location(span.file, span.line, span.column, key)


def steps(flow: FlowGraph) -> list[int]:
    """Return the nodes of a flow that are judged: no echo, nothing that can never run."""
    return [index for index, node in enumerate(flow.graph.nodes) if judged(node)]


def judged(node: Node) -> bool:
    """Tell whether a node is judged."""
    return not node.echo and not node.dead
