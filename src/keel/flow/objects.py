"""Reads plain objects of project classes, and what code stores in classes and modules at run time."""

from __future__ import annotations

import ast

from keel.core.graph import Value, ValueKind
from keel.flow.classes import Classes
from keel.flow.modules import flat
from keel.flow.passing import Passed, bind
from keel.flow.values import AV, Class, External, Func, ModuleObject

_METHOD_KINDS = {
    "property": "property",
    "cached_property": "property",
    "functools.cached_property": "property",
    "staticmethod": "staticmethod",
}


class Objects(Classes):
    """Objects from which no tool is reachable: their fields, and their methods read in place."""

    def _plain_object(self, cls: Class, passed: list[Passed], node: ast.AST, operands: tuple[int, ...]) -> AV:
        made = super()._plain_object(cls, passed, node, operands)
        item = self.b.values[made.value]
        fields = fields_of(cls, passed)
        if fields and item.kind is not ValueKind.RESULT:
            kind = ValueKind.RENDERED if cls.dataclass else item.kind
            keys = tuple(f".{name}" for name in fields)
            known = tuple(value.value for value in fields.values())
            rest = tuple(value for value in operands if value not in known)
            made = AV(made.static, self.b.own(Value(kind, (*known, *rest), cls.name, keys=keys)))
        self.made[made.value] = cls
        return made

    def class_of(self, value: int) -> Class | None:
        """Return the class of a plain object that was made in this flow."""
        item = self.b.values[value]
        while item.kind is ValueKind.BOUND or item.name == "member":
            value = item.operands[0]
            item = self.b.values[value]
        return self.made.get(value)

    def get_attribute(self, base: AV, name: str, node: ast.AST) -> AV:
        """Return `base.name`: a property is read in place, what may be stored at run time is no constant."""
        static = base.static
        if static is None and self.made:
            func = self._method(base, name)
            if func is not None and func.kind == "property":
                passed = [Passed(base)]
                return self.plain_function(func, bind(func.node.args, passed), passed, node)
        if isinstance(static, Class | ModuleObject) and not static.live and name in self.summaries.stored:
            return AV(None, self.b.part(self._place_of(static), f".{name}"))
        found = super().get_attribute(base, name, node)
        if isinstance(static, ModuleObject) and self.b.values[found.value].name == f"{static.name}.{name}":
            # one object, however the module is named where it is read
            return AV(found.static, self.b.outside(name))
        return found

    def _global(self, name: str, node: ast.AST) -> AV:
        found = super()._global(name, node)
        statement = self.module.symbols.get(name)
        if isinstance(statement, ast.ImportFrom) and self.b.values[found.value].kind is ValueKind.OUTSIDE:
            original = next((item.name for item in statement.names if item.asname == name), name)
            return AV(found.static, self.b.outside(original))
        if name in self.summaries.stored and not found.live and not isinstance(found.static, Func | Class | External):
            own = isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)
            if own:
                return AV(None, self.b.part(self._place_of(ModuleObject(self.module.name)), f".{name}"))
        return found

    def _place_of(self, static: Class | ModuleObject) -> int:
        """Return the value that stands for the attributes of a class or a module, from wherever it is seen."""
        path = static.name if isinstance(static, ModuleObject) else f"{static.module.name}:{static.name}"
        return self.b.outside(f"attributes of {path}")

    def change(
        self,
        value: AV,
        node: ast.AST,
        added: tuple[AV, ...] = (),
        text: str = "",
        *,
        keeps: bool = False,
        keys: tuple[str, ...] = (),
        sure: bool = True,
    ) -> None:
        """Record a change in place; of a class or a module it is the attributes that change."""
        if isinstance(value.static, Class | ModuleObject):
            value = AV(value.static, self._place_of(value.static))
        super().change(value, node, added, text, keeps=keeps, keys=keys, sure=sure)

    def plain_method(self, base: AV, name: str, passed: list[Passed], node: ast.AST) -> AV:
        """Call a method of plain data; of an object that was made here it is read in place."""
        func = self._method(base, name) if base.static is None and self.made else None
        if func is None or func.kind == "property" or any(self.is_live(item.value) for item in passed):
            return super().plain_method(base, name, passed, node)
        given = passed if func.kind == "staticmethod" else [Passed(base), *passed]
        return self.plain_function(func, bind(func.node.args, given), given, node)

    def _method(self, base: AV, name: str) -> Func | None:
        cls = self.class_of(base.value)
        return method_of_plain(cls, name) if cls is not None else None


def method_of_plain(cls: Class, name: str) -> Func | None:
    """Return a method of a plain class or of its bases in the project; None when its decorators say nothing."""
    for item in cls.node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == name:
            words = [ast.unparse(decorator) for decorator in item.decorator_list]
            if any(word not in _METHOD_KINDS for word in words):
                return None
            func = Func(item, cls.module, name, cls.scope, owner=cls)
            func.kind = _METHOD_KINDS[words[0]] if words else ""
            return func
    for base in cls.bases:
        found = method_of_plain(base, name) if isinstance(base, Class) else None
        if found is not None:
            return found
    return None


def fields_of(cls: Class, passed: list[Passed]) -> dict[str, AV]:
    """Return the attributes that hold an argument as it was passed, by name; none where that is not plain to see."""
    if any(item.star for item in passed) or any(isinstance(base, Class) for base in cls.bases):
        return {}
    methods = {item.name: item for item in cls.node.body if isinstance(item, ast.FunctionDef)}
    if any(name in methods for name in ("__new__", "__post_init__", "__getattribute__", "__setattr__")):
        return {}
    init = methods.get("__init__")
    if init is not None:
        return _initialised(init, passed)
    named = any(isinstance(base, External) and base.path == "typing.NamedTuple" for base in cls.bases)
    if not cls.dataclass and not named:
        return {}
    names = [
        item.target.id
        for item in cls.node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        if "ClassVar" not in ast.unparse(item.annotation)
    ]
    found = dict(zip(names, (item.value for item in passed if not item.name), strict=False))
    found.update((item.name, item.value) for item in passed if item.name in names)
    return found


def _initialised(init: ast.FunctionDef, passed: list[Passed]) -> dict[str, AV]:
    """Return what `self.name = parameter` in `__init__` stores, where that is the only assignment of both."""
    args = init.args
    receiver = next((item.arg for item in (*args.posonlyargs, *args.args)), "")
    bound = bind(args, [Passed(AV(None, -1)), *passed]).by_name
    nodes = flat(init)
    stores = [item.attr for item in nodes if isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store)]
    rebound = {item.id for item in nodes if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)}
    found: dict[str, AV] = {}
    for item in init.body:
        if not isinstance(item, ast.Assign | ast.AnnAssign) or not isinstance(item.value, ast.Name):
            continue
        source = item.value.id
        for target in item.targets if isinstance(item, ast.Assign) else [item.target]:
            if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
                continue
            once = target.value.id == receiver and stores.count(target.attr) == 1
            if once and source in bound and source not in rebound and source != receiver:
                found[target.attr] = bound[source]
    return found
