"""The project's flows as the other use cases need them: what is referenced where, and what is native."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from keel.app.context import Context, contracts
from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.graph import FlowGraph, Kind, site
from keel.core.model import Contract, NativeDeclaration
from keel.core.text import escape
from keel.flow.read import Program
from keel.flow.read import read_flows as read_program
from keel.flow.values import NativeTool as DeclaredTool
from keel.gates.freeze import FreezeContext, NativeTool, Reference
from keel.lockfile.model import Lock
from keel.manifest.config import ProjectConfig
from keel.native.fingerprint import Fingerprints
from keel.store.sources import FileSources

if TYPE_CHECKING:
    from keel.drift.usage import Usage


@dataclass(frozen=True)
class ProjectFlows:
    """What one static reading of the project found."""

    program: Program
    unmatched: tuple[Finding, ...] = ()
    """Entries of `flows` that match nothing."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the reader itself has to say."""
        return (*self.program.findings, *self.unmatched)

    @property
    def has_flows(self) -> bool:
        """Whether the project has any flow."""
        return bool(self.program.flows)

    @property
    def declared(self) -> tuple[DeclaredTool, ...]:
        """The native tools as the source declares them."""
        return self.program.native_tools

    @cached_property
    def declarations(self) -> Mapping[str, NativeDeclaration]:
        """Native tool key to what `@tool` declares."""
        return {tool.key: tool.declaration for tool in self.declared}

    @cached_property
    def native(self) -> tuple[NativeTool, ...]:
        """The native tools with the fingerprints of their source."""
        marks = Fingerprints(self.program)
        return tuple(self._fingerprinted(tool, marks) for tool in self.declared)

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Every place that names a tool: call sites and agents' lists first, then declarations without any."""
        # A native tool whose name holds a slash is refused for its name; it is no reference to a server.
        misnamed = {key for key in self.declarations if "/" in key}
        found = [reference for reference in _sites(self.program.flows) if reference.key not in misnamed]
        called = {reference.key for reference in found}
        for item in self.program.references:
            if item.key not in called:
                found.append(Reference(item.key, Location(item.file, item.line, item.column, item.key)))
        return tuple(found)

    @cached_property
    def sites(self) -> Mapping[str, tuple[str, ...]]:
        """Tool key to the sites of its calls."""
        found: dict[str, dict[str, None]] = {}
        for reference in _sites(self.program.flows):
            found.setdefault(reference.key, {})[reference.site] = None
        return {key: tuple(sorted(sites)) for key, sites in found.items()}

    @cached_property
    def usage(self) -> Usage:
        """Where flows use which tool, for judging what a change of it breaks."""
        from keel.drift.usage import Usage  # noqa: PLC0415 - `check` compares nothing

        return Usage(self.program)

    @cached_property
    def referenced(self) -> frozenset[str]:
        """Keys that a flow calls or an agent holds."""
        held = (tool.key for agent in self.program.agents for tool in agent.tools)
        return frozenset((*self.sites, *held))

    def _fingerprinted(self, tool: DeclaredTool, marks: Fingerprints) -> NativeTool:
        found = marks.of(tool.module, tool.qualname)
        at = Location(tool.file, tool.line, tool.column, tool.key)
        return NativeTool(tool.key, at, found.interface, found.body)


def read_flows(context: Context) -> ProjectFlows:
    """Read the project's flows without running anything.

    Raises:
        InputErrors: if the configuration names flows below no source root: nothing could import them.
    """
    config = context.project.config
    patterns = config.flows if config.flows is not None else default_flows(config.source_roots)
    program = read_program(FileSources(context.project.root), flows=patterns, source_roots=config.source_roots)
    outside = tuple(_outside(config, program))
    if outside:
        raise InputErrors(outside)
    return ProjectFlows(program, _unmatched(config, program) if config.flows is not None else ())


def default_flows(source_roots: Iterable[str]) -> tuple[str, ...]:
    """Return the default of `flows`: under each source root, and one package below it."""
    roots = ["" if root == "." else f"{root}/" for root in source_roots]
    return tuple(
        f"{root}{name}" for root in roots for name in ("flows.py", "flows/**/*.py", "*/flows.py", "*/flows/**/*.py")
    )


def _outside(config: ProjectConfig, program: Program) -> Iterator[Finding]:
    if "." in config.source_roots:
        return
    for path in program.modules:
        if not any(path.startswith(f"{root}/") for root in config.source_roots):
            yield finding(
                "config-error",
                f"flow module `{escape(path)}` lies below no folder of `source-roots`",
                location=Location(config.file, config.line_of("source-roots")),
                next="add its folder to `source-roots`, or move the module",
            )


def _unmatched(config: ProjectConfig, program: Program) -> tuple[Finding, ...]:
    return tuple(
        finding(
            "config-error",
            f"`{pattern}` in `flows` matches nothing",
            location=Location(config.file, config.line_of("flows")),
            next="correct the path, or remove the entry",
        )
        for pattern in program.unmatched
    )


def _sites(flows: Iterable[FlowGraph]) -> Iterator[Reference]:
    for flow in flows:
        for node in flow.graph.nodes:
            if node.kind is Kind.CALL and not node.echo:
                span = node.span
                at = Location(span.file, span.line, span.column, node.key)
                yield Reference(node.key, at, site(flow.name, node))


def freeze_context(context: Context, flows: ProjectFlows, lock: Lock | None) -> FreezeContext:
    """Build what gate 1 looks at."""
    tools = lock.frozen_tools() if lock is not None else {}
    given = contracts(context, {key: tool.wire for key, tool in tools.items()}, flows.declarations)

    def contract_of(key: str) -> Contract:
        return given[key]

    return FreezeContext(
        index=lock.index if lock is not None else None,
        lock_file=context.files.shown(context.files.index),
        surfaces=lock.surfaces if lock is not None else {},
        tools=tools,
        servers=context.project.servers,
        withheld=frozenset(item.location.key for item in context.project.findings if item.code == "server-not-granted"),
        launches=context.launches,
        contract_of=contract_of,
        references=flows.references,
        native=flows.native,
    )
