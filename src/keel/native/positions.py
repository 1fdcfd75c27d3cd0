"""Where a function and its parameters stand in a module's source."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Source:
    """Where a function stands, for the location of findings."""

    file: str = ""
    """Path relative to the project."""
    line: int = 0
    column: int = 0
    """1-based position of the function."""
    parameters: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """1-based (line, column) of each parameter."""


def sources(text: str, file: str) -> dict[tuple[str, int], Source]:
    """Return the positions of every function of a module.

    Args:
        text: the module's source.
        file: path for the result, relative to the project.

    Returns:
        For each (name, 1-based line on which the function begins, that of its first decorator if it has one, as
        `function.__code__.co_firstlineno` gives it) where it stands, by character.
    """
    lines = text.splitlines()
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            begin = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            found[node.name, begin] = _positions(node, file, lines)
    return found


def _positions(node: ast.FunctionDef | ast.AsyncFunctionDef, file: str, lines: list[str]) -> Source:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    found = {item.arg: (item.lineno, _column(lines, item)) for item in every if item is not None}
    return Source(file, node.lineno, _column(lines, node), found)


def _column(lines: list[str], node: ast.arg | ast.stmt) -> int:
    line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
    return len(line.encode()[: node.col_offset].decode("utf-8", "replace")) + 1
