"""Reads `try` and `with`: which exceptions are caught, which leave, and what `finally` does with every way out."""

from __future__ import annotations

import ast
from typing import Any

from keel.core.graph import Kind
from keel.flow.build import Point
from keel.flow.objects import Objects
from keel.flow.state import DENIED, OTHER, Kinds, Targets
from keel.flow.statements import READERS
from keel.flow.values import (
    AV,
    Class,
    External,
    Items,
    Static,
)

Raised = list[tuple[Point, Kinds]]


class Handlers(Objects):
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
        begun = len(self.thrown)
        with self.jumps(Targets(outer.returns, outer.breaks, outer.continues, self.raises())) as inner:
            self.block(node.body)
        thrown = tuple(dict.fromkeys(self.thrown[begun:]))
        ends: list[Point | None] = []
        if self.here is not None:
            self.block(node.orelse)
        ends.append(self.here)
        left = self.b.settle(inner.raises or [], self.span(node))
        for handler in node.handlers:
            caught, left = self.split(left, self._kinds_caught(handler.type))
            ends.append(self._handle(handler, caught, thrown))
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

    def _handle(self, handler: ast.ExceptHandler, caught: Raised, thrown: tuple[int, ...]) -> Point | None:
        if not caught:
            return None
        kinds = frozenset(kind for _, found in caught for kind in found)
        self.here = self.join([point for point, _ in caught], handler)
        self.step(Kind.HANDLER, handler, text=self.text(handler, 80).partition(":")[0])
        key = self.key_of(handler.name) if handler.name else None
        before = self.handled.get(key) if key is not None else None
        if handler.name and key is not None:
            # it may carry whatever was raised inside, and what ordinary code raises
            value = self.b.derived((self.b.outside("exception"), *thrown), "exception")
            self.bind(handler.name, AV(None, value), handler)
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


READERS[ast.Try] = Handlers.try_
if hasattr(ast, "TryStar"):
    READERS[ast.TryStar] = Handlers.try_
