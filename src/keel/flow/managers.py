"""Reads `with`: what managers do at both ends of a block, and which exceptions they swallow."""

from __future__ import annotations

import ast
from typing import Any

from keel.core.graph import ValueKind
from keel.flow.build import Point
from keel.flow.describe import describe
from keel.flow.handlers import Handlers
from keel.flow.state import DENIED, ONLY_OTHER, OTHER, Targets
from keel.flow.statements import READERS
from keel.flow.values import (
    AV,
    Awaitable,
    Class,
    External,
    Func,
    Generator,
    Instance,
    Static,
    TaskGroup,
)


class Managers(Handlers):
    """Context managers."""

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
        """Read `async with TaskGroup()`: at the end of the block every task has completed, or it raises.

        What is raised is an exception group, which `except ApprovalDenied` does not catch.
        """
        outer = self.targets
        with self.jumps(Targets(outer.returns, outer.breaks, outer.continues, self.raises())) as inner:
            if item.optional_vars is not None:
                self.store(item.optional_vars, AV(group, self.b.outside("task group")), item.context_expr)
            self._manage(node, items)
            self._finish_tasks(node, group)
        if outer.raises is not None:
            raised = self.b.settle(inner.raises or [], self.span(node))
            outer.raises.extend((point, kinds | ONLY_OTHER) for point, kinds in raised)

    def _finish_tasks(self, node: Any, group: TaskGroup) -> None:
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


READERS[ast.With] = Managers.with_
READERS[ast.AsyncWith] = Managers.with_
