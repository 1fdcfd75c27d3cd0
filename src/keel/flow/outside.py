"""Reads calls of code that cannot be looked into: no tool may be handed to it."""

from __future__ import annotations

import ast

from keel.core.graph import Value, ValueKind
from keel.flow import knowledge
from keel.flow.changing import held_methods
from keel.flow.describe import describe
from keel.flow.displays import Displays
from keel.flow.passing import Passed, spread
from keel.flow.scope import Frame
from keel.flow.state import Mode
from keel.flow.values import (
    AV,
    Attribute,
    Awaitable,
    Const,
    External,
    Func,
    Generator,
    Items,
    Partial,
    Static,
    Super,
    Table,
    innermost,
)


class Outside(Displays):
    """Calls of libraries and of unknown values."""

    guarded = False
    """Whether what is read runs when a module is started as a program: flows may be started there."""

    def apply(self, callee: AV, passed: list[Passed], node: ast.AST) -> AV:
        """Call a value."""
        raise NotImplementedError

    def concurrent(self, path: str, passed: list[Passed], node: ast.Call) -> AV | None:
        """Call one of the understood functions of `asyncio`; None for any other."""
        raise NotImplementedError

    def opened(self, passed: list[Passed]) -> list[Passed]:
        """Replace unpacked containers by their content, as long as nobody has changed them; others stay unpacked."""
        found: list[Passed] = []
        for item in passed:
            changed = item.star and any(part in self.b.contents for part in self.objects(item.value.value))
            found.extend([item] if changed else spread([item]))
        return found

    def opaque(self, name: str, callee: AV, passed: list[Passed], node: ast.AST) -> AV:
        """Call something unknown: it is assumed to call no tool, so no tool may be handed to it."""
        if any(self.holds_answer(item.value) for item in passed):
            self.forging(node, f"`{name or self.text(node, 60)}`, which is not known,")
        self.refuse_live(name or "an unknown callable", passed, node)
        self.call_held(callee, tuple(item.value for item in passed), node)
        self.call_back(passed, node)
        operands = (callee.value, *(item.value.value for item in passed))
        return AV(None, self.fresh(node, name, operands))

    def call_held(self, callee: AV, given: tuple[AV, ...], node: ast.AST) -> None:
        """Call what may be a method held under a name: `add = items.append; add(x)` changes `items`."""
        for base, name in held_methods(self.b, callee.value):
            if name in knowledge.MUTATORS or self.changes_itself(name):
                self.change(AV(None, base), node, given, text=self.text(node, 80))

    def call_back(self, passed: list[Passed], node: ast.AST) -> None:
        """Let code that cannot be looked into call the functions that it is handed, with anything it was handed."""
        given = tuple(item.value for item in passed)
        for item in passed:
            static = item.value.static
            if isinstance(static, Partial):
                static = static.target.static
            if isinstance(static, Func):
                self.run_back(static, given, node)
            elif isinstance(static, Attribute) and static.name in knowledge.MUTATORS:
                self.change(static.base, node, given, text=self.text(node, 80))
            else:
                self.call_held(item.value, given, node)

    def changes_itself(self, name: str) -> bool:
        """Tell whether a method of that name in a class of the project may change its object."""
        raise NotImplementedError

    def run_back(self, func: Func, given: tuple[AV, ...], node: ast.AST) -> None:
        """Do what a function changes that somebody unknown calls."""
        raise NotImplementedError

    def refuse_live(self, name: str, passed: list[Passed], node: ast.AST) -> None:
        """Report every argument through which a tool can be reached."""
        for item in passed:
            if self.guarded and isinstance(item.value.static, Awaitable | Func | Partial):
                self._started_by(item.value, node)
            elif self.is_live(item.value):
                self.give_up(item.value)
                self.dynamic(
                    node,
                    f"{describe(item.value.static)} is handed to `{name}`, which may call it where nobody sees",
                    "call the tool in the flow itself, in a loop or a comprehension where needed",
                )

    def _started_by(self, value: AV, node: ast.AST) -> None:
        """Read what a program hands to `asyncio.run` and the like: it runs there."""
        made = value if isinstance(value.static, Awaitable) else self.apply(value, [], node)
        self.awaited(made, node)

    def give_up(self, value: AV) -> None:
        """Stop expecting that an un-awaited call is awaited: what happens to it is reported already."""
        for item in innermost(value.static):
            if isinstance(item, Awaitable):
                item.used = True

    def external(self, path: str, passed: list[Passed], node: ast.AST) -> AV:  # noqa: C901, PLR0912 - a table of cases
        """Call something of the standard library or of a package from outside."""
        passed = self.opened(passed)
        if path.startswith(knowledge.FORGERS) and any(self.holds_answer(item.value) for item in passed):
            return self.forging(node, f"`{path.removeprefix('builtins.')}`")
        if isinstance(node, ast.Call):
            done = self.concurrent(path, passed, node)
            if done is not None:
                return done
        if path == "builtins.super":
            return self._super()
        if path == "builtins.getattr" and passed:
            return self._getattr(passed, node)
        if path in knowledge.CONSUMERS:
            passed = [self._drained(item, node) for item in passed]
        if path not in _LOOKS_ONLY:
            self.refuse_live(path.removeprefix("builtins."), passed, node)
            self.call_back(passed, node)
        if path == "builtins.setattr" and passed:
            self._setattr(passed, node)
        if knowledge.is_outside_io(path):
            self.unmediated(path, node)
        operands = tuple(item.value.value for item in passed)
        if path in knowledge.MUTATING_CALLS and passed:
            self.change(passed[0].value, node, tuple(item.value for item in passed[1:]), text=self.text(node, 60))
        elif knowledge.is_silent(path):
            self.may_raise(node)
            return AV(Const(None, "NoneType"), self.b.literal(None))
        elif knowledge.is_pure(path):
            if path not in knowledge.PURE or path in ("builtins.int", "builtins.float", "builtins.min", "builtins.max"):
                self.may_raise(node)
            value = self._computed(path, passed)
            if path in (
                "builtins.list",
                "builtins.dict",
                "builtins.set",
                "collections.deque",
                "collections.defaultdict",
            ):
                value = self.b.container(operands, path.removeprefix("builtins."))
                return AV(self._copied(path, passed), value)
            return AV(None, value)
        return AV(None, self.fresh(node, path.removeprefix("builtins."), operands))

    def _computed(self, path: str, passed: list[Passed]) -> int:
        """Return what a call that only computes gives; a function that orders or writes elements is no part of it."""
        operands = tuple(item.value.value for item in passed)
        name = path.removeprefix("builtins.")
        rendered = path in knowledge.RENDERING
        hidden: tuple[int, ...] = ()
        if path == "builtins.sorted":
            hidden = tuple(item.value.value for item in passed if item.name)
            operands = tuple(item.value.value for item in passed if not item.name)
        elif path == "builtins.map" and len(passed) == 2:
            static = passed[0].value.static
            if isinstance(static, External) and static.path in _WRITERS:
                operands, rendered = operands[1:], True
        if rendered:
            return self.b.container(operands, name, hidden=hidden)
        return self.b.value(Value(ValueKind.DERIVED, operands, name, hidden=hidden))

    def _copied(self, path: str, passed: list[Passed]) -> Static | None:
        if path == "builtins.list" and not passed:
            return Items([], exact=True)
        if path in ("builtins.list", "builtins.tuple") and isinstance(passed[0].value.static, Items):
            source = passed[0].value.static
            return Items(list(source.elements), source.exact, source.source)
        if path == "builtins.dict" and all(item.name for item in passed):
            return Table({item.name: item.value for item in passed})
        return None

    def _drained(self, item: Passed, node: ast.AST) -> Passed:
        """Read a generator to its end where a library call iterates it."""
        static = item.value.static
        if not isinstance(static, Generator) or static.is_async:
            return item
        values: list[int] = []
        skipped = self.here.fork() if self.here is not None else None
        static.run(lambda value: values.append(value.value))
        self.here = self.join([skipped, self.here], node)
        return Passed(AV(None, self.b.derived(values, "generator")), item.name, item.text, item.star)

    def _super(self) -> AV:
        """Read `super()`: methods of the bases, bound to the object."""
        frame: Frame | None = self.frame
        while frame is not None and frame.owner is None:
            frame = frame.parent
        held = (
            self.here.env.get((frame.number, frame.receiver)) if frame is not None and self.here is not None else None
        )
        if frame is None or held is None:
            return AV(None, self.b.outside("super"))
        return AV(Super(frame.owner, held, live=self.is_live(held)), self.b.outside("super"))

    def _getattr(self, passed: list[Passed], node: ast.AST) -> AV:
        base = passed[0].value
        name = passed[1].value.static if len(passed) > 1 else None
        if isinstance(name, Const) and isinstance(name.value, str):
            return self.get_attribute(base, name.value, node)
        if self.holds_answer(base):
            return self.forging(node, "`getattr` with a computed name")
        if self.is_live(base) or (isinstance(base.static, External) and base.static.path.startswith("keel")):
            return self.dynamic(
                node,
                f"`getattr` with a computed name may give any tool of {describe(base.static)}",
                "write `if` or `match` with one call for each tool",
            )
        return AV(None, self.b.part(base.value, None))

    def _setattr(self, passed: list[Passed], node: ast.AST) -> None:
        name = passed[1].value.static if len(passed) > 1 else None
        if isinstance(name, Const) and name.value == "approved":
            self.dynamic(node, "`setattr` writes into an approval; only a person's answer makes one")

    def unmediated(self, path: str, node: ast.AST) -> None:
        """Report an effect that no gate sees."""
        if self.mode is Mode.FLOW and self.dead == 0:
            self.report(
                "unmediated-effect",
                f"`{path.removeprefix('builtins.')}` reaches the outside world past keel",
                node,
                "wrap it in a native tool with `@tool`",
            )


_WRITERS = ("builtins.str", "builtins.repr", "builtins.ascii", "builtins.format")
_LOOKS_ONLY = frozenset(
    f"builtins.{name}"
    for name in (
        "isinstance",
        "issubclass",
        "callable",
        "id",
        "repr",
        "str",
        "type",
        "len",
        "hasattr",
        "bool",
        "hash",
        "print",
    )
) | {
    "inspect.iscoroutinefunction",
    "asyncio.iscoroutinefunction",
    "inspect.isawaitable",
    "functools.update_wrapper",
    "typing.cast",
}
