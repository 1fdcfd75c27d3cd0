"""Reads what runs together: `gather`, tasks, task groups, `race`, `hedge`, `quorum`.

A branch is read twice. Its first copy begins where the region begins and leads nowhere: in it the branch's own calls
are judged, so that nothing a sibling does can cover them. Its second copy, the echo, stands one after the other
before what follows the region: there every branch has completed, and a gate in one of them counts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

from keel.core.graph import Kind, Label, Region, RegionKind, Value, ValueKind
from keel.flow.build import Point
from keel.flow.describe import describe
from keel.flow.passing import Passed, constant
from keel.flow.state import Targets
from keel.flow.steps import Steps
from keel.flow.values import (
    AV,
    Awaitable,
    Func,
    Items,
    Partial,
    TaskGroup,
    Wrapped,
)


class Branch(NamedTuple):
    """What reads a branch, and of how many it is one."""

    run: Callable[[], AV]
    many: Items | None = None
    """The collection of calls that it stands for, when it stands for many."""


_TASK_LOOKS = frozenset(
    {"cancel", "done", "cancelled", "get_name", "set_name", "exception", "add_done_callback", "get_coro"}
)


class Concurrency(Steps):
    """Parallel and race regions."""

    def concurrent(self, path: str, passed: list[Passed], node: ast.Call) -> AV | None:
        """Call one of the understood functions of `asyncio` or `functools`; None for any other."""
        reader = _UNDERSTOOD.get(path)
        return reader(self, passed, node) if reader is not None else None

    # -- wrappers -------------------------------------------------------------------------------

    def partial(self, passed: list[Passed], node: ast.Call) -> AV | None:
        """Read `functools.partial`."""
        target = passed[0].value if passed else None
        if target is None or not (self.is_live(target) or isinstance(target.static, Func)):
            return None
        if any(item.star for item in passed):
            return self.dynamic(node, "arguments of `partial` are unpacked", "write them out")
        args = tuple(item.value for item in passed[1:] if not item.name)
        words = tuple((item.name, item.value, item.text) for item in passed[1:] if item.name)
        live = any(self.is_live(item.value) for item in passed)
        return AV(Partial(target, args, words, live=live), self.b.outside("partial"))

    def wraps(self, passed: list[Passed], node: ast.Call) -> AV | None:
        """Read `functools.wraps(function)`: it copies a name and a text."""
        del node
        return AV(Wrapped(), self.b.outside("wraps")) if passed else None

    def wait_for(self, passed: list[Passed], node: ast.Call) -> AV | None:
        """Read `asyncio.wait_for(call, timeout)`."""
        target = passed[0].value if passed else None
        if target is None or not isinstance(target.static, Awaitable):
            return self._opaque_awaitable(target, node)
        inner = target.static
        inner.used = True

        def run() -> AV:
            value = inner.run()
            if self.here is not None:
                self.raised(self.step(Kind.PLAIN, node, text="wait_for"))
            return value

        return self.waiting(run, "`wait_for`", node)

    def shield(self, passed: list[Passed], node: ast.Call) -> AV | None:
        """Read `asyncio.shield(call)`."""
        target = passed[0].value if passed else None
        if target is None or not isinstance(target.static, Awaitable):
            return self._opaque_awaitable(target, node)
        inner = target.static
        inner.used = True
        return self.waiting(inner.run if inner.task else self._started(inner, node, "shield"), "`shield`", node)

    def _opaque_awaitable(self, target: AV | None, node: ast.AST) -> AV | None:
        if target is not None and self.is_live(target):
            self.give_up(target)
            return self.dynamic(
                node, f"{describe(target.static)} is handed to asyncio in a way that cannot be followed"
            )
        return None

    def create_task(self, passed: list[Passed], node: ast.Call) -> AV | None:
        """Read `asyncio.create_task(call)`: it starts here and is complete where it is awaited."""
        target = passed[0].value if passed else None
        if target is None or not isinstance(target.static, Awaitable):
            return self._opaque_awaitable(target, node)
        inner = target.static
        inner.used = True
        self.begun(inner, node, "create_task", None)
        return AV(self._task(inner), self.b.own(Value(ValueKind.OUTSIDE, name="task")))

    def _task(self, inner: Awaitable) -> Awaitable:
        task = Awaitable(lambda: self.finish(task, inner.at), inner.what, inner.at, inner.module, used=True, task=True)
        self.origins[id(task)] = (task, inner)
        return task

    def _started(self, inner: Awaitable, node: ast.AST, name: str) -> Callable[[], AV]:
        self.begun(inner, node, name, None)
        task = self._task(inner)
        return lambda: self.finish(task, node)

    def begun(self, inner: Awaitable, node: ast.AST, name: str, region: int | None) -> None:
        """Read a call that starts here and runs beside what follows."""
        number = region if region is not None else self.region(RegionKind.PARALLEL, node, name, 1)
        self.task_count += 1
        self.probe((number, self.task_count), inner.run)

    def finish(self, task: Awaitable, node: ast.AST) -> AV:
        """Read what a task did, where it is known to have completed."""
        del node
        inner: Awaitable = self.origins[id(task)][1]
        if self.here is None:
            return AV(None, self.b.unbound())
        self.echo += 1
        value = inner.run()
        self.echo -= 1
        task.result = value
        return value

    def task_method(self, task: Awaitable, name: str, passed: list[Passed], node: ast.AST) -> AV:
        """Call a method of a task."""
        self.refuse_live(f".{name}()", passed, node)
        if name == "result":
            if task.result is not None:
                return task.result
            return AV(None, self.fresh(node, "result"))
        if name in _TASK_LOOKS:
            return AV(None, self.fresh(node, name))
        return self.dynamic(node, f"`.{name}()` of an un-awaited call cannot be followed", "write `await`")

    # -- regions --------------------------------------------------------------------------------

    def region(self, kind: RegionKind, node: ast.AST, name: str, branches: int) -> int:
        """Open a region."""
        self.b.regions.append(Region(kind, self.span(node), name, branches))
        return len(self.b.regions) - 1

    def probe(self, place: tuple[int, int], run: Callable[[], Any]) -> None:
        """Read the first copy of a branch: it begins here and leads nowhere."""
        if self.here is None:
            return
        after = self.here.fork()
        before = self.regions
        self.regions = (*before, place)
        # a branch may raise while its siblings are still running: its ways to handlers begin in this copy
        with self.jumps(Targets(self.targets.returns, [], [], self.targets.raises)):
            run()
        self.regions = before
        self.here = after

    def gather(self, passed: list[Passed], node: ast.Call) -> AV | None:
        """Read `asyncio.gather`."""
        lasting = next((item for item in passed if item.name == "return_exceptions"), None)
        swallow = False
        if lasting is not None:
            known, value = constant(lasting)
            swallow = not known or bool(value)
        if any(item.star == "**" for item in passed):
            swallow = True
            self.dynamic(
                node,
                "options of `gather` are unpacked, so that `return_exceptions` is not known",
                "write the options by name",
            )
        found = [item for item in passed if not item.name and item.star != "**"]
        branches = self._branches(found, node, "gather")
        if branches is None:
            return None
        number = self.region(RegionKind.PARALLEL, node, "gather", len(branches))
        for at, branch in enumerate(branches):
            self.probe((number, at), lambda branch=branch: self._many(branch, node))  # type: ignore[misc]
        single = all(not item.star for item in found)
        return self.waiting(lambda: self._together(branches, node, swallow=swallow, exact=single), "`gather`", node)

    def _branches(self, passed: list[Passed], node: ast.AST, name: str) -> list[Branch] | None:
        """Return what reads each branch; None when no tool is in any of them."""
        if not any(self.is_live(item.value) for item in passed):
            return None
        found: list[Branch] = []
        for item in passed:
            static = item.value.static
            if isinstance(static, Awaitable):
                static.used = True
                found.append(Branch(static.run))
            elif (
                item.star
                and isinstance(static, Items)
                and all(isinstance(one.static, Awaitable) for one in static.elements)
            ):
                for one in static.elements:
                    assert isinstance(one.static, Awaitable)
                    one.static.used = True
                    found.append(Branch(one.static.run, None if static.exact else static))
            elif self.is_live(item.value):
                self.give_up(item.value)
                value = self.dynamic(
                    node,
                    f"{describe(static)} is handed to `{name}` in a way that cannot be followed",
                    "pass un-awaited calls",
                )
                found.append(Branch(lambda value=value: value))  # type: ignore[misc]
            else:
                found.append(Branch(lambda value=item.value: AV(None, value.value)))  # type: ignore[misc]
        return found

    def _many(self, branch: Branch, node: ast.AST) -> AV:
        """Read one branch, in a loop when it stands for many calls."""
        run, many = branch
        if many is None or self.here is None:
            return run()
        index = self.head(node, list(self.volatile), source=many.source, times=many.times, text="branches")
        before = self.loops
        self.loops = (*before, index)
        point = self.here
        leaving = point.at([(index, Label.LEAVE, None)])
        point.exits = [(index, Label.TRUE, None)]
        value = run()
        self.again([self.here], index)
        self.loops = before
        self.here = leaving
        return value

    def _together(self, branches: list[Branch], node: ast.AST, *, swallow: bool, exact: bool) -> AV:
        """Read the second copy of branches that have all completed."""
        results: list[AV] = []
        self.echo += 1
        for branch in branches:
            results.append(self._swallowed(branch, node) if swallow else self._many(branch, node))
        self.echo -= 1
        if self.here is None:
            return AV(None, self.b.unbound())
        self.may_raise(node)
        value = self.b.derived([item.value for item in results], "list", rendered=True)
        if swallow:
            return AV(None, self.fresh(node, "gather", tuple(item.value for item in results)))
        return AV(Items(results, exact=exact), value)

    def _swallowed(self, branch: Branch, node: ast.AST) -> AV:
        """Read a branch whose exception becomes a value."""
        outer = self.targets
        with self.jumps(Targets(outer.returns, outer.breaks, outer.continues, self.raises())) as inner:
            value = self._many(branch, node)
        self.here = self.join(
            [self.here, *(point for point, _ in self.b.settle(inner.raises or [], self.span(node)))], node
        )
        return AV(None, self.b.derived((value.value,), "outcome"))

    # -- task groups ----------------------------------------------------------------------------

    def task_group(self, passed: list[Passed], node: ast.Call) -> AV | None:
        """Read `asyncio.TaskGroup()`."""
        del passed
        return AV(
            TaskGroup(self.region(RegionKind.PARALLEL, node, "TaskGroup", 0)),
            self.b.own(Value(ValueKind.OUTSIDE, name="group")),
        )

    def group_method(self, group: TaskGroup, name: str, passed: list[Passed], node: ast.AST) -> AV:
        """Read `group.create_task(call)`."""
        target = passed[0].value if passed else None
        if name != "create_task" or target is None or not isinstance(target.static, Awaitable):
            self.refuse_live(f".{name}()", passed, node)
            return AV(None, self.fresh(node, name))
        inner = target.static
        inner.used = True
        self.begun(inner, node, "TaskGroup", group.region)
        task = self._task(inner)
        group.tasks.append(task)
        value = AV(task, self.b.own(Value(ValueKind.OUTSIDE, name="task")))
        if self.here is not None:
            self.here.bind(self.started_key(task), value)
        return value

    # -- race, hedge, quorum --------------------------------------------------------------------

    def group(self, name: str, passed: list[Passed], node: ast.Call) -> AV:
        """Read `race`, `hedge` or `quorum`."""
        found = [item for item in passed if not item.name]
        branches = self._race_branches(found, node, name)
        everyone = self._check_group(name, passed, len(branches), node)
        if any(item.star for item in found):
            everyone = False
        run = self.deferred(lambda: self._group(name, branches, node, everyone=everyone))
        return self.perform(run, f"`{name}`", node)

    def _race_branches(self, found: list[Passed], node: ast.AST, name: str) -> list[Branch]:
        branches: list[Branch] = []
        for item in found:
            static = item.value.static
            if isinstance(static, Func | Partial):
                branches.append(Branch(self.deferred(lambda value=item.value: self._call_branch(value, node))))  # type: ignore[misc]
            elif isinstance(static, Awaitable):
                static.used = True
                branches.append(Branch(static.run))
            else:
                more = self._branches([item], node, name)
                if more is None:
                    self.dynamic(
                        node,
                        f"a branch of `{name}` is neither an un-awaited call nor a lambda",
                        f"write `{name}(a(x), b(x))`",
                    )
                branches.extend(more or [])
        return branches

    def _call_branch(self, value: AV, node: ast.AST) -> AV:
        result = self.apply(value, [], node)
        return self.awaited(result, node) if isinstance(result.static, Awaitable) else result

    def _check_group(self, name: str, passed: list[Passed], count: int, node: ast.AST) -> bool:
        """Check the options of a group; returns whether every branch must succeed, so that nobody is cancelled."""
        wanted = {"race": (), "hedge": ("after_ms",), "quorum": ("k",)}[name]
        words = {item.name: item for item in passed if item.name}
        for word in words:
            if word not in wanted:
                self.report(
                    "invalid-option",
                    f"`{name}` has no option `{word}`",
                    node,
                    f"use {' and '.join(wanted) or 'branches only'}",
                )
        for word in wanted:
            if word not in words:
                self.report("invalid-option", f"`{name}` needs `{word}`", node, f"write `{name}(…, {word}=…)`")
        if name == "hedge" and "after_ms" in words:
            known, delay = constant(words["after_ms"])
            if known and (type(delay) not in (int, float) or delay < 0):  # type: ignore[operator]
                self.report(
                    "invalid-option", "`after_ms` is a number of milliseconds from 0", node, "correct `after_ms`"
                )
        if name != "quorum" or "k" not in words:
            return False
        known, value = constant(words["k"])
        if not known:
            return False
        if type(value) is not int or not 1 <= value <= max(count, 1):
            self.report("invalid-option", f"`k` must be from 1 to the number of branches, {count}", node, "correct `k`")
            return False
        return value == count

    def _group(self, name: str, branches: list[Branch], node: ast.AST, *, everyone: bool) -> AV:
        if self.here is None:
            return AV(None, self.b.unbound())
        kind = RegionKind.PARALLEL if everyone else RegionKind.RACE
        number = self.region(kind, node, name, len(branches))
        for at, branch in enumerate(branches):
            self.probe((number, at), lambda branch=branch: self._many(branch, node))  # type: ignore[misc]
        if everyone:
            return self._together(branches, node, swallow=False, exact=True)
        return self._first(branches, node)

    def _first(self, branches: list[Branch], node: ast.AST) -> AV:
        """Read the second copy of branches of which only some complete."""
        start = self.here
        options: list[tuple[Point | None, AV]] = []
        self.echo += 1
        for branch in branches:
            self.here = start.fork() if start is not None else None
            if self.here is not None:
                self.step(Kind.PLAIN, node, text="branch")
            value = self._many(branch, node)
            options.append((self.here, AV(None, value.value)))
        self.echo -= 1
        value = self.join_values(options, node)
        if self.here is None:
            return value
        return AV(None, self.fresh(node, "race", (value.value,)))


_UNDERSTOOD: dict[str, Callable[[Any, list[Passed], ast.Call], AV | None]] = {
    "asyncio.gather": Concurrency.gather,
    "asyncio.create_task": Concurrency.create_task,
    "asyncio.ensure_future": Concurrency.create_task,
    "asyncio.wait_for": Concurrency.wait_for,
    "asyncio.shield": Concurrency.shield,
    "asyncio.TaskGroup": Concurrency.task_group,
    "functools.partial": Concurrency.partial,
    "functools.wraps": Concurrency.wraps,
}
