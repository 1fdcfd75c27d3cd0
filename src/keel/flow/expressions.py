"""Reads names, attributes, subscripts and operators: in which order, and what their value is computed from."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import Any

from keel.core.graph import Value, ValueKind
from keel.core.text import did_you_mean
from keel.flow import knowledge
from keel.flow.describe import describe
from keel.flow.modules import bound_names, flat, target_names
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


_OF_ANSWERS = knowledge.APPROVAL_FIELDS | {"__bool__", "__str__", "__repr__"}
_TEXTS = frozenset({"text", "Add", "Mod", ".join", ".format", "str", "repr", "ascii", "format"})
_COLLECTIONS = frozenset(
    {
        "list",
        "tuple",
        "set",
        "dict",
        "listcomp",
        "setcomp",
        "dictcomp",
        "generatorexp",
        "comprehension",
        "sorted",
        "reversed",
        "zip",
    }
    | {"enumerate", "items", "slice", "member", "attribute", ".copy", ".values", ".get"}
)


def _is_container(item: Value) -> bool:
    """Tell whether what a value was made of can be taken out of it again."""
    return item.name not in _TEXTS if item.kind is ValueKind.RENDERED else item.name in _COLLECTIONS


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

    # -- approvals ------------------------------------------------------------------------------

    def holds_answer(self, value: AV) -> bool:
        """Tell whether a value may be the answer of a gate, also one taken out of a container."""
        found: set[tuple[int, bool]] = set()
        stack = [(value.value, False)]
        while stack:
            index, inside = stack.pop()
            if (index, inside) in found or index < 0:
                continue
            found.add((index, inside))
            item = self.b.values[index]
            if item.kind is ValueKind.APPROVAL:
                return True
            if item.kind is ValueKind.PART and (item.key or "").removeprefix(".") in knowledge.APPROVAL_FIELDS:
                continue
            if item.kind in (ValueKind.PART, ValueKind.ELEMENT):
                inside = True
            elif item.kind in (ValueKind.DERIVED, ValueKind.RENDERED):
                if not (inside and _is_container(item)) and item.name != "member":
                    continue
                stack.extend((part, inside) for part in self.b.contents.get(index, ()))
            stack.extend((part, inside) for part in item.operands)
        return isinstance(value.static, Answer)

    def forging(self, node: ast.AST, what: str) -> AV:
        """Refuse what could make an approval say something else."""
        return self.dynamic(
            node,
            f"{what} could change an approval; only a person's answer makes one",
            "test it, read its fields, or write it into a text",
        )

    # -- entry ----------------------------------------------------------------------------------

    def expr(self, node: ast.expr) -> AV:
        """Read an expression; where control cannot come, nothing is read."""
        if self.here is None:
            return AV(None, self.b.unbound())
        reader = READERS.get(type(node))
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
        if (self.module.name, name) in self.world.reach.globals:
            return AV(self._late_global(name), self.b.outside(name))
        if name in knowledge.BUILTINS:
            return AV(External(f"builtins.{name}"), self.b.outside(name))
        if name in self.world.type_parameters(self.module):
            return AV(None, self.b.outside(name))
        hint = did_you_mean(name, [*self.module.symbols, *self.frame.scope.locals])
        self.report(
            "unresolved-name",
            f"`{name}` is defined neither in `{self.module.file}`, nor by its imports, nor by Python",
            node,
            hint or "define or import the name",
        )
        return AV(None, self.b.outside(name))

    def _late_global(self, name: str) -> Static | None:
        """Return what is known of a module-level name that only functions bind."""
        for function in self.module.nodes():
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if name not in self.world.scopes.of(function).globals:
                continue
            for item in flat(function):
                bound = isinstance(item, ast.Assign) and any(name in target_names(target) for target in item.targets)
                if bound and self.mentions_live(item, self.module, None):
                    return Unclear(f"`{name}` is bound by a function")
        return None

    def attribute(self, node: ast.Attribute) -> AV:
        """Read `base.name`."""
        return self.get_attribute(self.expr(node.value), node.attr, node)

    def get_attribute(self, base: AV, name: str, node: ast.AST) -> AV:  # noqa: C901, PLR0911, PLR0912 - one line for each kind of value
        """Return `base.name`."""
        static = base.static
        if name not in _OF_ANSWERS and self.holds_answer(base):
            return self.forging(node, f"`.{name}`")
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
            if node.slice.lower is node.slice.upper is node.slice.step is None:
                return AV(None, self.b.container((base.value,), ".copy"))
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

    def walrus(self, node: ast.NamedExpr) -> AV:
        """Read `name := value`."""
        value = self.expr(node.value)
        self.bind(node.target.id, value, node)
        return self.lookup(node.target.id, node.target) if self.here is not None else value

    # -- displays -------------------------------------------------------------------------------

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


READERS: dict[type, Callable[[Any, Any], AV]] = {
    ast.Constant: Expressions.constant,
    ast.Name: Expressions.name,
    ast.Attribute: Expressions.attribute,
    ast.Subscript: Expressions.subscript,
    ast.BinOp: Expressions.binary,
    ast.NamedExpr: Expressions.walrus,
    ast.Await: Expressions.await_,
    ast.Yield: Expressions.yield_,
    ast.YieldFrom: Expressions.yield_from_,
    ast.Call: lambda reader, node: reader.call(node),
    ast.ListComp: lambda reader, node: reader.comprehension(node),
    ast.SetComp: lambda reader, node: reader.comprehension(node),
    ast.DictComp: lambda reader, node: reader.comprehension(node),
    ast.GeneratorExp: lambda reader, node: reader.comprehension(node),
}
