"""From which module-level names a tool, an agent or a gate can be reached, by who mentions whom."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator

from keel.flow.modules import Module, Project, bound_names, top_level
from keel.flow.scope import Scopes

KEEL = "keel"
LIVE_NAMES = frozenset(
    {
        "Agent",
        "Approval",
        "Reasoner",
        "flow",
        "gated",
        "hedge",
        "human_gate",
        "mcp_tool",
        "quorum",
        "race",
        "think",
        "tool",
    }
)
"""Names of keel that make what mentions them part of a flow."""
PLAIN_NAMES = frozenset({"ApprovalDenied", "NoRuntime", "ToolCallError", "KeelError", "__version__"})

Symbol = tuple[str, str]


def absolute(module: Module, statement: ast.ImportFrom) -> str:
    """Return the module that `from … import` names, relative imports resolved (PEP 328)."""
    if not statement.level:
        return statement.module or ""
    parts = module.package.split(".") if module.package else []
    keep = len(parts) - (statement.level - 1)
    base = parts[: max(keep, 0)]
    return ".".join([*base, statement.module] if statement.module else base)


class Reach:
    """The modules reachable from the flow modules, and the live names in them."""

    def __init__(self, project: Project, scopes: Scopes) -> None:
        self.project = project
        self.scopes = scopes
        self.modules: dict[str, Module] = {}
        self.globals: set[Symbol] = set()
        """Module-level names that some function rebinds."""
        self._live: set[Symbol] = set()

    def follow(self, modules: list[Module]) -> None:
        """Collect every project module that these import, and decide which names are live."""
        queue = deque(modules)
        self.modules.update((module.name, module) for module in modules)
        while queue:
            module = queue.popleft()
            for name in sorted(self._imports(module)):
                for part in _prefixes(name):
                    found = None if part in self.modules else self.project.module(part)
                    if found is not None:
                        self.modules[part] = found
                        queue.append(found)
        self._decide()

    def live(self, module: str, name: str) -> bool:
        """Tell whether a tool can be reached through a module-level name."""
        return (module, name) in self._live

    def module_live(self, module: str) -> bool:
        """Tell whether any name of a module is live."""
        found = self.modules.get(module)
        return found is not None and any((module, name) in self._live for name in self._names(found))

    def _names(self, module: Module) -> Iterator[str]:
        yield from module.symbols
        for star in module.stars:
            source = self.modules.get(absolute(module, star))
            if source is not None and source is not module:
                yield from source.symbols

    def _imports(self, module: Module) -> set[str]:
        found: set[str] = set()
        for node in module.nodes():
            if isinstance(node, ast.Import):
                found.update(item.name for item in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = absolute(module, node)
                found.add(base)
                found.update(f"{base}.{item.name}" for item in node.names if base)
            elif isinstance(node, ast.Global):
                self.globals.update((module.name, name) for name in node.names)
        return found

    def _decide(self) -> None:
        users: dict[Symbol, list[Symbol]] = {}
        queue: deque[Symbol] = deque()
        for module in self.modules.values():
            for name, statement in _statements(module):
                symbol = (module.name, name)
                for target in self._targets(module, statement):
                    if target == (KEEL, KEEL):
                        if symbol not in self._live:
                            self._live.add(symbol)
                            queue.append(symbol)
                    else:
                        users.setdefault(target, []).append(symbol)
        while queue:
            current = queue.popleft()
            for user in (*users.get(current, ()), *users.get((current[0], "*"), ())):
                if user not in self._live:
                    self._live.add(user)
                    queue.append(user)

    def _targets(self, module: Module, statement: ast.stmt) -> Iterator[Symbol]:
        if isinstance(statement, ast.ImportFrom):
            yield from self._import_from(module, statement)
            return
        if isinstance(statement, ast.Import):
            for item in statement.names:
                yield from self._whole(item.name if item.asname else item.name.partition(".")[0])
            return
        for mention in self.scopes.mentions(statement):
            yield from self.resolve(module, mention)

    def resolve(self, module: Module, mention: str) -> Iterator[Symbol]:
        """Yield the symbols that a mention `a` or `a.b.c` in a module may mean."""
        head, _, rest = mention.partition(".")
        statement = module.symbols.get(head)
        if isinstance(statement, ast.Import):
            yield from self._through_import(statement, head, rest)
        elif isinstance(statement, ast.ImportFrom):
            base = absolute(module, statement)
            for item in statement.names:
                if (item.asname or item.name) == head:
                    yield from self._attribute(f"{base}.{item.name}" if base else item.name, rest)
            yield (module.name, head)
        elif statement is not None:
            yield (module.name, head)
        for star in module.stars if statement is None else ():
            base = absolute(module, star)
            if base == KEEL and head in LIVE_NAMES:
                yield (KEEL, KEEL)
            yield (base, head)

    def _through_import(self, statement: ast.Import, head: str, rest: str) -> Iterator[Symbol]:
        for item in statement.names:
            if item.asname == head:
                yield from self._attribute(item.name, rest)
            elif item.asname is None and item.name.partition(".")[0] == head:
                yield from self._attribute(head, rest)

    def _attribute(self, base: str, rest: str) -> Iterator[Symbol]:
        """Yield what `base.rest` means: the longest module prefix, then a name in it."""
        parts = rest.split(".") if rest else []
        name = base
        while parts and f"{name}.{parts[0]}" in self.modules:
            name = f"{name}.{parts.pop(0)}"
        if name.partition(".")[0] == KEEL:
            yield from self._keel(name, parts[0] if parts else "")
        elif name in self.modules:
            yield (name, parts[0] if parts else "*")
        else:
            head, _, tail = name.rpartition(".")
            if head.partition(".")[0] == KEEL:
                yield from self._keel(head, tail)
            elif head:
                yield (head, tail)

    def _keel(self, module: str, name: str) -> Iterator[Symbol]:
        if not (module == KEEL and name in PLAIN_NAMES) and module != "keel.errors":
            yield (KEEL, KEEL)

    def _import_from(self, module: Module, statement: ast.ImportFrom) -> Iterator[Symbol]:
        base = absolute(module, statement)
        for item in statement.names:
            if item.name != "*":
                yield from self._attribute(f"{base}.{item.name}" if base else item.name, "")

    def _whole(self, name: str) -> Iterator[Symbol]:
        if name.partition(".")[0] == KEEL:
            yield (KEEL, KEEL)
        elif name in self.modules:
            yield (name, "*")


def _prefixes(name: str) -> Iterator[str]:
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])


def _statements(module: Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield (name, statement) for every binding at module level, not only the last one."""
    for statement in top_level(module.tree.body):
        for name in bound_names(statement):
            yield name, statement
