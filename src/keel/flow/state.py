"""The state of reading one flow: where control stands, what is around it, and how to move on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from keel.core.graph import Kind, Label, Node, Span, Value, ValueKind
from keel.core.text import excerpt
from keel.flow.build import PRECISE, Builder, Exit, Key, Point, Raises
from keel.flow.modules import Module
from keel.flow.scope import Frame
from keel.flow.values import (
    AV,
    Class,
    Const,
    Func,
    Instance,
    Items,
    Partial,
    Static,
    Table,
    innermost,
    merged,
)
from keel.flow.world import World

DENIED = "denied"
OTHER = "other"
Kinds = frozenset[str]
ONLY_OTHER: Kinds = frozenset({OTHER})
BOTH: Kinds = frozenset({DENIED, OTHER})

MAX_NODES = 250_000
"""A flow that expands to more steps through its helpers is refused, not judged."""
MAX_DEPTH = 120
"""Calls of helpers inside helpers."""

GIVERS = frozenset({"vars", "getattr", "min", "max", "next", "iter", ".get", ".setdefault", "attribute"})
"""Computations that give an object they were given, or a part of it."""
COPIES = frozenset(
    {"list", "tuple", "set", "dict", "listcomp", "setcomp", "dictcomp", "generatorexp", "sorted", "reversed", "zip"}
    | {"enumerate", "filter", "items", "slice", ".copy", ".values", "copy.copy"}
)
"""Containers that hold the very elements of what they were made of."""


class Mode(Enum):
    """What is being read."""

    FLOW = "flow"
    IMPORT = "import"
    """Module level: what runs when the module is imported."""
    TOOL = "tool"
    """The body of a native tool."""


class TooLarge(Exception):
    """The flow expands beyond `MAX_NODES`."""


@dataclass(slots=True)
class Targets:
    """Where jumps out of the current code are collected."""

    returns: list[tuple[Point, AV]] = field(default_factory=list)
    breaks: list[Point] = field(default_factory=list)
    continues: list[Point] = field(default_factory=list)
    raises: list[tuple[Point, Kinds]] | None = None
    """None when no handler, `finally` or context manager of the flow is around."""


class State:
    """One reading; the other parts of the reader are layered on it."""

    def __init__(self, world: World, mode: Mode, *, flow_async: bool = False) -> None:  # noqa: PLR0915 - one line for each thing held
        self.world = world
        self.mode = mode
        self.flow_async = flow_async
        self.b = Builder()
        self.here: Point | None = None
        self.frame: Frame = None  # type: ignore[assignment]
        self.targets = Targets()
        self.loops: tuple[int, ...] = ()
        self.regions: tuple[tuple[int, int], ...] = ()
        self.calls: tuple[Span, ...] = ()
        self.active: list[Any] = []
        self.echo = 0
        self.dead = 0
        self.volatile: dict[Key, None] = {}
        self.awaitables: list[Any] = []
        self.caught: list[Kinds] = []
        self.handled: dict[Key, Kinds] = {}
        self.temporary = 0
        self.called_flows: set[str] = set()
        self.where = ""
        self.open: dict[int, list[tuple[Key, int, AV]]] = {}
        self.pending: dict[tuple[int, Key], Any] = {}
        self.homes: dict[int, Instance] = {}
        self.origins: dict[int, Any] = {}
        self.task_count = 0
        self.task_numbers: dict[int, int] = {}
        self.forced = False
        self.class_attributes: dict[str, AV] | None = None
        """Whether a project function is read even if it reaches no tool: a decorator is."""
        self.made: dict[int, Class] = {}
        """Plain objects of project classes, by their value."""
        self.shared_results: set[int] = set()
        """Results of calls that may be, or hold, an object that the call was given."""
        self.besides: list[int] = []
        """Nodes before calls, for what may be changed there by code that runs at the same time."""
        self.thrown: list[int] = []
        """What was raised by a `raise` of the flow so far."""
        self.plain_depth = 0
        self.plain_nodes = 0
        self.eager = False
        """Whether the next generator expression is iterated to its end at once."""

    def gone(self) -> bool:
        """Tell whether control cannot come here; a call, so that type checkers forget what was known before."""
        return self.here is None

    # -- places ---------------------------------------------------------------------------------

    @property
    def module(self) -> Module:
        """The module of the code being read."""
        return self.frame.module

    def span(self, node: ast.AST) -> Span:
        """Return the place of a syntax node of the current module."""
        return self.world.span(self.module, node)

    def text(self, node: ast.AST, limit: int = 120) -> str:
        """Return the source of a syntax node on one line."""
        return excerpt(source_text(self.module, node), limit)

    def report(self, code: str, message: str, node: ast.AST, next_: str = "") -> None:
        """Add a finding at a syntax node of the current module."""
        self.world.report(code, message, self.module, node, next_)

    def dynamic(self, node: ast.AST, why: str, next_: str = "") -> AV:
        """Report that a tool is used in a way that cannot be followed; the value is unknown data."""
        self.report(
            "dynamic-tool",
            why,
            node,
            next_ or "call the tool by its name, directly in the flow or in a project function",
        )
        return AV(None, self.fresh(node, ""))

    # -- nodes ----------------------------------------------------------------------------------

    def step(self, kind: Kind, node: ast.AST, **fields: Any) -> int:
        """Add a node where control stands and move on behind it."""
        if len(self.b.nodes) > MAX_NODES:
            raise TooLarge
        index = self.b.node(
            Node(
                kind,
                self.span(node),
                loops=self.loops,
                regions=self.regions,
                calls=self.calls,
                function=self.where,
                echo=self.echo > 0,
                dead=self.dead > 0,
                **fields,
            )
        )
        point = self.here
        assert point is not None
        for way in point.exits:
            self.b.edge(way, index)
        point.exits = [(index, Label.NEXT, None)]
        return index

    def fresh(self, node: ast.AST, name: str, operands: tuple[int, ...] = ()) -> int:
        """Return new data that appears here; its operands are what it may carry on."""
        index = self.step(Kind.PLAIN, node, text=name) if self.here is not None else -1
        self.raised(index)
        return self.b.own(Value(ValueKind.RESULT, tuple(dict.fromkeys(operands)), name, node=index))

    def may_raise(self, node: ast.AST) -> None:
        """Let the code here raise, where somebody could catch it."""
        if self.targets.raises is not None and self.here is not None:
            self.raised(self.step(Kind.PLAIN, node))

    def raised(self, index: int, kinds: Kinds = ONLY_OTHER) -> None:
        """Let a node raise."""
        raises = self.targets.raises
        if raises is None or self.here is None or index < 0:
            return
        way: list[Exit] = [(index, Label.EXCEPTION, None)]
        if len(raises) >= PRECISE and isinstance(raises, Raises):
            raises.coarse = True
            raises.append((Point(way, {}), kinds))
        else:
            raises.append((self.here.at(way), kinds))

    def raises(self) -> Raises:
        """Return a new collection of ways by which exceptions leave the code that follows."""
        if self.here is None:
            return Raises({})
        self.here.shared = True
        return Raises(self.here.env)

    # -- ways -----------------------------------------------------------------------------------

    def join(self, points: list[Point | None], node: ast.AST, hidden: tuple[int, ...] = ()) -> Point | None:
        """Let ways meet."""
        return self.b.join(points, self.span(node), hidden)

    def join_values(self, options: list[tuple[Point | None, AV]], node: ast.AST, hidden: tuple[int, ...] = ()) -> AV:
        """Let ways meet that each carry the value of one expression; control goes on from there."""
        live = [(point, value) for point, value in options if point is not None]
        if not live:
            self.here = None
            return AV(None, self.b.unbound())
        self.temporary += 1
        key = (-1, f"#{self.temporary}")
        for point, value in live:
            point.bind(key, value)
        self.here = self.join([point for point, _ in live], node, hidden)
        assert self.here is not None
        value = self.here.env[key]
        if self.here.shared:
            self.here.env, self.here.shared = dict(self.here.env), False
        del self.here.env[key]
        return value

    @contextmanager
    def jumps(self, targets: Targets) -> Iterator[Targets]:
        """Collect jumps in other targets for a while."""
        before, self.targets = self.targets, targets
        try:
            yield targets
        finally:
            self.targets = before

    # -- variables ------------------------------------------------------------------------------

    def key_of(self, name: str) -> Key | None:
        """Return the variable a name means here; None for a module-level name that nobody rebinds."""
        frame: Frame | None = self.frame
        while frame is not None and frame.number != 0:
            if name in frame.scope.globals:
                break
            if name in frame.scope.locals:
                return (frame.number, name)
            frame = frame.parent
        if (self.module.name, name) in self.world.reach.globals or self._module_level():
            return (0, f"{self.module.name}:{name}")
        return None

    def _module_level(self) -> bool:
        frame: Frame | None = self.frame
        while frame is not None and frame.number != 0:
            if not frame.comprehension:
                return False
            frame = frame.parent
        return True

    def frame_of(self, number: int) -> Frame | None:
        """Return the frame of the lexical chain that has a number."""
        frame: Frame | None = self.frame
        while frame is not None and frame.number != number:
            frame = frame.parent
        return frame

    def bind(self, name: str, value: AV, node: ast.AST) -> None:
        """Bind a name; a name that was bound before is a change."""
        point = self.here
        if point is None:
            return
        key = self.key_of(name)
        if key is None:
            # a comprehension's or class body's walrus at module level, or a name declared in no scope
            key = (self.frame.number, name)
        old = point.env.get(key)
        if old is not None or key in self.volatile:
            index = self.step(Kind.CHANGE, node, text=name)
            hidden = (old.value,) if old is not None else ()
            index = self.b.own(Value(ValueKind.BOUND, (value.value,), name, None, index, hidden))
            value = AV(value.static, index)
        point.bind(key, value)

    def home(self, static: Static | None, name: str, depth: int = 0) -> AV:
        """Return a value of module level as a value of this graph."""
        if isinstance(static, Const):
            return AV(static, self.b.literal(static.value))
        if depth < 20 and isinstance(static, Items):
            elements = [self.home(item.static, f"{name}[]", depth + 1) for item in static.elements]
            # equal ones are one: whether it is the same object is not known here
            value = self.b.value(Value(ValueKind.RENDERED, tuple(item.value for item in elements), "list"))
            plain = static.exact and all(isinstance(item.static, Const | Items) for item in elements)
            return AV(Items(elements, static.exact), value if plain else self.b.outside(name))
        if depth < 20 and isinstance(static, Table):
            members = {key: self.home(item.static, f"{name}[{key}]", depth + 1) for key, item in static.members.items()}
            return AV(Table(members, static.exact), self.b.outside(name))
        if isinstance(static, Partial):
            args = tuple(self.home(item.static, name, depth + 1) for item in static.args)
            words = tuple((word, self.home(item.static, name, depth + 1), text) for word, item, text in static.keywords)
            return AV(
                Partial(self.home(static.target.static, name, depth + 1), args, words, live=static.live),
                self.b.outside(name),
            )
        if depth < 20 and isinstance(static, Instance):
            copy = self.homes.get(id(static))
            if copy is None:
                copy = self.homes[id(static)] = Instance(static.cls)
                copy.attributes = {
                    key: self.home(item.static, f"{name}.{key}", depth + 1) for key, item in static.attributes.items()
                }
            return AV(copy, self.b.outside(name))
        return AV(static, self.b.outside(name))

    # -- mutation -------------------------------------------------------------------------------

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
        """Record that the object of a value is changed in place.

        Args:
            value: the object.
            node: where it is changed.
            added: what may be put into it; nothing stands for fresh data.
            text: the change as it is written.
            keeps: whether a list still has every element that it had, and has what was added.
            keys: what is replaced: JSON texts of constant keys and indices, attributes with a dot before them.
            sure: whether what is added is then in the object, whatever was in it before.
        """
        if self.here is None:
            return
        objects = self.objects(value.value)
        new = [item.value for item in added]
        index = self.step(
            Kind.CHANGE,
            node,
            changes=tuple(sorted(objects)),
            text=text,
            value=value.value if keeps else -1,
            names=keys,
            shown=tuple(new) if sure else (),
        )
        self.raised(index)
        if not new:
            new = [self.b.own(Value(ValueKind.RESULT, name=text, node=index))]
        for item in sorted(objects):
            self.b.contents.setdefault(item, []).extend(new)

    def objects(self, value: int) -> set[int]:
        """Return the values whose object may be, or may hold, the object of a value."""
        found: set[tuple[int, bool]] = set()
        stack = [(value, False)]
        while stack:
            index, inside = stack.pop()
            item = self.b.values[index]
            if (index, inside) in found or item.kind is ValueKind.LITERAL:
                continue
            found.add((index, inside))
            if item.kind in (ValueKind.PART, ValueKind.ELEMENT):
                stack.extend((part, True) for part in item.operands)
            elif item.name == "member":
                stack.extend((part, inside) for part in (*item.operands, *item.hidden))
            elif (
                item.kind in (ValueKind.BOUND, ValueKind.MERGED) or index in self.shared_results or item.name in GIVERS
            ):
                stack.extend((part, inside) for part in item.operands)
            elif inside and item.name in COPIES:
                stack.extend((part, True) for part in item.operands)
        return {index for index, _ in found}

    # -- liveness -------------------------------------------------------------------------------

    def reading_needed(self, func: Func) -> bool:
        """Tell whether a function must be read where it is called: it reaches a tool, or rebinds outer names."""
        if func.live or func.flow:
            return True
        scope = self.world.scopes.of(func.node)
        if scope.nonlocals or scope.globals:
            return True
        return func.scope is not None and self.mentions_live(func.node, func.module, func.scope)

    def mentions_live(self, node: ast.AST, module: Module, frame: Frame | None) -> bool:
        """Tell whether code mentions a name through which a tool can be reached."""
        pending = [node]
        seen: set[int] = set()
        while pending:
            current = pending.pop()
            if id(current) in seen:
                continue
            seen.add(id(current))
            for mention in self.world.scopes.mentions(current):
                head = mention.partition(".")[0]
                holder = frame
                while holder is not None and head not in holder.scope.locals:
                    holder = holder.parent
                if holder is None:
                    if any(
                        target == ("keel", "keel") or self.world.reach.live(*target)
                        for target in self.world.reach.resolve(module, mention)
                    ) or self._whole_module_live(module, mention):
                        return True
                    continue
                held = self.here.env.get((holder.number, head)) if self.here is not None else None
                if held is None:
                    held = holder.saved.get(head)
                if held is not None and held.live:
                    return True
        return False

    def _whole_module_live(self, module: Module, mention: str) -> bool:
        return any(
            name == "*" and self.world.reach.module_live(target)
            for target, name in self.world.reach.resolve(module, mention)
        )

    def is_live(self, value: AV) -> bool:
        """Tell whether a tool can be reached through a value, functions inside functions included."""
        return any(self._reaches_tool(item) for item in innermost(value.static))

    def _reaches_tool(self, static: Static) -> bool:
        if not isinstance(static, Func):
            return static.live
        inner = static.scope is not None and self.mentions_live(static.node, static.module, static.scope)
        return static.live or static.flow or inner

    def unclear(self, values: list[AV]) -> Static | None:
        """Return what is known of a value that may be any of several."""
        return merged([value.static for value in values])


def source_text(module: Module, node: ast.AST) -> str:
    """Return the source of a syntax node with white space folded."""
    start = getattr(node, "lineno", 0)
    end = getattr(node, "end_lineno", start) or start
    if start == 0:
        return ""
    lines = module.lines()
    if start == end:
        line = lines[start - 1] if start <= len(lines) else ""
        data = line if line.isascii() else line.encode("utf-8")
        cut = data[node.col_offset : node.end_col_offset]  # type: ignore[attr-defined]
        return cut if isinstance(cut, str) else cut.decode("utf-8", "replace")
    return " ".join(part.strip() for part in lines[start - 1 : min(end, start + 4)])
