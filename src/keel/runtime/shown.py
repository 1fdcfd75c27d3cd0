"""What a person was shown at a gate, as digests of values, and whether a call's arguments are among it.

The gates prove before deployment that what is done is what was shown. This is a second look at the values themselves:
an argument written as a variable that the gate shows, as a part of one, or as an element of one in a loop, must have
a value that was there when the person was asked. What is computed from shown values rests on the proof alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import FrameType, ModuleType
from typing import Any

from keel.core.canonical import CanonicalError
from keel.core.digest import digest
from keel.runtime.native import NotData, as_data
from keel.runtime.sites import Caller, FunctionNode, Origin

MAX_PARTS = 100_000
"""Parts of shown values that are digested; what lies beyond counts as not shown."""


@dataclass(frozen=True)
class Shown:
    """The values that one gate showed."""

    digests: frozenset[str]
    text: str
    """The prompt, as it was shown."""
    names: frozenset[str] = frozenset()
    """Variables of the gate's own function that its prompt and `show` name."""
    frame: int = 0
    """Identity of the frame that asked."""
    function: FunctionNode | None = field(default=None, repr=False)
    largest: int = 1
    """Elements of the largest collection that was shown: as often may one approval admit equal calls."""

    def holds(self, value: Any) -> bool:
        """Tell whether a value is among those shown, or can be read in the prompt."""
        mark = _mark(value)
        if mark is None or mark in self.digests:
            return True
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return _readable(str(value), self.text)
        return False

    def refused(self, origin: Origin, arguments: Mapping[str, Any], covered: tuple[str, ...]) -> str | None:
        """Return the first argument that is written as shown and has another value, or None.

        Args:
            origin: where the call is made.
            arguments: its arguments as Python values.
            covered: the arguments that the bundle says were shown.
        """
        written = origin.written
        if not self.frame or origin.frame != self.frame or written.function is not self.function:
            return None
        assert self.function is not None
        known = self.names | _elements(self.function, self.names)
        for name, value in _written(written.call, arguments):
            if name in covered and name in arguments and _root(value) in known and not self.holds(arguments[name]):
                return name
        return None


def _written(call: ast.Call, arguments: Mapping[str, Any]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the name and the expression of each argument; positional ones come first in a signature's order."""
    if not any(isinstance(item, ast.Starred) for item in call.args):
        yield from zip(arguments, call.args, strict=False)
    yield from ((item.arg, item.value) for item in call.keywords if item.arg is not None)


def look(caller: Caller | None, prompt: str, show: Any) -> Shown:
    """Return what a gate shows, while the frame that asks is still at the question.

    Args:
        caller: where it is asked; None outside a verified source.
        prompt: its text.
        show: its data.
    """
    if caller is None or caller.frame is None:
        return Shown(frozenset(_marks([prompt, show])), prompt, largest=_largest([prompt, show]))
    call = caller.origin.written.call
    pieces = [*call.args, *(item.value for item in call.keywords if item.arg in ("prompt", "show"))]
    names = frozenset(node.id for piece in pieces for node in ast.walk(piece) if isinstance(node, ast.Name))
    held = _variables(caller.frame, names)
    values = [prompt, show, *held.values()]
    return Shown(
        digests=frozenset(_marks(values)),
        text=prompt,
        names=names & frozenset(held),
        frame=caller.origin.frame,
        function=caller.origin.written.function,
        largest=_largest(values),
    )


def _variables(frame: FrameType, names: frozenset[str]) -> dict[str, Any]:
    found = frame.f_locals
    return {name: found[name] for name in names if name in found}


def _marks(values: list[Any]) -> Iterator[str]:
    """Yield a digest of each value and of everything inside it."""
    for value in _parts(values):
        mark = _mark(value)
        if mark is not None:
            yield mark


def _largest(values: list[Any]) -> int:
    """Return how many elements the largest collection among values and their parts has."""
    collections = (value for value in _parts(values) if isinstance(value, Mapping | list | tuple | set | frozenset))
    return max(map(len, collections), default=1)


def _parts(values: list[Any]) -> Iterator[Any]:
    """Yield values and everything inside them, each object once."""
    stack, count = list(values), 0
    seen: dict[int, Any] = {}
    while stack and count < MAX_PARTS:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value  # held, so that no other object gets its identity
        count += 1
        yield value
        stack.extend(_inside(value))


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value
        yield from value.values()
        yield from value.items()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (getattr(value, item.name, None) for item in fields(value))
    elif hasattr(value, "__dict__") and not isinstance(value, type | ModuleType) and not callable(value):
        yield from vars(value).values()


def _mark(value: Any) -> str | None:
    """Return the digest of a value as data, or None for what is no data."""
    try:
        return digest(as_data(value))
    except (NotData, CanonicalError):
        return None


def _readable(word: str, text: str) -> bool:
    return bool(word) and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _root(node: ast.expr) -> str:
    """Return the variable that an expression is, or is a part of; empty for anything computed."""
    while isinstance(node, ast.Subscript):  # not an attribute: a property may compute it
        if not isinstance(node.slice, ast.Constant | ast.Name):
            return ""
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _elements(function: FunctionNode, names: frozenset[str]) -> frozenset[str]:
    """Return the loop variables that can be nothing but elements of shown variables."""
    bound: dict[str, int] = {}
    drawn: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = bound.get(node.id, 0) + 1
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension) and _source(node.iter) in names:
            drawn |= {item.id for item in ast.walk(node.target) if isinstance(item, ast.Name)}
    return frozenset(name for name in drawn if bound.get(name) == 1)


def _source(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Name) and function.id in ("list", "reversed", "sorted", "tuple") and node.args:
            return _root(node.args[0])
        if isinstance(function, ast.Attribute) and function.attr in ("items", "keys", "values"):
            return _root(function.value)
        return ""
    return _root(node)
