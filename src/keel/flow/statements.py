"""Reads statements one after the other: assignments, branches, jumps, definitions, `match`."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import Any

from keel.core.graph import ValueKind
from keel.flow.build import Point
from keel.flow.calls import Calls
from keel.flow.changing import in_place, scalar, unchangeable
from keel.flow.describe import describe
from keel.flow.scope import arguments
from keel.flow.state import BOTH, DENIED, ONLY_OTHER, Kinds, Mode
from keel.flow.values import (
    AV,
    Class,
    Const,
    External,
    Instance,
    Items,
    Keel,
    KeelModule,
    ModuleObject,
    Static,
    Table,
)


class Statements(Calls):
    """Simple statements and branches; loops, `try` and `with` are read in the layers above."""

    def block(self, body: list[ast.stmt]) -> None:
        """Read statements until control leaves; what follows can never run."""
        for index, statement in enumerate(body):
            if self.here is None:
                self._unreachable(body[index:])
                return
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Read one statement."""
        reader = READERS.get(type(node))
        if reader is not None:
            reader(self, node)
        else:
            self.dynamic(node, f"a statement of kind `{type(node).__name__}` is not understood")

    def _unreachable(self, body: list[ast.stmt]) -> None:
        """Read code where control cannot come, only to say so of the steps in it."""
        live = [item for item in body if self.mentions_live(item, self.module, self.scope_frame())]
        if not live or self.dead:
            return
        self.dead += 1
        self.here = Point([], {})
        first = len(self.b.nodes)
        try:
            for item in live:
                if self.gone():
                    self.here = Point([], {})
                self.statement(item)
        finally:
            self.dead -= 1
            self.here = None
        self.note_dead(first)

    def note_dead(self, first: int) -> None:
        """Report the steps from a node on, which were read where control cannot come."""
        raise NotImplementedError

    # -- binding --------------------------------------------------------------------------------

    def expression(self, node: ast.Expr) -> None:
        """Read an expression statement."""
        value = self.expr(node.value)
        self.discard(value)

    def discard(self, value: AV) -> None:
        """Let go of a value that nobody uses."""

    def assign(self, node: ast.Assign) -> None:
        """Read `a = b = value`."""
        value = self.expr(node.value)
        for target in node.targets:
            self.store(target, value, node)

    def annotated(self, node: ast.AnnAssign) -> None:
        """Read `a: T = value`."""
        if node.value is not None:
            self.store(node.target, self.expr(node.value), node)

    def augmented(self, node: ast.AugAssign) -> None:
        """Read `a += value`: a new value under the name, and for containers a change in place."""
        target = node.target
        if isinstance(target, ast.Name):
            old = self.lookup(target.id, target) if self.here is not None else AV(None, self.b.unbound())
            value = self.expr(node.value)
            self.plain(value, node, "added to a variable") if not isinstance(old.static, Items) else None
            if isinstance(old.static, Items):
                old.static.elements.extend(value.static.elements if isinstance(value.static, Items) else [value])
                old.static.exact = False
            if isinstance(old.static, Items | Table) or self._is_container(old.value):
                keeps = isinstance(node.op, ast.Add)
                self.change(old, node, (value,), text=f"{target.id} {operator(node)} …", keeps=keeps)
                self.bind(target.id, old, node)
                return
            if in_place(node.op, value) and not unchangeable(self.b, old.value, self.scalars()):
                self.change(old, node, (value,), text=f"{target.id} {operator(node)} …")
            operands = (old.value, value.value)
            rendered = isinstance(node.op, ast.Add) and (self._is_text(old) or self._is_text(value))
            self.bind(target.id, AV(None, self.b.derived(operands, type(node.op).__name__, rendered=rendered)), node)
            return
        value = self.expr(node.value)
        self.plain(value, node, "added to an attribute or an element")
        self._store_inside(target, value, node)

    def scalars(self) -> frozenset[str]:
        """Return the parameters of the flow whose annotation says that their objects never change."""
        if not self.active:
            return frozenset()
        return frozenset(item.arg for item in arguments(self.active[0].args) if scalar(item.annotation))

    def _is_container(self, value: int) -> bool:
        item = self.b.values[value]
        while item.kind is ValueKind.BOUND:
            item = self.b.values[item.operands[0]]
        return item.name in ("list", "dict", "set", "listcomp", "dictcomp", "setcomp", "comprehension", "list*", "set*")

    def store(self, target: ast.expr, value: AV, node: ast.AST) -> None:
        """Bind a target: a name, a pattern of names, an attribute or an element."""
        if self.here is None:
            return
        if isinstance(target, ast.Name):
            self.bind(target.id, value, node)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value, node)
        elif isinstance(target, ast.Starred):
            self.store(target.value, AV(value.static, self.b.derived((value.value,), "list", rendered=True)), node)
        else:
            self._store_inside(target, value, node)

    def _unpack(self, target: ast.Tuple | ast.List, value: AV, node: ast.AST) -> None:
        self.may_raise(node)
        static = value.static
        starred = any(isinstance(item, ast.Starred) for item in target.elts)
        if isinstance(static, Items) and static.exact and len(static.elements) == len(target.elts) and not starred:
            for item, part in zip(target.elts, static.elements, strict=True):
                self.store(item, part, node)
            return
        if self.is_live(value) and not isinstance(static, Instance):
            self.dynamic(node, f"{describe(static)} is unpacked, so that nobody can tell which name holds what")
            value = AV(None, value.value)
        for index, item in enumerate(target.elts):
            key = None if starred else str(index)
            self.store(item, AV(None, self.b.part(value.value, key)), node)

    def _store_inside(self, target: ast.expr, value: AV, node: ast.AST) -> None:
        """Read `base.name = value` and `base[index] = value`."""
        if not isinstance(target, ast.Attribute | ast.Subscript):
            return
        base = self.expr(target.value)
        name: str | None = None
        keys: tuple[str, ...] = ()
        if isinstance(target, ast.Attribute):
            name = target.attr
            keys = (f".{name}",)
        else:
            index = self.expr(target.slice)
            if isinstance(index.static, Const) and isinstance(index.static.value, str | int):
                known = index.static.value
                name = known if isinstance(known, str) else None
                keys = (json.dumps(known),)
        if self.here is None:
            return
        if self._rebinds(base, target, name, node):
            return
        self._keep(base, target, name, value, node)
        self.change(base, node, (value,), text=self.text(target, 60), keys=keys)

    def _rebinds(self, base: AV, target: ast.expr, name: str | None, node: ast.AST) -> bool:
        static = base.static
        what = self.text(target, 60)
        if isinstance(static, KeelModule | Keel) or (isinstance(static, External) and static.path.startswith("keel.")):
            self.dynamic(
                node,
                f"`{what}` rebinds a name of keel: what flows call is then no longer keel's",
                "remove the assignment",
            )
        elif isinstance(static, ModuleObject) and static.live:
            self.dynamic(
                node,
                f"`{what}` replaces a name of module `{static.name}` at run time",
                "choose with `if` between two names instead",
            )
        elif self.holds_answer(base) or (name == "approved" and isinstance(target, ast.Attribute)):
            self.dynamic(
                node, f"`{what}` writes into an approval; only a person's answer makes one", "remove the assignment"
            )
        elif isinstance(static, Class) and static.live:
            self.dynamic(node, f"`{what}` changes a class from which a tool is reachable")
        else:
            return False
        return True

    def _keep(self, base: AV, target: ast.expr, name: str | None, value: AV, node: ast.AST) -> None:
        """Remember what a container or an object holds now."""
        static = base.static
        if self.is_live(value) and self.shared(base) and not isinstance(static, Instance):
            self.dynamic(
                node,
                f"{describe(value.static)} is stored in `{self.text(target, 60)}`, where others can call it",
                "call it by its name, or write the mapping out where it is defined",
            )
            return
        if isinstance(static, Instance) and isinstance(target, ast.Attribute) and name is not None:
            self._keep_attribute(static, name, value, node)
        elif isinstance(static, Table):
            # which way the flow went is not known here: from now on any member may be any of them
            static.members[f"#{len(static.members)}"] = value
            static.exact = False
        elif isinstance(static, Items):
            static.elements.append(value)
            static.exact = False
        elif self.is_live(value):
            self.dynamic(node, f"{describe(value.static)} is stored, so that nobody can tell where it is called")

    def _keep_attribute(self, instance: Instance, name: str, value: AV, node: ast.AST) -> None:
        """Remember an attribute; one that is set twice may hold either value, by the way the flow went."""
        old = instance.attributes.get(name)
        if old is None:
            instance.attributes[name] = value
            return
        if (self.is_live(old) or self.is_live(value)) and old.static != value.static:
            self.dynamic(
                node, f"attribute `{name}` holds one of several tools or functions", "give each its own attribute"
            )
        known = old.static if old.static == value.static and value.live else None
        instance.attributes[name] = AV(known, self.b.derived((old.value, value.value), "attribute"))

    def shared(self, base: AV) -> bool:
        """Tell whether an object lives at module level, where others can reach it."""
        item = self.b.values[base.value]
        return self.mode is Mode.IMPORT or item.kind is ValueKind.OUTSIDE

    def delete(self, node: ast.Delete) -> None:
        """Read `del`."""
        for target in node.targets:
            if isinstance(target, ast.Name):
                key = self.key_of(target.id)
                if key is not None and self.here is not None and key in self.here.env:
                    self.here.bind(key, AV(None, self.b.unbound()))
            elif isinstance(target, ast.Attribute | ast.Subscript) and self.here is not None:
                base = self.expr(target.value)
                if isinstance(base.static, KeelModule | ModuleObject):
                    self.dynamic(node, f"`{self.text(target, 60)}` is removed at run time")
                self.change(base, node, text=f"del {self.text(target, 60)}")

    # -- branches and jumps ---------------------------------------------------------------------

    def branches(self, node: ast.If) -> None:
        """Read `if`/`elif`/`else`, however many arms there are."""
        if self.mode is Mode.IMPORT and _main_guard(node.test):
            self._program(node)
            return
        ends: list[Point | None] = []
        hidden: list[int] = []
        current: ast.If = node
        while True:
            true, false, value = self.test(current.test)
            hidden.append(value.value)
            self.here = true
            if true is None:
                self._unreachable(current.body)
            else:
                self.block(current.body)
            ends.append(self.here)
            self.here = false
            rest = current.orelse
            if len(rest) == 1 and isinstance(rest[0], ast.If) and self.here is not None:
                current = rest[0]
                continue
            if false is None:
                self._unreachable(rest)
            else:
                self.block(rest)
            ends.append(self.here)
            break
        self.here = self.join(ends, node, tuple(dict.fromkeys(hidden)))

    def _program(self, node: ast.If) -> None:
        """Read `if __name__ == "__main__"`: what runs there is a program that starts flows, not the import."""
        assert self.here is not None
        imported = self.here.fork()
        self.guarded = True
        self.block(node.body)
        self.guarded = False
        self.here = imported
        self.block(node.orelse)

    def assertion(self, node: ast.Assert) -> None:
        """Read `assert`: it may be compiled away, so it proves nothing."""
        value = self.expr(node.test)
        if self.here is not None and node.msg is not None:
            self.expr(node.msg)
        self.may_raise(node)
        del value

    def return_(self, node: ast.Return) -> None:
        """Read `return`."""
        none = AV(Const(None, "NoneType"), self.b.literal(None))
        value = self.expr(node.value) if node.value is not None else none
        if self.here is not None:
            self.targets.returns.append((self.here, value))
            self.here = None

    def break_(self, node: ast.Break) -> None:
        """Read `break`."""
        del node
        if self.here is not None:
            self.targets.breaks.append(self.here)
            self.here = None

    def continue_(self, node: ast.Continue) -> None:
        """Read `continue`."""
        del node
        if self.here is not None:
            self.targets.continues.append(self.here)
            self.here = None

    def raise_(self, node: ast.Raise) -> None:
        """Read `raise`."""
        kinds = self.caught[-1] if node.exc is None and self.caught else BOTH
        if node.exc is not None:
            value = self.expr(node.exc)
            self.thrown.append(value.value)
            kinds = self.kinds_of(value, node.exc)
        if node.cause is not None and self.here is not None:
            self.expr(node.cause)
        if self.here is not None:
            if self.targets.raises is not None:
                self.targets.raises.append((self.here, kinds))
            self.here = None

    def kinds_of(self, value: AV, node: ast.expr) -> Kinds:
        """Return which kinds of exception a raised value may be."""
        if isinstance(node, ast.Name) and value.static is None:
            key = self.key_of(node.id)
            held = self.handled.get(key) if key is not None else None
            return held if held is not None else BOTH
        target = node.func if isinstance(node, ast.Call) else node
        static = self.quiet(target)
        if isinstance(static, External):
            return frozenset({DENIED}) if static.path == "keel.ApprovalDenied" else ONLY_OTHER
        return ONLY_OTHER if isinstance(static, Class) else BOTH

    def quiet(self, node: ast.expr) -> Static | None:
        """Return what a name or attribute chain means, without reading it as a step."""
        if isinstance(node, ast.Name | ast.Attribute) and self.here is not None:
            return self.expr(node).static
        return None

    # -- definitions ----------------------------------------------------------------------------

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Read `def`: the function is bound, its defaults and decorators are evaluated, its body is not run."""
        value = self.function(node)
        if self.here is not None:
            self.bind(node.name, value, node)

    def define_class(self, node: ast.ClassDef) -> None:
        """Read `class`."""
        value = self.class_(node)
        if self.here is not None:
            self.bind(node.name, value, node)

    def import_(self, node: ast.Import) -> None:
        """Read `import` inside a function or at module level."""
        for item in node.names:
            name = item.name if item.asname else item.name.partition(".")[0]
            if item.asname is None and "." in item.name:
                self.world.imported(self.module, item.name, node)
            self.bind(item.asname or name, AV(self.world.imported(self.module, name, node), self.b.outside(name)), node)
        self.may_raise(node)

    def import_from(self, node: ast.ImportFrom) -> None:
        """Read `from … import`."""
        for item in node.names:
            if item.name == "*":
                continue
            static = self.world.import_from(self.module, node, item.name)
            self.bind(item.asname or item.name, self.home(static, item.asname or item.name), node)
        self.may_raise(node)

    def nothing(self, node: ast.stmt) -> None:
        """Read a statement that runs nothing: `pass`, `global`, `nonlocal`, `type`."""


def operator(node: ast.AugAssign) -> str:
    """Return the operator as written."""
    return {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.BitOr: "|="}.get(type(node.op), "?=")


def _main_guard(test: ast.expr) -> bool:
    """Tell whether a condition is `__name__ == "__main__"`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = {
        item.id if isinstance(item, ast.Name) else item.value if isinstance(item, ast.Constant) else None
        for item in (test.left, *test.comparators)
    }
    return sides == {"__name__", "__main__"}


READERS: dict[type, Callable[[Any, Any], None]] = {
    ast.Expr: Statements.expression,
    ast.Assign: Statements.assign,
    ast.AnnAssign: Statements.annotated,
    ast.AugAssign: Statements.augmented,
    ast.Delete: Statements.delete,
    ast.If: Statements.branches,
    ast.Assert: Statements.assertion,
    ast.Return: Statements.return_,
    ast.Break: Statements.break_,
    ast.Continue: Statements.continue_,
    ast.Raise: Statements.raise_,
    ast.FunctionDef: Statements.define,
    ast.AsyncFunctionDef: Statements.define,
    ast.ClassDef: Statements.define_class,
    ast.Import: Statements.import_,
    ast.ImportFrom: Statements.import_from,
    ast.Pass: Statements.nothing,
    ast.Global: Statements.nothing,
    ast.Nonlocal: Statements.nothing,
}
if hasattr(ast, "TypeAlias"):
    READERS[ast.TypeAlias] = Statements.nothing
