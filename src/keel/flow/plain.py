"""Summaries of project functions that reach no tool: what they change, whether they bring fresh data, their I/O."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from keel.flow import knowledge
from keel.flow.changing import IN_PLACE, scalar
from keel.flow.modules import Module, children, flat
from keel.flow.scope import Function, arguments, dotted
from keel.flow.values import Class, External, Func, ModuleObject, Static
from keel.flow.world import Missing, World


@dataclass(slots=True)
class Summary:
    """What calling a plain function does."""

    changes: set[str] = field(default_factory=set)
    """Parameters, and free names as `module:name`, whose object it may change in place."""
    fresh: bool = False
    """Whether the result depends on more than the arguments."""
    gives: bool = False
    """Whether the result may be, or hold, an object that it was given."""
    outside: dict[tuple[str, int, int], tuple[Module, ast.AST]] = field(default_factory=dict)
    """I/O it does, by (dotted name, line, column)."""


class Summaries:
    """Summaries by function, computed once; functions that call each other are settled together."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._settled: dict[ast.AST, Summary] = {}
        self._methods: dict[str, list[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]] | None = None

    def of(self, node: Function, module: Module) -> Summary:
        """Return the summary of a function."""
        if node not in self._settled:
            self._settle(node, module)
        return self._settled[node]

    @cached_property
    def stored(self) -> frozenset[str]:
        """Names of attributes that some code stores in something other than its own object."""
        found: set[str] = set()
        for module in self.world.each_module():
            for item in module.nodes():
                if isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store | ast.Del):
                    own = isinstance(item.value, ast.Name) and item.value.id == "self"
                    found.update(() if own else (item.attr,))
                elif isinstance(item, ast.Call) and dotted(item.func) in ("setattr", "builtins.setattr"):
                    found.update(
                        word.value for word in item.args[1:2]
                        if isinstance(word, ast.Constant) and isinstance(word.value, str)
                    )  # fmt: skip
        return frozenset(found)

    def methods(self, name: str) -> list[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Return the methods of that name in the project's classes."""
        if self._methods is None:
            self._methods = {}
            for module in self.world.each_module():
                for item in module.tree.body:
                    if isinstance(item, ast.ClassDef):
                        for inner in item.body:
                            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                                self._methods.setdefault(inner.name, []).append((module, inner))
        return self._methods.get(name, [])

    def _settle(self, node: Function, module: Module) -> None:
        """Compute direct effects of everything reachable, then carry effects back along the calls."""
        found: dict[ast.AST, Summary] = {}
        pending: list[tuple[Function, Module]] = [(node, module)]
        users: dict[ast.AST, list[tuple[ast.AST, dict[str, set[str]]]]] = {}
        while pending:
            current, home = pending.pop()
            if current in found or current in self._settled:
                continue
            scan = _Scan(self, current, home)
            found[current] = scan.summary
            for callee, where, reaching in scan.callees:
                users.setdefault(callee, []).append((current, reaching))
                pending.append((callee, where))
        for known, callers in users.items():
            if known in self._settled:
                self._carry(self._settled[known], callers, found)
        # callees are found after their callers: from the end, most effects arrive before they are carried on
        queue = dict.fromkeys(found)
        while queue:
            changed, _ = queue.popitem()
            queue.update(dict.fromkeys(self._carry(found[changed], users.get(changed, []), found)))
        self._settled.update(found)

    def _carry(
        self, inner: Summary, users: list[tuple[ast.AST, dict[str, set[str]]]], found: dict[ast.AST, Summary]
    ) -> list[ast.AST]:
        """Carry the effects of a function to those that call it; returns the ones that they are new to."""
        free = {name for name in inner.changes if ":" in name}
        own = inner.changes - free
        grown: list[ast.AST] = []
        for user, reaching in users:
            summary = found[user]
            before = (len(summary.changes), summary.fresh, len(summary.outside))
            summary.fresh = summary.fresh or inner.fresh
            summary.outside.update(inner.outside)
            summary.changes |= free
            for parameter in own:
                summary.changes |= reaching.get(parameter, set())
            if (len(summary.changes), summary.fresh, len(summary.outside)) != before:
                grown.append(user)
        return grown


class _Scan:
    """One pass over one function's own code."""

    def __init__(self, summaries: Summaries, node: Function, module: Module) -> None:
        self.summaries = summaries
        self.world = summaries.world
        self.module = module
        self.node = node
        self.summary = Summary()
        self.callees: list[tuple[Function, Module, dict[str, set[str]]]] = []
        self.flat = flat(node)
        self.parameters = {item.arg for item in arguments(node.args)}
        self.scope = self.world.scopes.of(node)
        self.origins = self._origins()
        for item in self.flat:
            if item is not node:
                self._look(item)
        given = (
            [node.body]
            if isinstance(node, ast.Lambda)
            else [item.value for item in self.flat if isinstance(item, ast.Return | ast.Yield | ast.YieldFrom)]
        )
        returns = None if isinstance(node, ast.Lambda) else node.returns
        self.summary.gives = not scalar(returns) and any(self._roots(item, self.origins) for item in given)
        if self.scope.globals or self.scope.nonlocals:
            self.summary.fresh = True

    def _origins(self) -> dict[str, set[str]]:
        """Return for each name the parameters and free names whose object it may hold or share."""
        origins = {name: {name} for name in self.parameters}
        for item in self.flat:
            if isinstance(item, ast.Name) and item.id not in self.scope.locals:
                origins.setdefault(item.id, {f"{self.module.name}:{item.id}"})
        inner = {item.arg for item in self.flat if isinstance(item, ast.arg)} - self.parameters
        for name in inner:
            # a function inside may be handed anything that is at hand here
            origins[name] = set().union(*origins.values())
        links = [link for item in self.flat for link in _links(item)]
        grown = True
        while grown:
            grown = False
            for target, source in links:
                held = origins.setdefault(target, set())
                before = len(held)
                held |= self._roots(source, origins)
                grown = grown or len(held) != before
        return origins

    def _roots(self, node: ast.AST | None, origins: dict[str, set[str]]) -> set[str]:
        """Return the parameters and free names whose object an expression may give, hold, or be a part of."""
        found: set[str] = set()
        stack: list[ast.AST | None] = [node]
        while stack:
            item = stack.pop()
            if isinstance(item, ast.Name):
                found |= origins.get(item.id, set())
            elif isinstance(item, ast.Call):
                stack.extend(self._given(item))
            elif isinstance(item, ast.JoinedStr | ast.Constant | ast.Compare) or item is None:
                continue
            elif isinstance(item, ast.Subscript | ast.Attribute):
                stack.append(item.value)
            elif isinstance(item, ast.IfExp):
                stack.extend([item.body, item.orelse])
            elif isinstance(item, ast.comprehension):
                stack.append(item.iter)
            else:
                stack.extend(children(item))
        return found

    def _given(self, node: ast.Call) -> list[ast.AST]:
        """Return what the result of a call may share: everything that it was given, unless it is a plain copy."""
        static = self._meaning(node.func)
        if isinstance(static, External) and static.path in _NEW:
            return []
        given: list[ast.AST] = [*node.args, *(word.value for word in node.keywords)]
        return [node.func.value, *given] if isinstance(node.func, ast.Attribute) else [node.func, *given]

    def _look(self, item: ast.AST) -> None:
        if isinstance(item, ast.Attribute | ast.Subscript) and isinstance(item.ctx, ast.Store | ast.Del):
            self.summary.changes |= self._roots(item.value, self.origins)
        elif isinstance(item, ast.Attribute) and item.attr in knowledge.MUTATORS:
            # whether it is called here, held under a name or handed on
            self.summary.changes |= self._roots(item.value, self.origins)
        elif isinstance(item, ast.AugAssign) and isinstance(item.target, ast.Name):
            self.summary.changes |= self._aug(item.target, item)
        elif isinstance(item, ast.Call):
            self._call(item)
        elif isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load):
            self._global_read(item.id)

    def _aug(self, target: ast.Name, item: ast.AugAssign) -> set[str]:
        """`x += y` changes a container in place and makes a new number; what says that it is a number is believed."""
        number = isinstance(item.value, ast.Constant) and isinstance(item.value.value, int | float)
        if not isinstance(item.op, IN_PLACE) or (number and not isinstance(item.op, ast.Mult)):
            return set()
        annotation = next((arg.annotation for arg in arguments(self.node.args) if arg.arg == target.id), None)
        return set() if scalar(annotation) else self.origins.get(target.id, set())

    def _global_read(self, name: str) -> None:
        if name not in self.scope.locals and (self.module.name, name) in self.world.reach.globals:
            self.summary.fresh = True

    def _meaning(self, node: ast.expr) -> Static | None:
        chain = dotted(node)
        if chain is None:
            return None
        head, *rest = chain.split(".")
        if head in self.scope.locals:
            return None
        found = self.world.symbol(self.module, head)
        if isinstance(found, Missing):
            return External(f"builtins.{chain}") if head in knowledge.BUILTINS else None
        for part in rest:
            if isinstance(found, External):
                found = External(f"{found.path}.{part}")
            elif isinstance(found, ModuleObject):
                inner = self.world.attribute(found.name, part)
                found = None if isinstance(inner, Missing) else inner
            else:
                return None
        return found

    def _call(self, node: ast.Call) -> None:
        static = self._meaning(node.func)
        if isinstance(static, External):
            self._external(static.path, node)
        elif isinstance(static, Func):
            self._project(static.node, static.module, node, [])
        elif isinstance(static, Class):
            for item in static.node.body:
                if isinstance(item, ast.FunctionDef) and item.name in ("__init__", "__post_init__"):
                    self._project(item, static.module, node, [set()])
        elif isinstance(node.func, ast.Attribute):
            self._method(node.func, node)
        else:
            self._unknown(node)

    def _unknown(self, node: ast.Call) -> None:
        """Call something that was handed over or made here: it may change what it holds and what it is given."""
        self.summary.fresh = True
        for item in (node.func, *node.args, *(word.value for word in node.keywords)):
            self.summary.changes |= self._roots(item, self.origins)

    def _external(self, path: str, node: ast.Call) -> None:
        if knowledge.is_outside_io(path):
            self.summary.outside[(path, node.lineno, node.col_offset)] = (self.module, node)
        if path in knowledge.MUTATING_CALLS and node.args:
            self.summary.changes |= self._roots(node.args[0], self.origins)
        if not knowledge.is_pure(path) and not knowledge.is_silent(path):
            self.summary.fresh = True

    def _method(self, func: ast.Attribute, node: ast.Call) -> None:
        name = func.attr
        base = self._roots(func.value, self.origins)
        if name in knowledge.MUTATORS:
            self.summary.changes |= base
        if name in knowledge.PURE_METHODS or name in knowledge.MUTATORS:
            return
        known = self.summaries.methods(name)
        for module, method in known:
            self._project(method, module, node, [base])
        if not known:
            self.summary.fresh = True

    def _project(self, target: Function, module: Module, node: ast.Call, first: list[set[str]]) -> None:
        names = [item.arg for item in (*target.args.posonlyargs, *target.args.args)]
        given = [*first, *(self._roots(item, self.origins) for item in node.args)]
        reaching = dict(zip(names, given, strict=False))
        rest = set().union(*given[len(names) :]) if len(given) > len(names) else set()
        if target.args.vararg is not None:
            reaching[target.args.vararg.arg] = rest
        if any(isinstance(item, ast.Starred) for item in node.args):
            everything = set().union(*given)
            reaching = {item.arg: everything for item in arguments(target.args)}
        for word in node.keywords:
            roots = self._roots(word.value, self.origins)
            if word.arg is not None and target.args.kwarg is None:
                reaching[word.arg] = reaching.get(word.arg, set()) | roots
                continue
            for item in arguments(target.args):
                reaching[item.arg] = reaching.get(item.arg, set()) | roots
        self.callees.append((target, module, reaching))


