"""Reads displays: lists, tuples, sets, mappings, formatted text, lambdas."""

from __future__ import annotations

import ast
import json
from typing import Any

from keel.core.graph import Value, ValueKind
from keel.flow.conditions import Conditions
from keel.flow.expressions import READERS
from keel.flow.values import (
    AV,
    Awaitable,
    Const,
    Func,
    Generator,
    Items,
    Table,
    Unclear,
)


class Displays(Conditions):
    """Values that hold others."""

    def sequence(self, node: ast.List | ast.Tuple | ast.Set) -> AV:
        """Read a list, tuple or set display."""
        elements: list[AV] = []
        exact = True
        for item in node.elts:
            if isinstance(item, ast.Starred):
                whole = self.expr(item.value)
                if isinstance(whole.static, Items):
                    elements.extend(whole.static.elements)
                    exact = exact and whole.static.exact
                else:
                    exact = False
                    elements.append(AV(whole.static, whole.value))
            else:
                elements.append(self.expr(item))
        operands = tuple(item.value for item in elements)
        # a star marks a display whose operands are not all elements: some are collections of them
        name = type(node).__name__.lower() + ("" if exact else "*")
        fixed = isinstance(node, ast.Tuple)
        value = self.b.derived(operands, name, rendered=True) if fixed else self.b.container(operands, name)
        return AV(Items(elements, exact and not isinstance(node, ast.Set)), value)

    def mapping(self, node: ast.Dict) -> AV:
        """Read a dict display."""
        members: dict[str, AV] = {}
        keys: list[str] = []
        operands: list[int] = []
        exact = True
        for key, item in zip(node.keys, node.values, strict=True):
            if key is None:
                exact = self._spread(item, members, keys, operands) and exact
                continue
            name = self.expr(key)
            value = self.expr(item)
            operands.append(value.value)
            if isinstance(name.static, Const) and isinstance(name.static.value, str):
                members[name.static.value] = value
                keys.append(json.dumps(name.static.value))
            else:
                exact = False
                operands.append(name.value)
                members[f"#{len(members)}"] = value
        known = tuple(keys) if exact and len(keys) == len(operands) else None
        return AV(Table(members, exact), self.b.container(operands, "dict", known))

    def _spread(self, item: ast.expr, members: dict[str, AV], keys: list[str], operands: list[int]) -> bool:
        whole = self.expr(item)
        if isinstance(whole.static, Table) and whole.static.exact and whole.value not in self.b.contents:
            for name, value in whole.static.members.items():
                members[name] = value
                keys.append(json.dumps(name))
                operands.append(value.value)
            return True
        members[f"#{len(members)}"] = whole
        operands.append(whole.value)
        return False

    def formatted(self, node: ast.AST) -> AV:
        """Read an f-string or a template string: everything in it can be read."""
        operands: list[int] = []
        for part in node.values:  # type: ignore[attr-defined]
            if isinstance(part, ast.Constant):
                operands.append(self.constant(part).value)
                continue
            value = self.expr(part.value)
            if isinstance(value.static, Awaitable | Generator | Unclear):
                self.plain(value, part, "written into a text")
            operands.append(value.value)
            if part.format_spec is not None:
                operands.extend(self.b.values[self.expr(part.format_spec).value].operands)
        return AV(None, self.b.derived(operands, "text", rendered=True))

    def make_lambda(self, node: ast.Lambda) -> AV:
        """Read a lambda: a function that nobody has called yet."""
        defaults = self.defaults(node.args)
        func = Func(node, self.module, "<lambda>", self.scope_frame(), defaults=defaults)
        func.live = self.mentions_live(node.body, self.module, func.scope)
        return AV(func, self.b.own(Value(ValueKind.OUTSIDE, name="lambda")))

    def scope_frame(self) -> Any:
        """Return the frame that a function defined here closes over."""
        return self.frame if self.frame.number != 0 else None

    def defaults(self, args: ast.arguments) -> dict[str, AV]:
        """Read default values where the function is defined."""
        positional = [*args.posonlyargs, *args.args]
        found: dict[str, AV] = {}
        for item, default in zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True):
            found[item.arg] = self.expr(default)
        for item, word in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if word is not None:
                found[item.arg] = self.expr(word)
        return found

    def slice(self, node: ast.Slice) -> AV:
        """Read the bounds of a slice."""
        parts = [self.expr(item) for item in (node.lower, node.upper, node.step) if item is not None]
        return AV(None, self.b.derived((part.value for part in parts), "slice"))

    def starred(self, node: ast.Starred) -> AV:
        """Read `*value` where no container takes it."""
        return self.expr(node.value)


READERS[ast.List] = Displays.sequence
READERS[ast.Tuple] = Displays.sequence
READERS[ast.Set] = Displays.sequence
READERS[ast.Dict] = Displays.mapping
READERS[ast.JoinedStr] = Displays.formatted
READERS[ast.Lambda] = Displays.make_lambda
READERS[ast.Slice] = Displays.slice
READERS[ast.Starred] = Displays.starred
if hasattr(ast, "TemplateStr"):
    READERS[ast.TemplateStr] = Displays.formatted
