"""Reads classes and objects of the project from which a tool is reachable."""

from __future__ import annotations

import ast

from keel.core.graph import Value, ValueKind
from keel.flow.describe import describe
from keel.flow.passing import Passed
from keel.flow.plaincalls import PlainCalls
from keel.flow.scope import Frame
from keel.flow.state import DENIED, OTHER
from keel.flow.values import (
    AV,
    Class,
    External,
    Func,
    Instance,
    Method,
    Static,
    Super,
)


class Classes(PlainCalls):
    """Definitions, and calls of code that reaches no tool."""

    # -- classes --------------------------------------------------------------------------------

    def class_(self, node: ast.ClassDef) -> AV:
        """Read a class definition."""
        cls = Class(node, self.module, node.name, scope=self.scope_frame())
        cls.live = any(
            self.mentions_live(item, self.module, cls.scope)
            for item in (*node.body, *node.decorator_list, *node.keywords)
        )
        bases = [self.expr(base) for base in node.bases]
        cls.bases = tuple(base.static for base in bases)
        cls.live = cls.live or any(isinstance(base, Class) and base.live for base in cls.bases)
        value = AV(cls, self.b.own(Value(ValueKind.OUTSIDE, name=node.name)))
        for base, syntax in zip(bases, node.bases, strict=True):
            if self.is_live(base) and not isinstance(base.static, Class):
                self.dynamic(syntax, f"{describe(base.static)} is a base class")
        self._class_decorators(cls, node)
        if cls.live:
            self._class_body(cls, node)
        return value

    def _class_decorators(self, cls: Class, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            static = self.expr(target).static if isinstance(target, ast.Name | ast.Attribute) else None
            path = static.path if isinstance(static, External) else ""
            if path in (
                "dataclasses.dataclass",
                "attr.s",
                "attr.define",
                "attrs.define",
                "attrs.frozen",
                "attr.frozen",
            ):
                cls.dataclass = True
            elif cls.live and path not in ("typing.final", "functools.total_ordering", "typing.runtime_checkable"):
                self.dynamic(
                    decorator,
                    f"the decorator on class `{node.name}`, from which a tool is reachable, cannot be followed",
                )
        if cls.live and node.keywords:
            self.dynamic(
                node, f"class `{node.name}`, from which a tool is reachable, has a metaclass or class arguments"
            )

    def _class_body(self, cls: Class, node: ast.ClassDef) -> None:
        before = self.class_attributes
        self.class_attributes = cls.attributes
        for item in node.body:
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                cls.attributes[item.name] = self.function(item, cls)
            elif isinstance(item, ast.Assign) and all(isinstance(target, ast.Name) for target in item.targets):
                value = self.expr(item.value)
                for target in item.targets:
                    assert isinstance(target, ast.Name)
                    cls.attributes[target.id] = value
            elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None:
                cls.attributes[item.target.id] = self.expr(item.value)
            elif self.mentions_live(item, self.module, cls.scope):
                self.dynamic(item, f"a statement in the body of class `{node.name}` reaches a tool")
        self.class_attributes = before
        for name, value in cls.attributes.items():
            if _implicit(name) and isinstance(value.static, Func) and self.is_live(value):
                self.dynamic(
                    value.static.node,
                    f"`{name}` of class `{node.name}` reaches a tool, and runs where no call is visible",
                    "call the tool in a method with a name of its own",
                )

    def method_of(self, cls: Class, name: str) -> Func | None:
        """Return a method of a class; bases are searched depth first."""
        found = self._attribute(cls, name)
        return found.static if found is not None and isinstance(found.static, Func) else None

    def _attribute(self, cls: Class, name: str) -> AV | None:
        stack: list[Class] = [cls]
        while stack:
            current = stack.pop(0)
            if name in current.attributes:
                return current.attributes[name]
            stack[:0] = [base for base in current.bases if isinstance(base, Class)]
        return None

    def member(self, base: AV, cls: Class, name: str, node: ast.AST) -> AV | None:
        """Read an attribute of an object or a class from which a tool is reachable."""
        static = base.static
        if isinstance(static, Instance) and name in static.attributes:
            held = static.attributes[name]
            return held if self.is_live(held) else AV(held.static, self.b.member(held.value, base.value))
        found = self._attribute(cls, name)
        if found is None:
            return None
        func = found.static
        if not isinstance(func, Func):
            return self.home(func, f"{cls.name}.{name}") if func is not None else None
        if func.kind == "property":
            if isinstance(static, Instance) and self.reading_needed(func):
                return self.invoke(func, [base], node)
            return None
        plain = AV(func, self.b.outside(f"{cls.name}.{name}"))
        if func.kind == "staticmethod":
            return plain
        if func.kind == "classmethod":
            receiver = AV(cls, base.value)
            return AV(Method(func, receiver, live=True), base.value)
        return AV(Method(func, base, live=True), base.value) if isinstance(static, Instance) else plain

    def inherited(self, base: Super, name: str, value: AV) -> AV:
        """Read `super().name`: the bases of the class the method is written in, depth first."""
        for parent in base.cls.bases:
            if isinstance(parent, Class):
                self._ensure_body(parent)
                func = self.method_of(parent, name)
                if func is not None:
                    return AV(Method(func, base.receiver, live=base.live or func.live), value.value)
        return AV(None, self.b.outside(name))

    def instantiate(self, cls: Class, passed: list[Passed], node: ast.AST) -> AV:
        """Create an object; objects from which a tool is reachable are followed, others are data."""
        operands = tuple(item.value.value for item in passed)
        if not cls.live and not any(self.is_live(item.value) for item in passed):
            return self._plain_object(cls, passed, node, operands)
        if any(
            isinstance(base, External)
            and base.path.rpartition(".")[2] in ("Enum", "Protocol", "NamedTuple", "TypedDict")
            for base in cls.bases
        ):
            return self.dynamic(
                node, f"class `{cls.name}`, from which a tool is reachable, is of a kind that cannot be followed"
            )
        self._ensure_body(cls)
        instance = Instance(cls)
        value = AV(instance, self.b.own(Value(ValueKind.DERIVED, operands, cls.name)))
        init = self.method_of(cls, "__init__")
        if init is not None:
            self._initialise(init, value, passed, node)
        else:
            self._fields(cls, instance, passed)
            post = self.method_of(cls, "__post_init__")
            if post is not None:
                self._initialise(post, value, [], node)
        return value

    def _ensure_body(self, cls: Class) -> None:
        """Read the body of a class that reaches no tool itself, once a tool is handed to it."""
        for base in cls.bases:
            if isinstance(base, Class):
                self._ensure_body(base)
        if cls.live or cls.attributes:
            return
        before = self.frame
        self.frame = cls.scope if cls.scope is not None else Frame(0, cls.module, self.world.scopes.of(cls.module.tree))
        self._class_body(cls, cls.node)
        self.frame = before

    def _initialise(self, init: Func, value: AV, passed: list[Passed], node: ast.AST) -> None:
        before, self.forced = self.forced, True
        self.invoke_passed(init, [Passed(value), *passed], node)
        self.forced = before

    def _fields(self, cls: Class, instance: Instance, passed: list[Passed]) -> None:
        names = [
            item.target.id
            for item in cls.node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        ]
        positional = [item for item in passed if not item.name and not item.star]
        for name, item in zip(names, positional, strict=False):
            instance.attributes[name] = item.value
        for item in passed:
            if item.name:
                instance.attributes[item.name] = item.value

    def _plain_object(self, cls: Class, passed: list[Passed], node: ast.AST, operands: tuple[int, ...]) -> AV:
        fresh = False
        for item in cls.node.body:
            if isinstance(item, ast.FunctionDef) and item.name in ("__init__", "__post_init__", "__new__"):
                summary = self.summaries.of(item, cls.module)
                self._effects(summary, node)
                fresh = fresh or summary.fresh
        self.may_raise(node)
        if cls.dataclass and all(item.name for item in passed) and not fresh:
            value = Value(ValueKind.RENDERED, operands, cls.name)
            return AV(cls_value(cls), self.b.own(value))
        if fresh:
            return AV(cls_value(cls), self.fresh(node, cls.name, operands))
        return AV(cls_value(cls), self.b.own(Value(ValueKind.DERIVED, operands, cls.name)))

    # -- context managers -----------------------------------------------------------------------

    def class_swallows(self, cls: Class) -> dict[str, bool]:
        """Return what `__exit__` of a project class may swallow: everything, unless it never returns a true value."""
        found = False
        stack: list[Class] = [cls]
        while stack:
            current = stack.pop()
            stack.extend(base for base in current.bases if isinstance(base, Class))
            for base in current.bases:
                if isinstance(base, External) and base.path.startswith("contextlib.") and "Abstract" not in base.path:
                    return {DENIED: False, OTHER: False}
            for item in current.node.body:
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name in ("__exit__", "__aexit__"):
                    found = True
                    if _may_return_true(item):
                        return {DENIED: False, OTHER: False}
                elif isinstance(item, ast.Assign) and any(
                    isinstance(target, ast.Name) and target.id in ("__exit__", "__aexit__") for target in item.targets
                ):
                    return {DENIED: False, OTHER: False}
        del found
        return {}

    def generator_swallows(self, func: Func) -> dict[str, bool]:
        """Return what a `@contextmanager` function of the project may swallow."""
        return {DENIED: False, OTHER: False} if _yield_guarded(func.node) else {}

    def made_by(self, name: str) -> ast.expr | None:
        """Return the one expression that a variable of the current function, or a module-level name, is made of."""
        statement: ast.AST | None = self.module.symbols.get(name)
        if self.active:
            for item in ast.walk(self.active[-1]):
                if isinstance(item, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in item.targets):
                    statement = item
        return statement.value if isinstance(statement, ast.Assign) else None


def cls_value(cls: Class) -> Static | None:
    """Return what is known of a plain object of a class."""
    del cls
    return None


def _implicit(name: str) -> bool:
    """Tell whether Python calls a method where no call is visible."""
    plain = ("__init__", "__post_init__", "__enter__", "__exit__", "__aenter__", "__aexit__", "__call__")
    return name.startswith("__") and name.endswith("__") and name not in plain


def _may_return_true(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a function may return anything but None or False."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Return) and item.value is not None:
            constant_ = isinstance(item.value, ast.Constant) and not item.value.value
            if not constant_:
                return True
        if isinstance(item, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(item))
    return False


def _yield_guarded(node: ast.AST) -> bool:
    """Tell whether a `yield` stands where an exception thrown into it could end: in `try` or `with`."""
    stack: list[tuple[ast.AST, bool]] = [(node, False)]
    while stack:
        item, guarded = stack.pop()
        if isinstance(item, ast.Yield | ast.YieldFrom) and guarded:
            return True
        handlers = getattr(item, "handlers", None)
        jumps = any(
            isinstance(deep, ast.Return | ast.Break | ast.Continue)
            for part in getattr(item, "finalbody", ())
            for deep in ast.walk(part)
        )
        inside = (
            guarded or bool(handlers) or jumps or (isinstance(item, ast.With | ast.AsyncWith) and _suspicious(item))
        )
        stack.extend((child, inside) for child in ast.iter_child_nodes(item))
    return False


def _suspicious(node: ast.With | ast.AsyncWith) -> bool:
    """Tell whether a `with` inside a context manager may swallow: by name, since its own reading is elsewhere."""
    names = {deep.id for item in node.items for deep in ast.walk(item.context_expr) if isinstance(deep, ast.Name)}
    names |= {
        deep.attr for item in node.items for deep in ast.walk(item.context_expr) if isinstance(deep, ast.Attribute)
    }
    return bool(names & {"suppress", "ignored", "ExitStack", "AsyncExitStack", "raises"})
