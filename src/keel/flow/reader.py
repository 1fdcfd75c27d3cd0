"""Reads one flow, one native tool's body, or what a module does when it is imported."""

from __future__ import annotations

import ast
from typing import Any

from keel.core.graph import FlowGraph, Graph, Kind, Node, Value, ValueKind
from keel.flow.beside import settle
from keel.flow.build import Point
from keel.flow.concurrency import Concurrency
from keel.flow.modules import Module
from keel.flow.passing import Passed
from keel.flow.plain import Summaries
from keel.flow.scope import Frame, arguments
from keel.flow.state import Mode, TooLarge
from keel.flow.values import AV, Awaitable, Func, Static, Unclear
from keel.flow.world import Missing, World

TOO_DEEP = "it is nested too deep to be read"


class Reader(Concurrency):
    """The whole reader, entered from outside."""

    def __init__(self, world: World, summaries: Summaries, mode: Mode, *, flow_async: bool = False) -> None:
        super().__init__(world, mode, flow_async=flow_async)
        self.summaries = summaries

    def start(self, module: Module, node: ast.AST) -> None:
        """Begin at the top of a module."""
        self.frame = Frame(0, module, self.world.scopes.of(module.tree))
        self.here = Point([], {})
        self.step(Kind.ENTRY, node)
        if self.mode is Mode.FLOW:
            self._globals()

    def _globals(self) -> None:
        """Give the module-level names that some function rebinds a place of their own."""
        assert self.here is not None
        for name, variable in sorted(self.world.reach.globals):
            owner = self.world.reach.modules.get(name)
            found = self.world.symbol(owner, variable) if owner is not None else None
            if owner is None or isinstance(found, Missing):
                continue
            key = (0, f"{name}:{variable}")
            self.here.bind(key, AV(found, self.b.outside(f"{name}.{variable}")))
            self.volatile[key] = None

    def note_dead(self, first: int) -> None:
        """Report the steps that were read where control cannot come."""
        if self.mode is not Mode.FLOW:
            return
        for node in self.b.nodes[first:]:
            if node.kind in (Kind.CALL, Kind.GATE, Kind.THINK, Kind.AGENT) and not node.calls[len(self.calls) :]:
                self.world.found[unreachable(node)] = None

    # -- flows ----------------------------------------------------------------------------------

    def flow(self, func: Func, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> FlowGraph:
        """Read a flow with everything it calls."""
        parameters = [item.arg for item in arguments(node.args)]
        try:
            self._flow(func, node, module)
            settle(self.b, self.besides)
            graph = self.b.graph()
        except TooLarge:
            self.world.report(
                "dynamic-tool",
                f"flow `{node.name}` expands to more steps through its helpers than can be judged",
                module,
                node,
                "split the flow, or call helpers in loops instead of one after the other",
            )
            graph = Graph()
        except RecursionError:
            self.world.report(
                "syntax-error", f"flow `{node.name}` cannot be read: {TOO_DEEP}", module, node, "split the function"
            )
            graph = Graph()
        span = self.world.span(module, node)
        return FlowGraph(
            node.name, module.name, module.file, span.line, func.entry, self.flow_async, tuple(parameters), graph,
            column=span.column,
        )  # fmt: skip

    def _flow(self, func: Func, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> None:
        self.start(module, node)
        passed: list[Passed] = []
        for item in arguments(node.args):
            value = AV(None, self.b.value(Value(ValueKind.PARAMETER, name=item.arg)))
            star = "*" if item is node.args.vararg else "**" if item is node.args.kwarg else ""
            name = "" if star or item in node.args.posonlyargs else item.arg
            passed.append(Passed(value, name, item.arg, star))
        passed.sort(key=lambda item: bool(item.name))
        result = self._enter(func, passed, node)
        if self.here is not None and isinstance(result.static, Awaitable) and result.static.what.startswith("`"):
            # a decorator's wrapper that hands on the coroutine of the function below it
            result = (
                self.awaited(result, node) if result.static.calls == () and self._is_wrapper(func, node) else result
            )
        if self.here is not None:
            if self.is_live(result) and not isinstance(result.static, Awaitable):
                self.dynamic(node, f"flow `{node.name}` returns something from which a tool is reachable")
            self.step(Kind.RETURN, node, value=result.value)
        self._not_awaited()

    def _is_wrapper(self, func: Func, node: ast.AST) -> bool:
        return func.node is not node

    def _not_awaited(self) -> None:
        for item in self.awaitables:
            if not item.used:
                self.world.report(
                    "not-awaited",
                    f"the call of {item.what} is neither awaited nor handed to an understood wrapper",
                    item.module,
                    item.at,
                    "write `await` before the call",
                )

    # -- modules --------------------------------------------------------------------------------

    def evaluate(self, module: Module, statement: ast.stmt, name: str) -> Static | None:
        """Read one module-level statement and return what a name is after it."""
        self.start(module, statement)
        try:
            self._binding(statement)
        except (RecursionError, TooLarge):
            self.world.report(
                "syntax-error", f"`{name}` cannot be read: {TOO_DEEP}", module, statement, "split the expression"
            )
            return Unclear("it could not be read")
        held = self.here.env.get((0, f"{module.name}:{name}")) if self.here is not None else None
        return held.static if held is not None else None

    def _binding(self, statement: ast.stmt) -> None:
        """Read what a statement itself binds; the blocks of a compound one are read on their own."""
        if isinstance(statement, ast.For | ast.AsyncFor):
            source = self.expr(statement.iter)
            self.store(
                statement.target,
                AV(Unclear("it is taken out of a container") if source.live else None, source.value),
                statement,
            )
        elif isinstance(statement, ast.With | ast.AsyncWith):
            for item in statement.items:
                value = self.expr(item.context_expr)
                if item.optional_vars is not None:
                    self.store(item.optional_vars, value, statement)
        elif isinstance(statement, ast.If | ast.While):
            self.expr(statement.test)
        else:
            self.statement(statement)

    def imported(self, module: Module) -> None:
        """Read what a module does when it is imported: it may call no tool."""
        self.start(module, module.tree)
        try:
            self.block(module.tree.body)
        except (RecursionError, TooLarge):
            self.world.report(
                "syntax-error", f"`{module.file}` cannot be read: {TOO_DEEP}", module, module.tree, "split the module"
            )

    def tool_body(self, module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Read the body of a native tool: it may call no other tool."""
        self.start(module, node)
        func = Func(node, module, node.name, None, live=True)
        passed = [
            Passed(AV(None, self.b.value(Value(ValueKind.PARAMETER, name=item.arg))), item.arg)
            for item in arguments(node.args)
            if item not in (node.args.vararg, node.args.kwarg)
        ]
        try:
            self._enter(func, passed, node)
        except (RecursionError, TooLarge):
            self.world.report(
                "syntax-error", f"tool `{node.name}` cannot be read: {TOO_DEEP}", module, node, "split the function"
            )


def unreachable(node: Node) -> Any:
    """Return the finding for a step that can never run."""
    from keel.core.finding import Location, finding  # noqa: PLC0415 - one use

    what = {Kind.GATE: "`human_gate`", Kind.CALL: f"the call of `{node.key}`"}.get(
        node.kind, f"the call of `{node.key}`"
    )
    place = Location(node.span.file, node.span.line, node.span.column, node.key)
    return finding("unreachable-step", f"{what} can never run", location=place)
