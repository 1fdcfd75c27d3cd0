"""What the reader knows of a Python value without running anything: tools, functions, awaitables, containers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from keel.core.model import NativeDeclaration

if TYPE_CHECKING:
    from keel.flow.modules import Module


class Static:
    """Base of everything that is known of a value; None stands for plain data."""

    live = False
    """Whether a tool, an agent or a gate can be reached through the value."""


@dataclass(frozen=True, slots=True, eq=False)
class AV:
    """An abstract value: what is known of it, and its index in the graph's value table."""

    static: Static | None
    value: int

    @property
    def live(self) -> bool:
        """Whether a tool can be reached through it."""
        return self.static is not None and self.static.live


@dataclass(frozen=True)
class Const(Static):
    """A constant: text, number, bool or None."""

    value: Any
    kind: str = ""
    """The type's name, so that 1, 1.0 and True stay distinct."""


@dataclass(frozen=True)
class External(Static):
    """Something of the standard library or of a package outside the project, by dotted path."""

    path: str


@dataclass(frozen=True)
class Keel(Static):
    """A name of keel's own authoring interface."""

    name: str
    live = True


@dataclass(frozen=True)
class KeelModule(Static):
    """The module `keel`."""

    live = True


@dataclass(frozen=True)
class NativeTool:
    """A function declared with `@tool`."""

    key: str
    module: str
    qualname: str
    function: str
    file: str
    line: int
    declaration: NativeDeclaration
    node: ast.FunctionDef | ast.AsyncFunctionDef = field(compare=False, repr=False)
    column: int = 1

    def parameters(self) -> tuple[str, ...]:
        """Return the names that arguments can be passed under."""
        args = self.node.args
        return tuple(item.arg for item in (*args.posonlyargs, *args.args, *args.kwonlyargs))


@dataclass(frozen=True)
class Tool(Static):
    """A native tool or a reference to an MCP tool."""

    key: str
    native: NativeTool | None = None
    options: tuple[tuple[str, Any], ...] = ()
    gated: bool = False
    live = True


@dataclass(frozen=True)
class ReasonerDef(Static):
    """A `Reasoner(...)`."""

    name: str
    model: str
    live = True


@dataclass(frozen=True)
class AgentTool:
    """One entry of an agent's tool list."""

    key: str
    gated: bool
    file: str
    line: int
    column: int
    flow: str = ""
    """`module:name` when the entry is a flow."""


@dataclass(frozen=True)
class AgentDef(Static):
    """An `Agent(...)`."""

    name: str
    model: str
    scope: str
    tools: tuple[AgentTool, ...]
    file: str
    line: int
    column: int
    live = True


