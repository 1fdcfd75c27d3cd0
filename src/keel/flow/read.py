"""Reads the flows of a project: the one entrance of this package."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from keel.core.finding import Finding
from keel.core.graph import FlowGraph, Span
from keel.flow.build import LOG
from keel.flow.defining import definition
from keel.flow.dynamic import scan
from keel.flow.modules import Module, Project, Sources, matching, top_level
from keel.flow.plain import Summaries
from keel.flow.reach import absolute
from keel.flow.reader import Reader
from keel.flow.state import Mode
from keel.flow.values import AgentDef, Func, NativeTool, ReasonerDef, Static
from keel.flow.world import Missing, Reference, World
from keel.native.fingerprint import Definition

RECURSION = 20_000
"""Depth for reading nested source; pure Python calls take no C stack (CPython 3.11 and later)."""


@dataclass(frozen=True)
class Program:
    """Everything that a project's flow modules say."""

    flows: tuple[FlowGraph, ...] = ()
    native_tools: tuple[NativeTool, ...] = ()
    references: tuple[Reference, ...] = ()
    agents: tuple[AgentDef, ...] = ()
    reasoners: tuple[ReasonerDef, ...] = ()
    reasoner_spans: Mapping[ReasonerDef, Span] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    flow_files: tuple[str, ...] = ()
    """Files that `flows` names and that exist."""
    modules: tuple[str, ...] = ()
    """Files of all modules reachable from them."""
    unmatched: tuple[str, ...] = ()
    """Patterns of `flows` that name no file."""
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Source lines by file, for messages."""
    world: World | None = field(default=None, repr=False, compare=False)

    def find(self, module: str, name: str) -> Definition | None:
        """Return the definition of a module-level name, imports inside the project followed.

        Args:
            module: dotted module name.
            name: a name in it.
        """
        return definition(self.world.project, module, name) if self.world is not None else None

    @property
    def flow_names(self) -> Mapping[str, FlowGraph]:
        """Flows by the name they are called by: short, or `module:flow` where short names collide."""
        short: dict[str, list[FlowGraph]] = {}
        for flow in self.flows:
            short.setdefault(flow.name, []).append(flow)
        return {(name if len(found) == 1 else flow.qualified): flow for name, found in short.items() for flow in found}


def read_flows(sources: Sources, *, flows: tuple[str, ...], source_roots: tuple[str, ...] = (".", "src")) -> Program:
    """Read the flow modules of a project and everything they reach, without executing anything.

    Args:
        sources: the project's Python files.
        flows: files, globs or dotted module names.
        source_roots: folders from which module names count, relative to the project.
    """
    with _deep():
        try:
            return _Reading(sources, flows, source_roots).program()
        finally:
            LOG.clear()


@contextmanager
def _deep() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class _Reading:
    def __init__(self, sources: Sources, flows: tuple[str, ...], source_roots: tuple[str, ...]) -> None:
        self.project = Project(sources, source_roots)
        self.world = World(self.project)
        self.summaries = Summaries(self.world)
        self.world.evaluate = self._evaluate
        named = matching(self.project.files(), flows, source_roots)
        self.unmatched = tuple(pattern for pattern, files in named.items() if not files)
        self.files = tuple(sorted({file for files in named.values() for file in files}))
        self.graphs: list[FlowGraph] = []
        self.called: set[str] = set()

    def _evaluate(self, module: Module, statement: ast.stmt, name: str) -> Static | None:
        begun = len(LOG)
        try:
            return Reader(self.world, self.summaries, Mode.IMPORT).evaluate(module, statement, name)
        finally:
            del LOG[begun:]

    def program(self) -> Program:
        modules = [module for file in self.files if (module := self.project.parse(file)) is not None]
        self.world.reach.follow(modules)
        for module in self.world.each_module():
            scan(self.world, module)
            self._imports(module)
            if self.world.reach.module_live(module.name):
                Reader(self.world, self.summaries, Mode.IMPORT).imported(module)
        for module in modules:
            for node in module.nodes():
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and self._is_flow(module, node):
                    self._flow(module, node)
        self._native_bodies()
        self._duplicates()
        self._not_covered()
        return self._finish(modules)

    def _imports(self, module: Module) -> None:
        """Resolve every import of a module once, so that a wrong one is reported even where nobody uses it."""
        for node in module.nodes():
            if isinstance(node, ast.Import):
                for item in node.names:
                    self.world.imported(module, item.name, node)
            elif isinstance(node, ast.ImportFrom):
                self._import_from(module, node)

    def _import_from(self, module: Module, node: ast.ImportFrom) -> None:
        for item in node.names:
            if item.name != "*":
                self.world.import_from(module, node, item.name)
            elif absolute(module, node) != "keel":
                base = absolute(module, node)
                if self.project.file_of(base) is None and not self.project.is_namespace(base):
                    self.world.imported(module, base, node)

    def _is_flow(self, module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        return any(
            self._names_flow(module, item.func if isinstance(item, ast.Call) else item) for item in node.decorator_list
        )

    def _names_flow(self, module: Module, node: ast.expr) -> bool:
        mentions = self.world.scopes.mentions(node)
        if len(mentions) != 1:
            return False
        return decorates(self.world, module, next(iter(mentions)), "flow")

    def _flow(self, module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if node not in top_level(module.tree.body):
            self.world.report(
                "dynamic-tool",
                f"flow `{node.name}` is defined inside a function or a class",
                module,
                node,
                "define it at module level",
            )
            return
        static = Reader(self.world, self.summaries, Mode.IMPORT).evaluate(module, node, node.name)
        if not isinstance(static, Func) or not static.flow:
            self.world.report(
                "dynamic-tool",
                f"flow `{node.name}` cannot be followed: a decorator above `@flow` replaces it",
                module,
                node,
                "write `@flow` first",
            )
            return
        reader = Reader(
            self.world, self.summaries, Mode.FLOW, flow_async=static.is_async or isinstance(node, ast.AsyncFunctionDef)
        )
        self.graphs.append(reader.flow(static, node, module))
        self.called |= reader.called_flows

    def _native_bodies(self) -> None:
        for native in list(self.world.natives.values()):
            module = self.world.reach.modules.get(native.module)
            if module is not None and any(self._live_body(module, item) for item in native.node.body):
                Reader(self.world, self.summaries, Mode.TOOL).tool_body(module, native.node)

    def _live_body(self, module: Module, node: ast.stmt) -> bool:
        return any(
            target == ("keel", "keel") or self.world.reach.live(*target)
            for mention in self.world.scopes.mentions(node)
            for target in self.world.reach.resolve(module, mention)
        )

    def _duplicates(self) -> None:
        seen: dict[str, NativeTool] = {}
        for native in sorted(self.world.natives.values(), key=lambda item: (item.file, item.line)):
            first = seen.setdefault(native.key, native)
            if first is not native:
                self._twice(native.module, native.node, f"native tool `{native.key}`", f"{first.file}:{first.line}")
        flows: dict[str, FlowGraph] = {}
        for flow in self.graphs:
            other = flows.setdefault(flow.qualified, flow)
            if other is not flow:
                module = self.world.reach.modules[flow.module]
                node = next(
                    item for item in module.nodes()
                    if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.lineno == flow.line
                )  # fmt: skip
                self._twice(flow.module, node, f"flow `{flow.name}`", f"{other.file}:{other.line}")

    def _twice(self, module: str, node: ast.AST, what: str, where: str) -> None:
        self.world.report(
            "duplicate-name",
            f"{what} is defined already at {where}",
            self.world.reach.modules[module],
            node,
            "rename one of them",
        )

    def _not_covered(self) -> None:
        """Report flows in files that `flows` does not name."""
        for file in self.project.files():
            if file in self.files:
                continue
            try:
                text = self.project.sources.read(file)
            except (OSError, UnicodeError, SyntaxError):
                continue
            if "flow" not in text or "keel" not in text:
                continue
            module = self.project.parse(file)
            if module is None:
                continue
            for node in module.nodes():
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and self._is_flow(module, node):
                    self.world.report(
                        "flow-not-covered",
                        f"flow `{node.name}` is in no file that `flows` names",
                        module,
                        node,
                        f'add "{file}" to `flows`',
                    )

    def _finish(self, modules: list[Module]) -> Program:
        graphs = tuple(replace(flow, called=flow.qualified in self.called) for flow in self.graphs)
        found = [*self.project.findings, *self.world.found]
        lines = {module.file: tuple(module.lines()) for module in self.world.each_module()}
        del modules
        return Program(
            flows=tuple(sorted(graphs, key=lambda flow: (flow.file, flow.line))),
            native_tools=tuple(sorted(self.world.natives.values(), key=lambda item: (item.file, item.line))),
            references=tuple(
                sorted(self.world.references, key=lambda item: (item.file, item.line, item.column, item.key))
            ),
            agents=tuple(sorted(self.world.agents, key=lambda item: (item.file, item.line, item.column))),
            reasoners=tuple(sorted(self.world.reasoners, key=lambda item: (item.name, item.model))),
            reasoner_spans=dict(self.world.reasoners),
            findings=tuple(sorted(set(found), key=lambda item: item.sort_key)),
            flow_files=self.files,
            modules=tuple(sorted(lines)),
            unmatched=self.unmatched,
            lines=lines,
            world=self.world,
        )


def decorates(world: World, module: Module, mention: str, name: str) -> bool:
    """Tell whether a decorator written as `a` or `a.b` is one of keel's."""
    from keel.flow.values import Keel, KeelModule, ModuleObject  # noqa: PLC0415 - one use

    head, *rest = mention.split(".")
    found = world.symbol(module, head)
    for part in rest:
        if isinstance(found, KeelModule):
            found = world.keel(part)
        elif isinstance(found, ModuleObject):
            found = world.attribute(found.name, part)
        else:
            return False
    return not isinstance(found, Missing) and isinstance(found, Keel) and found.name == name