def _links(item: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield (name, expression): the object under a name may be, or hold, what the expression gives."""
    if isinstance(item, ast.Assign):
        for target in item.targets:
            yield from ((name, item.value) for name in _holders(target))
    elif isinstance(item, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        if item.value is not None:
            yield from ((name, item.value) for name in _holders(item.target))
    elif isinstance(item, ast.For | ast.AsyncFor | ast.comprehension):
        yield from ((name, item.iter) for name in _holders(item.target))
    elif isinstance(item, ast.withitem) and item.optional_vars is not None:
        yield from ((name, item.context_expr) for name in _holders(item.optional_vars))
    elif isinstance(item, ast.Match):
        for case in item.cases:
            yield from ((name, item.subject) for deep in flat(case.pattern) for name in _captures(deep))
    elif isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute) and item.func.attr in knowledge.MUTATORS:
        given = (*item.args, *(word.value for word in item.keywords))
        yield from ((name, value) for name in _holders(item.func.value) for value in given)


def _holders(target: ast.AST) -> Iterator[str]:
    """Yield the names that a target binds, or whose object it writes into."""
    if isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            yield from _holders(item)
        return
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id


def _captures(pattern: ast.AST) -> Iterator[str]:
    name = pattern.rest if isinstance(pattern, ast.MatchMapping) else getattr(pattern, "name", None)
    if isinstance(name, str):
        yield name


_NEW = frozenset(
    f"builtins.{name}"
    for name in (
        "str", "repr", "ascii", "format", "len", "int", "float", "bool", "hash", "ord", "chr", "abs", "round",
        "isinstance", "issubclass", "hasattr", "callable", "bytes", "any", "all", "print", "hex", "oct", "bin",
        "list", "dict", "set", "frozenset", "tuple", "sorted", "sum", "range", "id",
    )
)  # fmt: skip
"""Builtins whose result is a new object: changing it changes no argument, though elements may be shared."""
