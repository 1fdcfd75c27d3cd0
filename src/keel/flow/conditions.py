"""Reads conditions: short circuits, comparisons, and what each way out of a test tells."""

from __future__ import annotations

import ast

from keel.core.graph import Kind, Label, ValueKind
from keel.flow.build import Point
from keel.flow.expressions import READERS, Expressions
from keel.flow.values import (
    AV,
    Awaitable,
    Const,
    External,
    Generator,
)

Way = tuple[Point | None, Point | None, AV]
"""Where control goes when a condition is true, where when it is false, and its value."""


class Conditions(Expressions):
    """Conditions, and expressions that have some inside."""

    def unary(self, node: ast.UnaryOp) -> AV:
        """Read `-x`, `+x`, `~x`, `not x`."""
        if isinstance(node.op, ast.Not):
            true, false, value = self.test(node)
            return self._truth_values(true, false, value, node)
        operand = self.expr(node.operand)
        known = operand.static.value if isinstance(operand.static, Const) else None
        if isinstance(known, int | float) and not isinstance(known, bool) and isinstance(node.op, ast.USub | ast.UAdd):
            number = -known if isinstance(node.op, ast.USub) else known
            return AV(Const(number, type(number).__name__), self.b.literal(number))
        return AV(None, self.b.derived((operand.value,), type(node.op).__name__))

    def _truth_values(self, true: Point | None, false: Point | None, value: AV, node: ast.AST) -> AV:
        yes = AV(Const(True, "bool"), self.b.literal(True))
        no = AV(Const(False, "bool"), self.b.literal(False))
        return self.join_values([(true, yes), (false, no)], node, (value.value,))

    def compare(self, node: ast.Compare) -> AV:
        """Read a comparison."""
        parts = [self.expr(item) for item in (node.left, *node.comparators)]
        fact = self._compared(node, parts)
        if fact is not None and fact[1]:
            return AV(None, self.b.derived((fact[0],), "bool"))
        name = type(node.ops[0]).__name__ if len(node.ops) == 1 else "compare"
        return AV(None, self.b.derived((part.value for part in parts), name))

    def _compared(self, node: ast.Compare, parts: list[AV]) -> tuple[int, bool] | None:
        """Return the value whose truth a comparison with True or False tells, and whether it is equal to it."""
        if len(parts) != 2:
            return None
        known, other = (parts[1], parts[0]) if isinstance(parts[1].static, Const) else (parts[0], parts[1])
        if not isinstance(known.static, Const) or not isinstance(known.static.value, bool):
            return None
        if not self.is_flag(other.value):
            return None
        wanted = known.static.value
        if isinstance(node.ops[0], ast.Is | ast.Eq):
            return other.value, wanted
        return (other.value, not wanted) if isinstance(node.ops[0], ast.IsNot | ast.NotEq) else None

    def is_flag(self, value: int) -> bool:
        """Tell whether a value is a plain bool that says what a gate answered: `ok.approved`, `bool(ok)`, a flag."""
        item = self.b.values[value]
        if item.kind is ValueKind.BOUND:
            return self.is_flag(item.operands[0])
        if item.kind is ValueKind.PART and item.key == ".approved":
            return True
        if item.kind is ValueKind.DERIVED and item.name == "bool":
            return True
        if item.kind is ValueKind.MERGED:
            return all(
                self.b.values[part].key in ("true", "false") or (part != value and self._flag_part(part))
                for part in item.operands
            )
        return item.kind is ValueKind.LITERAL and item.key in ("true", "false")

    def _flag_part(self, value: int) -> bool:
        item = self.b.values[value]
        while item.kind is ValueKind.BOUND:
            item = self.b.values[item.operands[0]]
        if item.kind is ValueKind.LITERAL:
            return item.key in ("true", "false")
        return (item.kind is ValueKind.PART and item.key == ".approved") or item.name == "bool"

    def boolean(self, node: ast.BoolOp) -> AV:
        """Read `and` and `or` with their short cuts."""
        stop_on = isinstance(node.op, ast.Or)
        ended: list[tuple[Point | None, AV]] = []
        hidden: list[int] = []
        for item in node.values[:-1]:
            true, false, value = self.test(item)
            ended.append((true if stop_on else false, value))
            hidden.append(value.value)
            self.here = false if stop_on else true
            if self.here is None:
                break
        else:
            ended.append((None, AV(None, -1)) if self.here is None else self._ended(node.values[-1]))
        return self.join_values(ended, node, tuple(hidden))

    def _ended(self, node: ast.expr) -> tuple[Point | None, AV]:
        value = self.expr(node)
        return self.here, value

    def conditional(self, node: ast.IfExp) -> AV:
        """Read `a if test else b`."""
        true, false, value = self.test(node.test)
        options: list[tuple[Point | None, AV]] = []
        for point, arm in ((true, node.body), (false, node.orelse)):
            self.here = point
            if point is not None:
                options.append(self._ended(arm))
        return self.join_values(options, node, (value.value,))

    def test(self, node: ast.expr) -> Way:
        """Read a condition; returns where control goes when it is true and when it is false, and its value."""
        if self.here is None:
            return None, None, AV(None, self.b.unbound())
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            true, false, value = self.test(node.operand)
            return false, true, value
        if isinstance(node, ast.BoolOp):
            return self._test_chain(node)
        if isinstance(node, ast.IfExp):
            return self._test_arms(node)
        if isinstance(node, ast.Call) and (every := self._every(node)) is not None:
            return self._test_members(node, every[0], stop_on=every[1])
        if isinstance(node, ast.Compare):
            return self._test_compare(node)
        return self.branch(self.expr(node), node)

    def branch(self, value: AV, node: ast.AST, fact: tuple[int, bool] | None = None) -> Way:
        """Let control part on the truth of a value."""
        if self.here is None:
            return None, None, value
        if isinstance(value.static, Const) and isinstance(node, ast.Constant):
            return (self.here, None, value) if value.static.value else (None, self.here, value)
        if isinstance(value.static, Awaitable | Generator):
            fact = None  # the call itself is always true; its answer is not known yet
        elif fact is None:
            fact = (value.value, True)
        index = self.step(Kind.BRANCH, node, text=self.text(node), value=value.value)
        other = (fact[0], not fact[1]) if fact is not None else None
        true = self.here.at([(index, Label.TRUE, fact)])
        false = self.here.at([(index, Label.FALSE, other)])
        return true, false, value

    def _test_chain(self, node: ast.BoolOp) -> Way:
        stop_on = isinstance(node.op, ast.Or)
        stopped: list[Point | None] = []
        values: list[int] = []
        going: Point | None = self.here
        for item in node.values:
            self.here = going
            true, false, value = self.test(item)
            values.append(value.value)
            stopped.append(true if stop_on else false)
            going = false if stop_on else true
            if going is None:
                break
        met = self.join(stopped, node)
        value = AV(None, self.b.derived(values, type(node.op).__name__))
        return (met, going, value) if stop_on else (going, met, value)

    def _every(self, node: ast.Call) -> tuple[list[ast.expr], bool] | None:
        """Return the members of `all([…])` or `any([…])`, and the truth that decides it."""
        if not isinstance(node.func, ast.Name) or node.func.id not in ("all", "any") or len(node.args) != 1:
            return None
        display = node.args[0]
        if not isinstance(display, ast.List | ast.Tuple) or any(isinstance(item, ast.Starred) for item in display.elts):
            return None
        static = self.expr(node.func).static
        known = isinstance(static, External) and static.path == f"builtins.{node.func.id}"
        return (display.elts, node.func.id == "any") if known else None

    def _test_members(self, node: ast.Call, members: list[ast.expr], *, stop_on: bool) -> Way:
        """Read `all([…])` and `any([…])`: every member is evaluated first, then each is tested."""
        values = [self.expr(item) for item in members]
        stopped: list[Point | None] = []
        for value, item in zip(values, members, strict=True):
            true, false, _ = self.branch(value, item)
            stopped.append(true if stop_on else false)
            self.here = false if stop_on else true
        met = self.join(stopped, node)
        whole = AV(None, self.b.derived((value.value for value in values), "all"))
        return (met, self.here, whole) if stop_on else (self.here, met, whole)

    def _test_arms(self, node: ast.IfExp) -> Way:
        true, false, value = self.test(node.test)
        yes: list[Point | None] = []
        no: list[Point | None] = []
        values = [value.value]
        for point, arm in ((true, node.body), (false, node.orelse)):
            self.here = point
            on_true, on_false, inner = self.test(arm)
            yes.append(on_true)
            no.append(on_false)
            values.append(inner.value)
        return self.join(yes, node), self.join(no, node), AV(None, self.b.derived(values, "if"))

    def _test_compare(self, node: ast.Compare) -> Way:
        parts = [self.expr(item) for item in (node.left, *node.comparators)]
        if self.here is None:
            return None, None, AV(None, self.b.unbound())
        value = AV(None, self.b.derived((part.value for part in parts), "compare"))
        fact = self._compared(node, parts)
        return self.branch(value, node, fact if fact is not None else (value.value, True))


READERS[ast.UnaryOp] = Conditions.unary
READERS[ast.Compare] = Conditions.compare
READERS[ast.BoolOp] = Conditions.boolean
READERS[ast.IfExp] = Conditions.conditional