@dataclass(eq=False)
class Func(Static):
    """A function of the project, or a lambda, with the scope it closes over."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: Module
    name: str
    scope: Any = None
    """Frame of the enclosing function, or None at module level."""
    flow: bool = False
    entry: bool = True
    live: bool = False
    retries: bool = False
    """Wrapped by a retry decorator from outside the project."""
    context: bool = False
    """Wrapped by `contextlib.contextmanager` or `asynccontextmanager`."""
    owner: Any = None
    kind: str = ""
    """`classmethod`, `staticmethod` or `property`."""
    defaults: dict[str, AV] = field(default_factory=dict)
    """Default values, read where the function is defined."""

    @property
    def is_async(self) -> bool:
        """Whether it is an `async def`."""
        return isinstance(self.node, ast.AsyncFunctionDef)


@dataclass(eq=False)
class Class(Static):
    """A class of the project."""

    node: ast.ClassDef
    module: Module
    name: str
    attributes: dict[str, AV] = field(default_factory=dict)
    bases: tuple[Static | None, ...] = ()
    live: bool = False
    dataclass: bool = False
    scope: Any = None


@dataclass(eq=False)
class Instance(Static):
    """An object of a project class from which a tool is reachable."""

    cls: Class
    attributes: dict[str, AV] = field(default_factory=dict)
    live = True


@dataclass(eq=False)
class Method(Static):
    """A method bound to its object."""

    func: Func
    receiver: AV
    live: bool = True


@dataclass(eq=False)
class Super(Static):
    """`super()` inside a method."""

    cls: Class
    receiver: AV
    live: bool = False


@dataclass(frozen=True)
class ModuleObject(Static):
    """A module of the project."""

    name: str
    live: bool = field(default=False, compare=False)


@dataclass(eq=False)
class Partial(Static):
    """`functools.partial(target, …)`."""

    target: AV
    args: tuple[AV, ...]
    keywords: tuple[tuple[str, AV, str], ...]
    live: bool = False


@dataclass(eq=False)
class Awaitable(Static):
    """A call that was made and not yet awaited."""

    run: Callable[[], AV]
    """Reads the call at the place where it is awaited."""
    what: str
    at: ast.AST
    module: Module
    used: bool = False
    task: bool = False
    result: AV | None = None
    calls: tuple[Any, ...] = ()
    live = True


@dataclass(eq=False)
class Attribute(Static):
    """A method of a keel object or of an understood container: `tool.options`, `task.result`, `group.create_task`."""

    base: AV
    name: str

    @property
    def live(self) -> bool:  # type: ignore[override]
        """Whether a tool can be reached through it."""
        return isinstance(self.base.static, TaskGroup) or any(item.live for item in innermost(self.base.static))


@dataclass(eq=False)
class TaskGroup(Static):
    """An `asyncio.TaskGroup` and the tasks started in it."""

    region: int
    tasks: list[Awaitable] = field(default_factory=list)
    live = False


@dataclass(eq=False)
class Items(Static):
    """A list, tuple or set whose elements are known."""

    elements: list[AV]
    exact: bool = True
    """False when elements may be missing or repeated: appended in a loop, filled by a comprehension."""
    source: int = -1
    """Value that was iterated to fill it."""
    times: int | None = None
    """How many elements it has at most, where the loops that filled it are constant."""

    @property
    def live(self) -> bool:  # type: ignore[override]
        """Whether an element is live."""
        return any(item.live for item in innermost(self))


@dataclass(eq=False)
class Table(Static):
    """A mapping display whose literal keys are known."""

    members: dict[str, AV]
    exact: bool = True

    @property
    def live(self) -> bool:  # type: ignore[override]
        """Whether a member is live."""
        return any(item.live for item in innermost(self))


def innermost(static: Static | None) -> Iterator[Static]:
    """Yield what a container holds, and what containers in it hold, or a value itself that is no container.

    Each is looked into once: a container may hold itself, and may be held many times over.
    """
    seen: set[int] = set()
    stack = [static]
    while stack:
        item = stack.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Items):
            stack.extend(held.static for held in item.elements)
        elif isinstance(item, Table):
            stack.extend(held.static for held in item.members.values())
        elif isinstance(item, Attribute) and not isinstance(item.base.static, TaskGroup):
            stack.append(item.base.static)
        else:
            yield item


@dataclass(eq=False)
class Generator(Static):
    """A generator of the project that was called and not yet iterated."""

    run: Callable[[Callable[[AV], None]], None]
    """Reads the body; the argument is called at each `yield`."""
    what: str
    is_async: bool
    context: bool = False
    live = True


@dataclass(frozen=True)
class Unclear(Static):
    """A value through which a tool is reachable, but nobody can say which."""

    why: str
    live = True


@dataclass(eq=False)
class Pending(Static):
    """A variable at the head of a loop, whose value after a round is not known yet."""

    name: str
    read: bool = False
    turned_live: bool = False
    """A round of the loop leaves a tool under the name."""


@dataclass(frozen=True)
class Answer(Static):
    """The answer of a human gate."""


class Declaration(Static):
    """`flow(...)` or `tool(...)` with options: what it makes of the function below it."""

    live = True

    def __init__(self, name: str) -> None:
        self.name = name


class Wrapped(Static):
    """`functools.wraps(...)`: a decorator that changes only names and texts."""


def merged(statics: list[Static | None]) -> Static | None:
    """Return what is known of a value that may be any of several."""
    first = statics[0]
    if all(item is first or item == first for item in statics[1:]):
        return first
    if any(item is not None and item.live for item in statics):
        return Unclear("it is one of several tools or functions, by the way the flow went")
    return next((item for item in statics if isinstance(item, Pending)), None)


Members = Mapping[str, AV]
