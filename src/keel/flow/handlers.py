"""Reads `try` and `with`: which exceptions are caught, which leave, and what `finally` does with every way out."""

from __future__ import annotations

import ast
from typing import Any

from keel.core.graph import Kind, ValueKind
from keel.flow.build import Point
from keel.flow.classes import Classes
from keel.flow.expressions import describe
from keel.flow.knowledge import EXCEPTIONS
from keel.flow.state import BOTH, DENIED, ONLY_OTHER, OTHER, Kinds, Targets
from keel.flow.statements import READERS
from keel.flow.values import (
    AV,
    Awaitable,
    Class,
    External,
    Func,
    Generator,
    Instance,
    Items,
    Method,
    Static,
    TaskGroup,
)

Raised = list[tuple[Point, Kinds]]


class Handlers(Classes):
    """`try`, `with`, and what they let pass."""

    def try_(self, node: Any) -> None:
        """Read `try … except … else … finally`, and `except*`."""
        if not node.finalbody:
            self._guarded(node)
            return
        outer = self.targets
        with self.jumps(Targets([], [], [], self.raises())) as inner:
            self._guarded(node)
        normal = self.here
        raised = self.b.settle(inner.raises or [], self.span(node))
        returning = list(inner.returns)
        values = [value for _, value in returning]
        ways: list[tuple[Any, list[Point | None]]] = [
            (None, [normal]),
            (outer.breaks, list(inner.breaks)),
            (outer.continues, list(inner.continues)),
        ]
        after: Point | None = None
        for target, points in ways:
            self.here = self.join(list(points), node)
            if self.here is None:
                continue
            self.block(node.finalbody)
            if target is None:
                after = self.here
            elif self.here is not None:
                target.append(self.here)
        self._finally_return(node, returning, values, outer)
        self._finally_raise(node, raised, outer)
        self.here = after

    def _finally_return(self, node: Any, returning: list[tuple[Point, AV]], values: list[AV], outer: Targets) -> None:
        del values
        if not returning:
            return
        value = self.join_values([(point, held) for point, held in returning], node)
        if self.here is None:
            return
        self.temporary += 1
        key = (-1, f"#return{self.temporary}")
        self.here.bind(key, value)
        self.block(node.finalbody)
        if self.here is not None:
            outer.returns.append((self.here, self.here.env[key]))
            self.here = None

    def _finally_raise(self, node: Any, raised: Raised, outer: Targets) -> None:
        """Read `finally` on the way of an exception: unless it jumps itself, the exception goes on."""
        if not raised:
            return
        kinds = frozenset(kind for _, found in raised for kind in found)
        self.here = self.join([point for point, _ in raised], node)
        self.block(node.finalbody)
        if self.here is not None and outer.raises is not None:
            outer.raises.append((self.here, kinds))
        self.here = None

    def _guarded(self, node: Any) -> None:
        """Read `try … except … else`."""
        if not node.handlers:
            self.block(node.body)
            self.block(node.orelse) if self.here is not None else None
            return
        outer = self.targets
        with self.jumps(Targets(outer.returns, outer.breaks, outer.continues, self.raises())) as inner:
            self.block(node.body)
        ends: list[Point | None] = []
        if self.here is not None:
            self.block(node.orelse)
        ends.append(self.here)
        left = self.b.settle(inner.raises or [], self.span(node))
        for handler in node.handlers:
            caught, left = self.split(left, self._kinds_caught(handler.type))
            ends.append(self._handle(handler, caught))
        if outer.raises is not None:
            outer.raises.extend(left)
        self.here = self.join(ends, node)

    def split(self, raised: Raised, catches: dict[str, bool]) -> tuple[Raised, Raised]:
        """Divide exceptions into those a handler may catch and those that may pass it."""
        caught: Raised = []
        left: Raised = []
        for point, kinds in raised:
            inside = frozenset(kind for kind in kinds if kind in catches)
            outside = frozenset(kind for kind in kinds if not catches.get(kind, False))
            if inside:
                caught.append((point, inside))
            if outside:
                left.append((point.fork() if inside else point, outside))
        return caught, left

    def _handle(self, handler: ast.ExceptHandler, caught: Raised) -> Point | None:
        if not caught:
            return None
        kinds = frozenset(kind for _, found in caught for kind in found)
        self.here = self.join([point for point, _ in caught], handler)
        self.step(Kind.HANDLER, handler, text=self.text(handler, 80).partition(":")[0])
        key = self.key_of(handler.name) if handler.name else None
        before = self.handled.get(key) if key is not None else None
        if handler.name and key is not None:
            self.bind(handler.name, AV(None, self.b.outside("exception")), handler)
            self.handled[key] = kinds
        self.caught.append(kinds)
        self.block(handler.body)
        self.caught.pop()
        if key is not None:
            self.handled.pop(key, None)
            if before is not None:
                self.handled[key] = before
        return self.here

    def _kinds_caught(self, node: ast.expr | None) -> dict[str, bool]:
        """Return the kinds that `except <type>` may catch, and whether it catches each for certain."""
        if node is None:
            return {DENIED: True, OTHER: True}
        if isinstance(node, ast.Tuple):
            return self.union([self._kinds_caught(item) for item in node.elts])
        static = self._type_of(node)
        return self.kinds_of_type(static)

    def _type_of(self, node: ast.expr) -> Static | None:
        before, self.here = self.here, self.here or Point([], {})
        try:
            return self.expr(node).static if isinstance(node, ast.Name | ast.Attribute) else None
        finally:
            self.here = before

    def kinds_of_type(self, static: Static | None) -> dict[str, bool]:
        """Return the kinds that a class of exception may catch."""
        if isinstance(static, Items):
            return self.union([self.kinds_of_type(item.static) for item in static.elements])
        if isinstance(static, External):
            name = static.path
            if name in ("builtins.BaseException", "builtins.Exception", "keel.KeelError", "keel.errors.KeelError"):
                return {DENIED: True, OTHER: not name.startswith("keel")}
            if name in ("builtins.BaseExceptionGroup", "builtins.ExceptionGroup"):
                return {DENIED: False, OTHER: False}
            if name in ("keel.ApprovalDenied", "keel.errors.ApprovalDenied"):
                return {DENIED: True}
            return {OTHER: False}
        if isinstance(static, Class):
            return {OTHER: False}
        return {DENIED: False, OTHER: False}

    def union(self, parts: list[dict[str, bool]]) -> dict[str, bool]:
        """Return what several classes catch together."""
        found: dict[str, bool] = {}
        for part in parts:
            for kind, certain in part.items():
                found[kind] = found.get(kind, False) or certain
        return found

    # -- with -----------------------------------------------------------------------------------

    def with_(self, node: ast.With | ast.AsyncWith) -> None:
        """Read `with` and `async with`, one manager inside the other."""
        self._manage(node, list(node.items))

    def _manage(self, node: ast.With | ast.AsyncWith, items: list[ast.withitem]) -> None:
        if self.here is None:
            return
        if not items:
            self.block(node.body)
            return
        item = items[0]
        manager = self.expr(item.context_expr)
        static = manager.static
        if self.gone():
            return
        if isinstance(static, Generator) and static.context:
            self._with_generator(node, item, static, items[1:])
        elif isinstance(static, TaskGroup):
            self._with_group(node, item, static, items[1:])
        elif isinstance(static, Instance):
            self._with_instance(node, item, manager, static, items[1:])
        else:
            if self.is_live(manager):
                self.dynamic(item.context_expr, f"{describe(static)} is used as a context manager")
            self.may_raise(item.context_expr)
            if item.optional_vars is not None:
                # most managers give themselves; what they give is not known otherwise
                self.store(
                    item.optional_vars, AV(static if not manager.live else None, manager.value), item.context_expr
                )
            self._swallowing(self._swallows(item.context_expr, static), node, items[1:])

    def _swallowing(self, catches: dict[str, bool], node: Any, items: list[ast.withitem]) -> None:
        """Read the rest of a `with` whose manager swallows some exceptions."""
        if not catches:
            self._manage(node, items)
            return
        outer = self.targets
        with self.jumps(Targets(outer.returns, outer.breaks, outer.continues, self.raises())) as inner:
            self._manage(node, items)
        caught, left = self.split(self.b.settle(inner.raises or [], self.span(node)), catches)
        if outer.raises is not None:
            outer.raises.extend(left)
        self.here = self.join([self.here, *(point for point, _ in caught)], node)

    def _swallows(self, node: ast.expr, static: Static | None) -> dict[str, bool]:
        """Return the kinds of exception that a context manager may swallow."""
        if isinstance(node, ast.Call):
            func = self._type_of(node.func)
            if isinstance(func, External):
                return self._library_swallows(func.path, node)
            if isinstance(func, Class):
                return self.class_swallows(func)
            if isinstance(func, Func):
                return self.generator_swallows(func)
        if isinstance(static, Class):
            return self.class_swallows(static)
        return self.value_swallows(node)

    def value_swallows(self, node: ast.expr) -> dict[str, bool]:
        """Return what a manager held in a variable may swallow, by the class it was made of."""
        if isinstance(node, ast.Name):
            made = self.made_by(node.id)
            if isinstance(made, ast.Call):
                return self._swallows(made, None)
        return {}

    def _library_swallows(self, path: str, node: ast.Call) -> dict[str, bool]:
        name = path.rpartition(".")[2]
        if path in ("contextlib.suppress", "anyio.suppress", "trio.suppress"):
            return self.union([self._kinds_caught(item) for item in node.args])
        if path in ("contextlib.ExitStack", "contextlib.AsyncExitStack", "pytest.raises", "unittest.mock.patch"):
            return {DENIED: False, OTHER: False}
        if name in ("suppress", "ignored", "raises", "assertRaises", "move_on_after", "move_on_at", "CancelScope"):
            return {DENIED: False, OTHER: False}
        return {}

    def _with_group(self, node: Any, item: ast.withitem, group: TaskGroup, items: list[ast.withitem]) -> None:
        """Read `async with TaskGroup()`: at the end of the block every task has completed, or it raises."""
        if item.optional_vars is not None:
            self.store(item.optional_vars, AV(group, self.b.outside("task group")), item.context_expr)
        self._manage(node, items)
        if self.here is None:
            return
        for task in group.tasks:
            if self.here is None:
                return
            held = self.here.env.get(self.started_key(task))
            # started on some ways only: what it did may not have happened
            certain = held is not None and self.b.values[held.value].kind is ValueKind.OUTSIDE
            skipped = None if certain else self.here.fork()
            self.finish(task, node)
            self.here = self.join([skipped, self.here], node) if skipped is not None else self.here

    def started_key(self, task: Awaitable) -> tuple[int, str]:
        """Return the hidden variable that says on which ways a task was started."""
        return (-2, f"task {self.task_number(task)}")

    def task_number(self, task: Awaitable) -> int:
        """Return a number for a task, by the order in which tasks are met."""
        return self.task_numbers.setdefault(id(task), len(self.task_numbers))

    def finish(self, task: Awaitable, node: ast.AST) -> AV:
        """Read what a task did, where it is known to have completed."""
        raise NotImplementedError

    def _with_generator(self, node: Any, item: ast.withitem, manager: Generator, items: list[ast.withitem]) -> None:
        """Read `with` over a project generator that reaches a tool: the block runs where it yields."""
        frame, outer = self.frame, self.targets
        jumped = Targets([], [], [], None)

        def body(value: AV) -> None:
            inner = self.frame, self.targets
            self.frame = frame
            self.targets = Targets(jumped.returns, jumped.breaks, jumped.continues, self.targets.raises)
            if item.optional_vars is not None:
                self.store(item.optional_vars, value, item.context_expr)
            self._manage(node, items)
            self.frame, self.targets = inner

        manager.run(body)
        after = self.here
        # `return`, `break` and `continue` in the block let the generator run to its end first
        for place, target in ((jumped.breaks, outer.breaks), (jumped.continues, outer.continues)):
            for point in place:
                self.here = point
                self._rest(manager, point)
                if self.here is not None:
                    target.append(self.here)
        for point, value in jumped.returns:
            self._rest(manager, point)
            if self.here is not None:
                outer.returns.append((self.here, value))
        self.here = after

    def _rest(self, manager: Generator, point: Point) -> None:
        """Read what a generator does after its `yield`, from another way out of the block."""
        self.here = point
        reached = False

        def body(value: AV) -> None:
            nonlocal reached
            del value
            self.here = None if reached else point
            reached = True

        self.echo += 1
        manager.run(body)
        self.echo -= 1

    def _with_instance(  # noqa: C901, PLR0915 - one block for each way out
        self, node: Any, item: ast.withitem, manager: AV, static: Instance, items: list[ast.withitem]
    ) -> None:
        """Read `with` over an object of the project whose class reaches a tool."""
        is_async = isinstance(node, ast.AsyncWith)
        enter, leave = ("__aenter__", "__aexit__") if is_async else ("__enter__", "__exit__")
        entered = self.send(manager, enter, [], item.context_expr, is_async)
        if item.optional_vars is not None and self.here is not None:
            self.store(item.optional_vars, entered if entered is not None else manager, item.context_expr)
        swallowed = self.class_swallows(static.cls)
        outer = self.targets
        with self.jumps(Targets([], [], [], self.raises())) as inner:
            self._manage(node, items)
        none = AV(None, self.b.literal(None))
        normal = self.here
        if inner.returns:
            value = self.join_values(list(inner.returns), node)
            self.send(manager, leave, [none, none, none], item.context_expr, is_async)
            if self.here is not None:
                outer.returns.append((self.here, value))
        self.here = normal
        for points, target in ((inner.breaks, outer.breaks), (inner.continues, outer.continues)):
            if points:
                normal = self.here
                self.here = self.join(list(points), node)
                self.send(manager, leave, [none, none, none], item.context_expr, is_async)
                if self.here is not None:
                    target.append(self.here)
                self.here = normal
        if self.here is not None:
            self.send(manager, leave, [none, none, none], item.context_expr, is_async)
        normal = self.here
        raised = self.b.settle(inner.raises or [], self.span(node))
        self.here = self.join([point for point, _ in raised], node)
        if self.here is not None:
            unknown = AV(None, self.b.outside("exception"))
            self.send(manager, leave, [unknown, unknown, unknown], item.context_expr, is_async)
            if self.here is not None:
                kinds = frozenset(kind for _, found in raised for kind in found)
                caught, left = self.split([(self.here, kinds)], swallowed)
                if outer.raises is not None:
                    outer.raises.extend(left)
                self.here = self.join([normal, *(point for point, _ in caught)], node)
                return
        self.here = normal

    def send(self, receiver: AV, name: str, args: list[AV], node: ast.AST, is_async: bool) -> AV | None:  # noqa: FBT001
        """Call a method of an object by name, and await it in an `async with`."""
        static = receiver.static
        assert isinstance(static, Instance)
        method = self.method_of(static.cls, name)
        if method is None or self.here is None:
            return None
        value = self.invoke(method, [receiver, *args], node)
        return self.awaited(value, node) if is_async and self.here is not None else value


READERS[ast.Try] = Handlers.try_
if hasattr(ast, "TryStar"):
    READERS[ast.TryStar] = Handlers.try_
READERS[ast.With] = Handlers.with_
READERS[ast.AsyncWith] = Handlers.with_
_ = (BOTH, EXCEPTIONS, Method, ONLY_OTHER)
