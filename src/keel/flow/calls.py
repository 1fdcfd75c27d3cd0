"""Reads calls: what is called, with which arguments; project functions are read in place where they reach a tool."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from keel.core.graph import Value, ValueKind
from keel.core.text import plural
from keel.flow import knowledge
from keel.flow.build import Point
from keel.flow.describe import describe
from keel.flow.outside import Outside
from keel.flow.passing import Bound, Passed, bind
from keel.flow.scope import Frame, arguments
from keel.flow.state import MAX_DEPTH, Targets
from keel.flow.values import (
    AV,
    AgentDef,
    Answer,
    Attribute,
    Awaitable,
    Class,
    Const,
    External,
    Func,
    Generator,
    Instance,
    Items,
    Keel,
    Method,
    Partial,
    Static,
    Table,
    Tool,
    Unclear,
)

_EAGER_METHODS = frozenset({"join", "extend", "update", "union", "intersection", "difference"})


class Calls(Outside):
    """Calls of everything that is not keel's own."""

    # -- provided by the layers above -----------------------------------------------------------

    def keel_call(self, name: str, passed: list[Passed], node: ast.Call) -> AV:
        """Call one of keel's names."""
        raise NotImplementedError

    def tool_call(self, tool: Tool, passed: list[Passed], node: ast.AST) -> AV:
        """Call a tool."""
        raise NotImplementedError

    def agent_call(self, agent: AgentDef, passed: list[Passed], node: ast.AST) -> AV:
        """Call an agent."""
        raise NotImplementedError

    def keel_method(self, attribute: Attribute, passed: list[Passed], node: ast.Call) -> AV | None:
        """Call a method of a tool, a task, or a task group; None for a container's."""
        raise NotImplementedError

    def instantiate(self, cls: Class, passed: list[Passed], node: ast.AST) -> AV:
        """Create an object of a project class."""
        raise NotImplementedError

    def block(self, body: list[ast.stmt]) -> None:
        """Read statements."""
        raise NotImplementedError

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> AV:
        """Read a function definition."""
        raise NotImplementedError

    def class_(self, node: ast.ClassDef) -> AV:
        """Read a class definition."""
        raise NotImplementedError

    def comprehend(self, node: Any, take: Callable[[list[AV]], AV]) -> AV:
        """Read a comprehension."""
        raise NotImplementedError

    def head(self, node: ast.AST, keys: list[Any], **fields: Any) -> int:
        """Add a loop head."""
        raise NotImplementedError

    def again(self, points: list[Point | None], index: int) -> None:
        """Lead ways back to a loop head."""
        raise NotImplementedError

    def method_of(self, cls: Class, name: str) -> Func | None:
        """Return a method of a class, bases included."""
        raise NotImplementedError

    def plain_function(self, func: Func, bound: Bound, passed: list[Passed], node: ast.AST) -> AV:
        """Call a project function that reaches no tool."""
        raise NotImplementedError

    def plain_method(self, base: AV, name: str, passed: list[Passed], node: ast.AST) -> AV:
        """Call a method of plain data."""
        raise NotImplementedError

    # -- calls ----------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> AV:
        """Read a call: first what is called, then its arguments, then the call itself."""
        base: AV | None = None
        if isinstance(node.func, ast.Attribute):
            base = self.expr(node.func.value)
            callee = self.get_attribute(base, node.func.attr, node.func) if self.here is not None else base
        else:
            callee = self.expr(node.func)
        if self.gone():
            return callee
        eager = self._is_eager(callee, node)
        passed = self.arguments(node, eager=eager)
        if self.gone():
            return AV(None, self.b.unbound())
        if callee.static is None and base is not None and isinstance(node.func, ast.Attribute):
            return self.plain_method(base, node.func.attr, passed, node)
        return self.apply(callee, passed, node)

    def _is_eager(self, callee: AV, node: ast.Call) -> bool:
        static = callee.static
        if isinstance(static, External):
            return static.path in knowledge.CONSUMERS or static.path == "asyncio.gather"
        if isinstance(static, Attribute) and static.name in _EAGER_METHODS:
            return True
        return static is None and isinstance(node.func, ast.Attribute) and node.func.attr in _EAGER_METHODS

    def arguments(self, node: ast.Call, *, eager: bool) -> list[Passed]:
        """Read the arguments of a call in order."""
        found: list[Passed] = []
        for item in node.args:
            starred = isinstance(item, ast.Starred)
            inner = item.value if isinstance(item, ast.Starred) else item
            value = self._argument(inner, eager=eager)
            found.append(Passed(value, "", self.text(inner, 80), "*" if starred else ""))
        for word in node.keywords:
            value = self._argument(word.value, eager=eager)
            found.append(Passed(value, word.arg or "", self.text(word.value, 80), "" if word.arg else "**"))
        return found

    def _argument(self, node: ast.expr, *, eager: bool) -> AV:
        if isinstance(node, ast.GeneratorExp) and eager and self.here is not None:
            return self.comprehend(node, lambda parts: parts[-1])
        return self.expr(node)

    def apply(self, callee: AV, passed: list[Passed], node: ast.AST) -> AV:
        """Call a value."""
        if self.here is None:
            return AV(None, self.b.unbound())
        static = callee.static
        if isinstance(static, Func):
            return self.invoke_passed(static, passed, node)
        if isinstance(static, Tool):
            return self.tool_call(static, passed, node)
        if isinstance(static, External):
            return self.external(static.path, passed, node)
        if isinstance(static, Keel):
            assert isinstance(node, ast.Call)
            return self.keel_call(static.name, passed, node)
        if isinstance(static, Method):
            return self.invoke_passed(static.func, [Passed(static.receiver), *passed], node)
        if isinstance(static, Partial):
            return self._apply_partial(static, passed, node)
        return self._apply_other(callee, static, passed, node)

    def _apply_other(self, callee: AV, static: Static | None, passed: list[Passed], node: ast.AST) -> AV:
        if isinstance(static, AgentDef):
            return self.agent_call(static, passed, node)
        if isinstance(static, Class):
            return self.instantiate(static, passed, node)
        if isinstance(static, Instance):
            method = self.method_of(static.cls, "__call__")
            if method is not None:
                return self.invoke_passed(method, [Passed(callee), *passed], node)
        if isinstance(static, Attribute):
            assert isinstance(node, ast.Call)
            done = self.keel_method(static, passed, node)
            return done if done is not None else self.plain_method(static.base, static.name, passed, node)
        if isinstance(static, Unclear):
            return self.dynamic(node, f"the call cannot be followed: {static.why}")
        if self.is_live(callee) and not isinstance(static, Answer):
            return self.dynamic(node, f"{describe(static)} is called in a way that cannot be followed")
        return self.opaque("", callee, passed, node)

    def _apply_partial(self, static: Partial, passed: list[Passed], node: ast.AST) -> AV:
        names = {item.name for item in passed}
        bound = [Passed(value) for value in static.args]
        words = [Passed(value, name, text) for name, value, text in static.keywords if name not in names]
        first = [item for item in passed if not item.name and item.star != "**"]
        return self.apply(
            static.target, [*bound, *first, *words, *(item for item in passed if item not in first)], node
        )

    # -- project functions ----------------------------------------------------------------------

    def invoke(self, func: Func, args: list[AV], node: ast.AST) -> AV:
        """Call a project function with positional arguments."""
        return self.invoke_passed(func, [Passed(item) for item in args], node)

    def invoke_passed(self, func: Func, passed: list[Passed], node: ast.AST) -> AV:
        """Call a project function."""
        scope = self.world.scopes.of(func.node)
        needed = any(self.is_live(item.value) or self.holds_answer(item.value) for item in passed)
        if not self.forced and not needed and not self.reading_needed(func):
            return self.plain_function(func, bind(func.node.args, passed), passed, node)
        if func.flow and self.guarded:
            return AV(None, self.fresh(node, func.name, tuple(item.value.value for item in passed)))
        if func.flow:
            self.called_flows.add(f"{func.module.name}:{func.name}")
        run = self.deferred(lambda: self._enter(func, passed, node))
        if scope.yields:
            return self._generator(func, passed, node)
        if func.is_async:
            return self.waiting(run, f"`{func.name}`", node)
        return run()

    def waiting(self, run: Callable[[], AV], what: str, node: ast.AST) -> AV:
        """Return a call that was made and must be awaited."""
        found = Awaitable(run, what, node, self.module, calls=self.calls)
        if self.dead == 0:
            self.awaitables.append(found)
        return AV(found, self.b.own(Value(ValueKind.OUTSIDE, name="awaitable")))

    def deferred(self, run: Callable[[], AV]) -> Callable[[], AV]:
        """Return a reading that can be made later and still stands where it is written."""
        frame, calls, function = self.frame, self.calls, self.where

        def later() -> AV:
            before = self.frame, self.calls, self.where
            self.frame, self.calls, self.where = frame, calls, function
            try:
                return run()
            finally:
                self.frame, self.calls, self.where = before

        return later

    def _generator(self, func: Func, passed: list[Passed], node: ast.AST) -> AV:
        frame, calls, function = self.frame, self.calls, self.where

        def run(body: Callable[[AV], None]) -> None:
            before = self.frame, self.calls, self.where
            self.frame, self.calls, self.where = frame, calls, function
            self._enter(func, passed, node, body)
            self.frame, self.calls, self.where = before

        found = Generator(run, f"`{func.name}`", func.is_async, func.context)
        return AV(found, self.b.own(Value(ValueKind.OUTSIDE, name="generator")))

    def _enter(
        self, func: Func, passed: list[Passed], node: ast.AST, on_yield: Callable[[AV], None] | None = None
    ) -> AV:
        """Read the body of a project function in place of its call."""
        if self.here is None:
            return AV(None, self.b.unbound())
        if func.node in self.active:
            name = func.name
            self.report(
                "recursive-flow",
                f"`{name}` calls itself, directly or through others, and reaches a tool on the way",
                node,
                "replace the recursion with a loop",
            )
            return AV(None, self.fresh(node, name, tuple(item.value.value for item in passed)))
        if len(self.active) > MAX_DEPTH:
            return self.dynamic(
                node, f"helpers call each other more than {plural(MAX_DEPTH, 'level')} deep", "flatten the helpers"
            )
        if func.retries:
            return self._retried(func, passed, node)
        return self._run(func, passed, node, on_yield)

    def _retried(self, func: Func, passed: list[Passed], node: ast.AST) -> AV:
        """Read a function behind a retry decorator: after an exception it is called again."""
        index = self.head(node, list(self.volatile), text="retry")
        before = self.loops
        self.loops = (*before, index)
        outer = self.targets
        with self.jumps(Targets(outer.returns, outer.breaks, outer.continues, self.raises())) as inner:
            value = self._run(func, passed, node, None)
        raised = self.b.settle(inner.raises or [], self.span(node))
        if outer.raises is not None:
            outer.raises.extend((point.fork(), kinds) for point, kinds in raised)
        self.again([point for point, _ in raised], index)
        self.loops = before
        return value

    def _run(self, func: Func, passed: list[Passed], node: ast.AST, on_yield: Callable[[AV], None] | None) -> AV:
        scope = self.world.scopes.of(func.node)
        frame = Frame(self.world.new_frame(), func.module, scope, func.scope, func.name, func.is_async)
        frame.on_yield = on_yield
        frame.owner = func.owner
        frame.receiver = next((item.arg for item in arguments(func.node.args)), "")
        for name in scope.inner:
            self.volatile[(frame.number, name)] = None
        bound = bind(func.node.args, passed)
        before = self.frame, self.calls, self.where, self.targets, self.forced
        self.calls = (*self.calls, self.world.span(self.module, node)) if self.active else self.calls
        self.frame, self.where, self.forced = frame, f"{func.module.name}:{func.name}", False
        self.targets = Targets([], [], [], self.targets.raises)
        self.active.append(func.node)
        try:
            self._parameters(func, bound)
            value = self._body_value(func.node)
        finally:
            self.active.pop()
            self.frame, self.calls, self.where, self.targets, self.forced = before
        if self.here is not None:
            frame.saved = {key[1]: held for key, held in self.here.env.items() if key[0] == frame.number}
            if not isinstance(value.static, Func | Partial | Class | Instance | Items | Table | Generator | Awaitable):
                self.here.forget(frame.number)
        return value

    def _body_value(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> AV:
        if isinstance(node, ast.Lambda):
            return self.expr(node.body)
        self.block(node.body)
        ends = list(self.targets.returns)
        if self.here is not None:
            ends.append((self.here, AV(Const(None, "NoneType"), self.b.literal(None))))
        return self.join_values([(point, value) for point, value in ends], node)

    def _parameters(self, func: Func, bound: Bound) -> None:
        assert self.here is not None
        number = self.frame.number
        args = func.node.args
        for item in arguments(args):
            name = item.arg
            if args.vararg is not None and name == args.vararg.arg:
                value = self._rest_values(bound)
            elif args.kwarg is not None and name == args.kwarg.arg:
                value = self._rest_words(bound)
            elif name in bound.by_name:
                value = bound.by_name[name]
            elif bound.unknown:
                source = bound.unknown[0]
                static = (
                    Unclear("it comes from unpacked arguments")
                    if any(self.is_live(one) for one in bound.unknown)
                    else None
                )
                value = AV(static, self.b.part(source.value, f'"{name}"'))
            elif name in func.defaults:
                held = func.defaults[name]
                value = held if func.scope is not None else self.home(held.static, name)
            else:
                value = AV(None, self.b.outside(name))
            self.here.bind((number, name), value)

    def _rest_values(self, bound: Bound) -> AV:
        known = not bound.unknown
        elements = [*bound.rest, *bound.unknown]
        return AV(
            Items(elements, exact=known), self.b.derived([item.value for item in elements], "tuple", rendered=True)
        )

    def _rest_words(self, bound: Bound) -> AV:
        members = dict(bound.words)
        known = not bound.unknown
        for index, item in enumerate(bound.unknown):
            members[f"#{index}"] = item
        value = Value(ValueKind.RENDERED, tuple(item.value for item in members.values()), "dict")
        return AV(Table(members, exact=known), self.b.own(value))

    # -- await and yield ------------------------------------------------------------------------

    def awaited(self, value: AV, node: ast.AST) -> AV:
        """Read `await`: here the call happens."""
        static = value.static
        if self.here is None:
            return value
        if isinstance(static, Awaitable):
            static.used = True
            return static.run()
        if isinstance(static, Unclear | Tool | Func | Method | Generator) and self.is_live(value):
            return self.dynamic(node, f"`await` of {describe(static)} cannot be followed")
        self.may_raise(node)
        return value

    def yielded(self, value: AV, node: ast.AST) -> AV:
        """Read `yield`: what iterates the generator runs here."""
        frame: Frame | None = self.frame
        while frame is not None and not frame.scope.yields:
            frame = frame.parent
        if frame is not None and frame.on_yield is not None:
            frame.on_yield(value)
        elif self.is_live(value):
            self.dynamic(node, f"{describe(value.static)} is yielded to somebody unknown")
        return AV(None, self.b.outside("sent"))

    def _handed_on(self, node: ast.AST) -> Callable[[AV], None]:
        """Return what hands an inner generator's values to whoever iterates the outer one."""
        frame = self.frame

        def hand(value: AV) -> None:
            before, self.frame = self.frame, frame
            self.yielded(value, node)
            self.frame = before

        return hand

    def yield_from(self, value: AV, node: ast.AST) -> AV:
        """Read `yield from`."""
        if isinstance(value.static, Generator):
            value.static.run(self._handed_on(node))
            return AV(None, self.b.outside("returned"))
        self.yielded(AV(value.static, self.b.part(value.value, None)), node)
        return AV(None, self.b.outside("returned"))
