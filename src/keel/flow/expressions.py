"""Reads expressions: what they evaluate in which order, what their value is computed from, which way a test goes."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import Any

from keel.core.graph import Kind, Label, Value, ValueKind
from keel.core.text import did_you_mean
from keel.flow import knowledge
from keel.flow.build import Point
from keel.flow.modules import bound_names
from keel.flow.scope import dotted
from keel.flow.state import State
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
    KeelModule,
    Method,
    ModuleObject,
    Partial,
    Pending,
    ReasonerDef,
    Static,
    Super,
    Table,
    TaskGroup,
    Tool,
    Unclear,
)
from keel.flow.world import Missing

_HARMLESS = frozenset({"__name__", "__qualname__", "__doc__", "__module__", "name", "key", "__class__"})
Way = tuple[Point | None, Point | None, AV]


class Expressions(State):
    """Expressions; calls, comprehensions and `await` are read in the layers above."""

    def call(self, node: ast.Call) -> AV:
        """Read a call."""
        raise NotImplementedError

    def awaited(self, value: AV, node: ast.AST) -> AV:
        """Read `await`."""
        raise NotImplementedError

    def comprehension(self, node: ast.expr) -> AV:
        """Read a comprehension or a generator expression."""
        raise NotImplementedError

    def member(self, base: AV, cls: Class, name: str, node: ast.AST) -> AV | None:
        """Read an attribute of an object or a class of the project."""
        raise NotImplementedError

    def inherited(self, base: Super, name: str, value: AV) -> AV:
        """Read `super().name`."""
        raise NotImplementedError

    def yielded(self, value: AV, node: ast.AST) -> AV:
        """Read `yield`."""
        raise NotImplementedError

    def yield_from(self, value: AV, node: ast.AST) -> AV:
        """Read `yield from`."""
        raise NotImplementedError

    # -- entry ----------------------------------------------------------------------------------

    def expr(self, node: ast.expr) -> AV:
        """Read an expression; where control cannot come, nothing is read."""
        if self.here is None:
            return AV(None, self.b.unbound())
        reader = _READERS.get(type(node))
        return reader(self, node) if reader is not None else self._other(node)

    def _other(self, node: ast.AST) -> AV:
        """Read an expression of a kind this version does not know by its parts."""
        parts = [self.expr(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if any(self.is_live(part) for part in parts):
            return self.dynamic(node, f"a tool is used inside `{self.text(node, 60)}`, which cannot be followed")
        return AV(None, self.b.derived((part.value for part in parts), type(node).__name__))

    def plain(self, value: AV, node: ast.AST, what: str) -> AV:
        """Refuse a tool where only plain data can be followed."""
        if self.is_live(value):
            self.dynamic(node, f"{describe(value.static)} is {what}, so that nobody can tell where it is called")
        return value

    # -- leaves ---------------------------------------------------------------------------------

    def constant(self, node: ast.Constant) -> AV:
        """Read a literal."""
        value = node.value
        if value is None or isinstance(value, str | int | float | bool):
            return AV(Const(value, type(value).__name__), self.b.literal(value))
        return AV(None, self.b.value(Value(ValueKind.LITERAL, key=f"<{type(value).__name__} {value!r}>")))

    def name(self, node: ast.Name) -> AV:
        """Read a name."""
        return self.lookup(node.id, node)

    def lookup(self, name: str, node: ast.AST) -> AV:
        """Return what a name holds here."""
        assert self.here is not None
        key = self.key_of(name)
        if key is not None:
            held = self.here.env.get(key)
            if held is not None:
                if isinstance(held.static, Pending):
                    held.static.read = True
                    if held.static.turned_live:
                        return self.dynamic(
                            node,
                            f"`{name}` is a tool only after a round of the loop before",
                            "give each tool its own name",
                        )
                return held
            if key[0] != 0:
                return self._captured(key[0], name, node)
        return self._global(name, node)

    def _captured(self, number: int, name: str, node: ast.AST) -> AV:
        frame = self.frame_of(number)
        saved = frame.saved.get(name) if frame is not None else None
        if saved is not None:
            return self.home(saved.static, name)
        if frame is not None and frame.scope.locals and self.dead == 0 and self.mentions_live(node, self.module, None):
            return self.dynamic(node, f"`{name}` is used before it is bound")
        return AV(None, self.b.unbound())

    def _global(self, name: str, node: ast.AST) -> AV:
        found = self.world.symbol(self.module, name)
        if not isinstance(found, Missing):
            return self.home(found, name)
        if name in knowledge.BUILTINS:
            return AV(External(f"builtins.{name}"), self.b.outside(name))
        hint = did_you_mean(name, [*self.module.symbols, *self.frame.scope.locals])
        self.report(
            "unresolved-name",
            f"`{name}` is defined neither in `{self.module.file}`, nor by its imports, nor by Python",
            node,
            hint or "define or import the name",
        )
        return AV(None, self.b.outside(name))

    def attribute(self, node: ast.Attribute) -> AV:
        """Read `base.name`."""
        return self.get_attribute(self.expr(node.value), node.attr, node)

    def get_attribute(self, base: AV, name: str, node: ast.AST) -> AV:  # noqa: C901, PLR0911, PLR0912 - one line for each kind of value
        """Return `base.name`."""
        static = base.static
        if isinstance(static, KeelModule):
            found = self.world.keel(name)
            return AV(found, self.b.outside(f"keel.{name}"))
        if isinstance(static, ModuleObject):
            inside = self.world.attribute(static.name, name)
            if isinstance(inside, Missing):
                self.report("unresolved-name", f"module `{static.name}` defines no `{name}`", node, "correct the name")
                return AV(None, self.b.outside(name))
            return self.home(inside, f"{static.name}.{name}")
        if isinstance(static, External):
            return AV(External(f"{static.path}.{name}"), self.b.outside(f"{static.path}.{name}"))
        if isinstance(static, Instance | Class):
            cls = static.cls if isinstance(static, Instance) else static
            found_member = self.member(base, cls, name, node)
            if found_member is not None:
                return found_member
            known = class_constant(cls, name) if isinstance(static, Class) else None
            if known is not None:
                return self.constant(known)
            if name == "__class__" and isinstance(static, Instance):
                return AV(cls, base.value)
            if name.startswith("__") and name not in _HARMLESS and self.is_live(base):
                return self.dynamic(node, f"`{name}` of {describe(static)} gives what it holds past its names")
            return AV(None, self.b.part(base.value, f".{name}"))
        if isinstance(static, Const) and name == "value":
            return base  # a member of an enumeration
        if isinstance(static, Super):
            return self.inherited(static, name, base)
        if isinstance(static, Tool | Awaitable | TaskGroup | Items | Table):
            return AV(Attribute(base, name), self.b.part(base.value, f".{name}"))
        if isinstance(static, Partial) and name == "func":
            return static.target
        if isinstance(static, ReasonerDef | AgentDef | Func | Method | Keel | Generator) and self.is_live(base):
            return self._keel_attribute(base, name, node)
        if isinstance(static, Unclear):
            return self.dynamic(node, f"`{self.text(node, 60)}` is read from something unclear: {static.why}")
        self.may_raise(node) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) else None
        return AV(None, self.b.part(base.value, f".{name}"))

    def _keel_attribute(self, base: AV, name: str, node: ast.AST) -> AV:
        if name in _HARMLESS or isinstance(base.static, ReasonerDef | AgentDef):
            return AV(None, self.b.outside(name))
        if isinstance(base.static, Keel) and base.static.name == "Approval":
            return AV(None, self.b.outside(name))
        if isinstance(base.static, Func | Method) and name in (
            "__wrapped__",
            "__call__",
            "__func__",
            "__get__",
            "__code__",
        ):
            return self.dynamic(node, f"`{name}` of {describe(base.static)} reaches it past what the reader follows")
        return AV(None, self.b.part(base.value, f".{name}"))

    def subscript(self, node: ast.Subscript) -> AV:
        """Read `base[index]`."""
        base = self.expr(node.value)
        index = self.expr(node.slice)
        static = base.static
        if isinstance(static, External):
            return AV(static, base.value)  # a generic alias such as `dict[str, int]`
        if isinstance(static, Class):
            return base
        key = index.static.value if isinstance(index.static, Const) else None
        if isinstance(static, Table):
            if static.exact and isinstance(key, str) and key in static.members:
                return static.members[key] if static.members[key].live else self._part(base, index, node, key)
            return self._choose(node) if self.is_live(base) else self._part(base, index, node, key)
        if isinstance(static, Items):
            if static.exact and isinstance(key, int) and -len(static.elements) <= key < len(static.elements):
                held = static.elements[key]
                return held if held.live else AV(held.static, self.b.member(held.value, base.value))
            return self._choose(node) if self.is_live(base) else self._part(base, index, node, key)
        if self.is_live(base):
            return self.dynamic(node, f"{describe(static)} is subscripted, so that nobody can tell which tool it gives")
        return self._part(base, index, node, key)

    def _choose(self, node: ast.AST) -> AV:
        return self.dynamic(
            node,
            f"`{self.text(node, 60)}` chooses a tool at run time, so that nobody can tell which one runs",
            "write `if` or `match` with one call for each tool",
        )

    def _part(self, base: AV, index: AV, node: ast.Subscript, key: Any) -> AV:
        self.may_raise(node)
        if isinstance(node.slice, ast.Slice):
            return AV(None, self.b.derived((base.value, index.value), "slice"))
        if isinstance(index.static, Const) and key is not None:
            part = self.b.part(base.value, json.dumps(key))
            if self.b.values[part].kind is ValueKind.PART and self.dead == 0:
                self.b.reads[(part, self.span(node))] = None
            return AV(None, part)
        return AV(None, self.b.part(base.value, None, (index.value,)))

    # -- operators ------------------------------------------------------------------------------

    def binary(self, node: ast.BinOp) -> AV:
        """Read a chain of operators from its left end, however long it is."""
        chain: list[ast.BinOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            chain.append(left)
            left = left.left
        value = self.expr(left)
        for item in reversed(chain):
            value = self._operate(item, value, self.expr(item.right))
        return value

    def _operate(self, node: ast.BinOp, left: AV, right: AV) -> AV:
        self.plain(left, node, "an operand")
        self.plain(right, node, "an operand")
        folded = _fold(node.op, left.static, right.static)
        if folded is not None:
            return AV(Const(folded, type(folded).__name__), self.b.literal(folded))
        if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod | ast.Pow | ast.MatMult):
            self.may_raise(node)
        text = self._is_text(left) or self._is_text(right)
        rendered = text and isinstance(node.op, ast.Add | ast.Mod)
        return AV(None, self.b.derived((left.value, right.value), type(node.op).__name__, rendered=rendered))

    def _is_text(self, value: AV) -> bool:
        if isinstance(value.static, Const):
            return isinstance(value.static.value, str)
        item = self.b.values[value.value]
        return item.kind is ValueKind.RENDERED or isinstance(value.static, Items)

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

    def walrus(self, node: ast.NamedExpr) -> AV:
        """Read `name := value`."""
        value = self.expr(node.value)
        self.bind(node.target.id, value, node)
        return self.lookup(node.target.id, node.target) if self.here is not None else value

    # -- tests ----------------------------------------------------------------------------------

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

    # -- displays -------------------------------------------------------------------------------

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
        value = Value(ValueKind.RENDERED, operands, type(node).__name__.lower())
        make = self.b.value if isinstance(node, ast.Tuple) else self.b.own
        return AV(Items(elements, exact and not isinstance(node, ast.Set)), make(value))

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
        made = self.b.own(Value(ValueKind.RENDERED, tuple(operands), "dict", keys=known))
        return AV(Table(members, exact), made)

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

    def await_(self, node: ast.Await) -> AV:
        """Read `await`."""
        return self.awaited(self.expr(node.value), node)

    def yield_(self, node: ast.Yield) -> AV:
        """Read `yield`."""
        value = self.expr(node.value) if node.value is not None else AV(Const(None, "NoneType"), self.b.literal(None))
        return self.yielded(value, node)

    def yield_from_(self, node: ast.YieldFrom) -> AV:
        """Read `yield from`."""
        return self.yield_from(self.expr(node.value), node)


def _fold(operator: ast.operator, left: Static | None, right: Static | None) -> Any:
    """Compute a constant from two, where that is small and cannot fail."""
    if not isinstance(left, Const) or not isinstance(right, Const):
        return None
    one, two = left.value, right.value
    if isinstance(one, str) and isinstance(two, str) and isinstance(operator, ast.Add):
        return one + two if len(one) + len(two) < 10_000 else None
    if type(one) in (int, float) and type(two) in (int, float) and max(abs(one), abs(two)) < 10**9:
        if isinstance(operator, ast.Add):
            return one + two
        if isinstance(operator, ast.Sub):
            return one - two
        if isinstance(operator, ast.Mult):
            return one * two
    return None


def class_constant(cls: Class, name: str) -> ast.Constant | None:
    """Return the literal that the body of a class gives a name, if that is all it does."""
    found = [
        item.value
        for item in cls.node.body
        if isinstance(item, ast.Assign | ast.AnnAssign) and name in set(bound_names(item))
    ]
    return found[0] if len(found) == 1 and isinstance(found[0], ast.Constant) else None


def describe(static: Static | None) -> str:  # noqa: PLR0911 - one line for each kind of value
    """Return words for a value through which a tool can be reached."""
    if isinstance(static, Tool):
        return f"tool `{static.key}`"
    if isinstance(static, AgentDef):
        return f"agent `{static.name}`"
    if isinstance(static, Func):
        return (
            "a lambda that reaches a tool" if static.name == "<lambda>" else f"`{static.name}`, which reaches a tool,"
        )
    if isinstance(static, Method):
        return f"`{static.func.name}`, which reaches a tool,"
    if isinstance(static, Class | Instance):
        cls = static.cls if isinstance(static, Instance) else static
        return f"class `{cls.name}`, from which a tool is reachable,"
    if isinstance(static, Keel):
        return f"keel's `{static.name}`"
    if isinstance(static, KeelModule):
        return "the module `keel`"
    if isinstance(static, ModuleObject):
        return f"module `{static.name}`, which holds tools,"
    if isinstance(static, Awaitable):
        return f"the un-awaited call of {static.what}"
    return "a value from which a tool is reachable"


_READERS: dict[type, Callable[[Any, Any], AV]] = {
    ast.Constant: Expressions.constant,
    ast.Name: Expressions.name,
    ast.Attribute: Expressions.attribute,
    ast.Subscript: Expressions.subscript,
    ast.BinOp: Expressions.binary,
    ast.UnaryOp: Expressions.unary,
    ast.Compare: Expressions.compare,
    ast.BoolOp: Expressions.boolean,
    ast.IfExp: Expressions.conditional,
    ast.NamedExpr: Expressions.walrus,
    ast.List: Expressions.sequence,
    ast.Tuple: Expressions.sequence,
    ast.Set: Expressions.sequence,
    ast.Dict: Expressions.mapping,
    ast.JoinedStr: Expressions.formatted,
    ast.Lambda: Expressions.make_lambda,
    ast.Slice: Expressions.slice,
    ast.Starred: Expressions.starred,
    ast.Await: Expressions.await_,
    ast.Yield: Expressions.yield_,
    ast.YieldFrom: Expressions.yield_from_,
    ast.Call: lambda reader, node: reader.call(node),
    ast.ListComp: lambda reader, node: reader.comprehension(node),
    ast.SetComp: lambda reader, node: reader.comprehension(node),
    ast.DictComp: lambda reader, node: reader.comprehension(node),
    ast.GeneratorExp: lambda reader, node: reader.comprehension(node),
}
if hasattr(ast, "TemplateStr"):
    _READERS[ast.TemplateStr] = Expressions.formatted
__all__ = ["Expressions", "Way", "describe", "dotted"]
_ = Answer
