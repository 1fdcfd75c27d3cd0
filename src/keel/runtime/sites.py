"""Which site of the bundle's graphs a step comes from: the call expression in the verified source that makes it.

The position of the instruction that a frame is at tells the call (PEP 657). Its end is the call's closing
parenthesis, which no other call shares; its start is not used, because Python moves it for methods that are called
on a line of their own.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import decode_source
from types import CodeType, FrameType

from keel.errors import KeelError

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module


@dataclass(frozen=True, slots=True)
class Written:
    """One call expression of a source."""

    place: str
    """`file:line:column`, 1-based, in characters."""
    call: ast.Call
    function: FunctionNode
    """The function, lambda or module that it is written in."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a step was made, for as long as anybody asks."""

    written: Written
    frame: int = 0
    """Identity of the frame that made it; 0 without one."""

    @property
    def place(self) -> str:
        """`file:line:column` of the call."""
        return self.written.place


@dataclass(frozen=True, slots=True)
class Caller:
    """Where a step is made, while its frame still runs."""

    origin: Origin
    frame: FrameType | None = None


@dataclass(frozen=True)
class SourceFile:
    """One verified source."""

    path: str
    """Relative to the project."""
    data: bytes

    @cached_property
    def calls(self) -> Mapping[tuple[int, int], Written]:
        """Every call by the line and byte column of its end."""
        lines = decode_source(self.data).split("\n")
        found: dict[tuple[int, int], Written] = {}
        for call, function in _calls(ast.parse(self.data)):
            head = lines[call.lineno - 1].encode()[: call.col_offset].decode(errors="replace")
            place = f"{self.path}:{call.lineno}:{len(head) + 1}"
            found[call.end_lineno or 0, call.end_col_offset or 0] = Written(place, call, function)
        return found


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, FunctionNode]]:
    stack: list[tuple[ast.AST, FunctionNode]] = [(tree, tree)]
    while stack:
        node, function = stack.pop()
        if isinstance(node, ast.Call):
            yield node, function
        inner = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else function
        stack.extend((child, inner) for child in ast.iter_child_nodes(node))


BRANCH: ContextVar[Origin | None] = ContextVar("keel_branch", default=None)
"""The group whose branch runs: a branch without a frame of its own, such as a `partial`, is called there."""


@dataclass
class Sites:
    """Finds the calls of verified sources on the stack."""

    files: Mapping[str, SourceFile]
    """By the file name in their code objects."""
    _known: dict[tuple[CodeType, int], Written | None] = field(default_factory=dict)

    def caller(self) -> Caller | None:
        """Return the innermost call of a verified source on the stack, or None if there is none."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to the stack, cheaper than `inspect`
        while frame is not None and frame.f_code is not call_branch.__code__:
            if frame.f_code.co_filename in self.files:
                written = self._written(frame.f_code, frame.f_lasti)
                return Caller(Origin(written, id(frame)), frame) if written is not None else None
            frame = frame.f_back
        group = BRANCH.get()
        return Caller(group) if group is not None else None

    def _written(self, code: CodeType, instruction: int) -> Written | None:
        key = (code, instruction)
        if key not in self._known:
            positions = list(code.co_positions())[instruction // 2]
            self._known[key] = self.files[code.co_filename].calls.get((positions[1] or 0, positions[3] or 0))
        return self._known[key]


def call_branch(branch: object) -> object:
    """Call a branch of a group; the walk over the stack ends here, for what lies below is the group's own place."""
    return branch()  # type: ignore[operator]


def check_positions() -> None:
    """Refuse an interpreter that keeps no columns.

    Raises:
        KeelError: if Python runs with `-X no_debug_ranges` or `PYTHONNODEBUGRANGES`.
    """
    if any(column is None for *_, column in _probe.__code__.co_positions()):
        raise KeelError(
            "this Python keeps no columns in its code, so that a step cannot be told from another on the same line",
            hint="run without `-X no_debug_ranges` and without `PYTHONNODEBUGRANGES`",
            code="positions-missing",
        )


def _probe() -> None:
    """Exists for the positions of its code."""
