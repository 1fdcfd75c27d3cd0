"""Reads function definitions and their decorators."""

from __future__ import annotations

import ast
from typing import Any

from keel.core.graph import Value, ValueKind
from keel.flow import knowledge
from keel.flow.comprehensions import Comprehensions
from keel.flow.passing import Passed
from keel.flow.values import (
    AV,
    Declaration,
    External,
    Func,
    Keel,
    Method,
    Wrapped,
)


class Definitions(Comprehensions):
    """Functions."""

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: Any = None) -> AV:
        """Read a function definition and its decorators, innermost first."""
        func = Func(node, self.module, node.name, self.scope_frame(), owner=owner)
        func.defaults = self.defaults(node.args)
        func.live = self._function_live(node)
        value = AV(func, self.b.own(Value(ValueKind.OUTSIDE, name=node.name)))
        for decorator in reversed(node.decorator_list):
            if self.here is None:
                return value
            value = self._decorated(value, func, decorator, node)
        return value

    def _function_live(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        if self.frame.number == 0:
            return self.world.reach.live(self.module.name, node.name) or self._body_live(node)
        return self._body_live(node)

    def _body_live(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        return any(
            self.mentions_live(item, self.module, self.scope_frame()) for item in (*node.body, *node.decorator_list)
        )

    def _decorated(
        self, value: AV, func: Func, decorator: ast.expr, node: ast.FunctionDef | ast.AsyncFunctionDef
    ) -> AV:
        before, self.forced = self.forced, True
        made = self.expr(decorator)
        self.forced = before
        static = made.static
        if isinstance(static, Keel) and static.name in _FLOW_NAMES:
            self.forced = before
            return self.declare(static.name, value, func, decorator, node)
        if isinstance(decorator, ast.Call) and static is None:
            static = self.quiet(decorator.func)
        if isinstance(static, External):
            return self._library_decorator(static.path, value, func, decorator)
        if isinstance(static, Declaration):
            return self.declare(static.name, value, func, decorator, node)
        if isinstance(static, Wrapped):
            return value
        if isinstance(static, Func | Method) and not func.kind:
            self.forced = True
            result = self.apply(made, [Passed(value)], decorator)
            self.forced = before
            if result.static is None and self.is_live(value):
                return self.dynamic(decorator, f"what the decorator makes of `{func.name}` cannot be followed")
            return result
        if self.is_live(value):
            self.dynamic(
                decorator, f"the decorator on `{func.name}` cannot be followed, and the function reaches a tool"
            )
        return value

    def _library_decorator(self, path: str, value: AV, func: Func, decorator: ast.expr) -> AV:
        name = path.removeprefix("builtins.")
        if path in knowledge.MEMOISING_DECORATORS and self.is_live(value):
            self.dynamic(
                decorator,
                f"`{name}` runs `{func.name}` once and gives its answer again, so that nobody is asked a second time",
                "remove the decorator, or remember plain data only",
            )
        if name in ("property", "classmethod", "staticmethod", "functools.cached_property"):
            func.kind = "property" if name.endswith("property") else name
        elif path in ("contextlib.contextmanager", "contextlib.asynccontextmanager"):
            func.context = True
        elif path in knowledge.RETRY_DECORATORS:
            func.retries = True
        elif path in knowledge.HARMLESS_DECORATORS | knowledge.MEMOISING_DECORATORS or self._setter(decorator):
            pass
        elif self.is_live(value):
            self.dynamic(
                decorator,
                f"the decorator `{name}` on `{func.name}`, which reaches a tool, is not part of the project",
                "call the tool in a function without that decorator",
            )
        return value

    def _setter(self, decorator: ast.expr) -> bool:
        return isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter", "getter")

    def declare(self, what: str, value: AV, func: Func, decorator: ast.expr, node: Any) -> AV:
        """Make a flow or a native tool of a function."""
        raise NotImplementedError


_FLOW_NAMES = frozenset({"flow", "tool"})
