"""What one reading of a project shares: its modules, what module-level names mean, tools found, findings."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from keel.core.finding import Finding, PathStep, finding
from keel.core.graph import Span
from keel.core.text import did_you_mean
from keel.flow.modules import Module, Project, bound_names, column_of, location, top_level
from keel.flow.reach import LIVE_NAMES, PLAIN_NAMES, Reach, absolute
from keel.flow.scope import Scopes
from keel.flow.values import (
    AgentDef,
    Const,
    External,
    Keel,
    KeelModule,
    ModuleObject,
    NativeTool,
    ReasonerDef,
    Static,
    Unclear,
    merged,
)


class Missing:
    """A name that a module does not define."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Reference:
    """An `mcp_tool(server, tool)` of the project."""

    server: str
    tool: str
    file: str
    line: int
    column: int = 1

    @property
    def key(self) -> str:
        """The tool key."""
        return f"{self.server}/{self.tool}"


@dataclass(eq=False)
class World:
    """Shared state of one reading."""

    project: Project
    scopes: Scopes = field(default_factory=Scopes)
    natives: dict[tuple[str, str], NativeTool] = field(default_factory=dict)
    """By (module, qualified name)."""
    references: dict[Reference, None] = field(default_factory=dict)
    agents: dict[AgentDef, None] = field(default_factory=dict)
    reasoners: dict[ReasonerDef, Span] = field(default_factory=dict)
    found: dict[Finding, None] = field(default_factory=dict)
    evaluate: Callable[[Module, ast.stmt, str], Static | None] | None = None
    """Reads one module-level statement and returns what a name is after it."""
    frames: int = 0
    replaced: set[tuple[str, str]] = field(default_factory=set)
    """Names of modules that some code replaces at run time."""
    _symbols: dict[tuple[str, str], Static | Missing | None] = field(default_factory=dict)
    _busy: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.reach = Reach(self.project, self.scopes)

    def report(
        self, code: str, message: str, module: Module, node: ast.AST, next_: str = "", path: tuple[PathStep, ...] = ()
    ) -> None:
        """Add a finding at a syntax node."""
        self.found[finding(code, message, location=location(module, node), next=next_, path=path)] = None

    def span(self, module: Module, node: ast.AST) -> Span:
        """Return the place of a syntax node."""
        line = getattr(node, "lineno", 1)
        return Span(module.file, line, column_of(module, node), getattr(node, "end_lineno", line) or line)

    def new_frame(self) -> int:
        """Return a number for a frame that no other has."""
        self.frames += 1
        return self.frames

    def symbol(self, module: Module, name: str) -> Static | Missing | None:
        """Return what a module-level name means, `MISSING` if the module does not define it."""
        key = (module.name, name)
        if key in self.replaced and self.reach.live(*key):
            return Unclear(f"`{name}` is replaced at run time")
        if key in self._symbols:
            return self._symbols[key]
        if key in self._busy:
            return Unclear(f"`{name}` is defined through itself") if self.reach.live(*key) else None
        self._busy.add(key)
        try:
            found = self._symbol(module, name)
        finally:
            self._busy.discard(key)
        self._symbols[key] = found
        return found

    def _symbol(self, module: Module, name: str) -> Static | Missing | None:
        statements = list(self._binders(module, name))
        if not statements:
            return self._starred(module, name)
        assert self.evaluate is not None
        found = merged([self.evaluate(module, statement, name) for statement in statements])
        if (module.name, name) in self.reach.globals and (found is None or isinstance(found, Const) or found.live):
            return Unclear(f"`{name}` is rebound by a function") if found is not None and found.live else None
        return found

    def _binders(self, module: Module, name: str) -> list[ast.stmt]:
        """Return the statements that may have bound a name last: an unconditional one hides those before it."""
        if module.bindings.get(name, 0) <= 1:
            statement = module.symbols.get(name)
            return [statement] if isinstance(statement, ast.stmt) else []
        found: list[ast.stmt] = []
        for outer in module.tree.body:
            inner = [item for item in top_level([outer]) if name in bound_names(item)]
            if inner and inner[0] is outer:
                found = [outer, *inner[1:]] if isinstance(outer, ast.For | ast.With | ast.While) else [outer]
            else:
                found.extend(inner)
        return found

    def _starred(self, module: Module, name: str) -> Static | Missing | None:
        for star in reversed(module.stars):
            base = absolute(module, star)
            if base == "keel" and name in LIVE_NAMES | PLAIN_NAMES:
                return self.keel(name)
            source = self.reach.modules.get(base) or self.project.module(base)
            if source is not None and source is not module and not name.startswith("_"):
                found = self.symbol(source, name)
                if not isinstance(found, Missing):
                    return found
        opaque = [star for star in module.stars if self._opaque(absolute(module, star))]
        return External(f"{absolute(module, opaque[-1])}.{name}") if opaque else MISSING

    def _opaque(self, base: str) -> bool:
        return (
            base.partition(".")[0] != "keel"
            and self.project.file_of(base) is None
            and not self.project.is_namespace(base)
        )

    def keel(self, name: str) -> Static:
        """Return one of keel's names."""
        return Keel(name) if name in LIVE_NAMES else External(f"keel.{name}")

    def imported(self, module: Module, name: str, node: ast.AST) -> Static | None:
        """Return what `import name` gives for a whole dotted name."""
        root = name.partition(".")[0]
        if root == "keel":
            return KeelModule() if name == "keel" else External(name)
        if self.project.file_of(name) is not None or self.project.is_namespace(name):
            return ModuleObject(name, live=self.reach.module_live(name) or self._packages_live(name))
        self._check_outside(module, name, node)
        return External(name)

    def _packages_live(self, name: str) -> bool:
        return any(other.startswith(f"{name}.") and self.reach.module_live(other) for other in self.reach.modules)

    def _check_outside(self, module: Module, name: str, node: ast.AST) -> None:
        """Report a module that is in the repository, but that no source root leads to."""
        root = name.partition(".")[0]
        if self.project.file_of(root) is not None or self.project.is_namespace(root):
            self.report(
                "unresolved-name",
                f"the project has no module `{name}`",
                module,
                node,
                "correct the import, or add the folder that holds the module to `source-roots`",
            )
            return
        where = self.project.outside_roots(name)
        if where is not None and not name.startswith("keel"):
            self.report(
                "unresolved-name",
                f"module `{name}` is in the repository (`{where}`), but in no source root",
                module,
                node,
                "add its folder to `source-roots` in the project configuration",
            )

    def import_from(  # noqa: PLR0911 - one line for each kind of origin
        self, module: Module, statement: ast.ImportFrom, name: str
    ) -> Static | None:
        """Return what `from base import name` gives."""
        base = absolute(module, statement)
        if base == "keel":
            if name not in LIVE_NAMES | PLAIN_NAMES:
                return External(f"keel.{name}")
            return self.keel(name)
        whole = f"{base}.{name}" if base else name
        source = self.project.module(base) if base else None
        if source is not None:
            found = self.symbol(source, name)
            if not isinstance(found, Missing):
                return found
        if self.project.file_of(whole) is not None or self.project.is_namespace(whole):
            return ModuleObject(whole, live=self.reach.module_live(whole) or self._packages_live(whole))
        if source is not None:
            if "__getattr__" in source.symbols:
                return None
            hint = did_you_mean(name, [item for item in source.symbols if not item.startswith("_")])
            self.report(
                "unresolved-name",
                f"`{source.file}` defines no `{name}`",
                module,
                statement,
                hint or "correct the import",
            )
            return None
        if self.project.file_of(base) is not None:
            return Unclear(f"`{base}` could not be parsed")
        if statement.level or self.project.is_namespace(base):
            self.report(
                "unresolved-name", f"the project has no module `{whole}`", module, statement, "correct the import"
            )
            return None
        self._check_outside(module, base, statement)
        return External(whole)

    def attribute(self, name: str, attribute: str) -> Static | Missing | None:
        """Return what `module.attribute` means for a module of the project."""
        module = self.project.module(name)
        if module is not None:
            found = self.symbol(module, attribute)
            if not isinstance(found, Missing):
                return found
        whole = f"{name}.{attribute}"
        if self.project.file_of(whole) is not None or self.project.is_namespace(whole):
            return ModuleObject(whole, live=self.reach.module_live(whole) or self._packages_live(whole))
        if module is None or "__getattr__" in module.symbols or attribute.startswith("__"):
            return None
        return MISSING

    def type_parameters(self, module: Module) -> frozenset[str]:
        """Return the names of every type parameter in a module (PEP 695), wherever it is in scope."""
        return frozenset(item.name for node in module.nodes() for item in getattr(node, "type_params", ()))

    def each_module(self) -> Iterator[Module]:
        """Yield the modules reachable from the flow modules, by name."""
        for name in sorted(self.reach.modules):
            yield self.reach.modules[name]
