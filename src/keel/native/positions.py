"""Where a function and its parameters stand in a module's source."""

from __future__ import annotations

import ast

from keel.native.derive import Source


def source_of(text: str, file: str, name: str, first_line: int) -> Source:
    """Return the positions of a function.

    Args:
        text: the module's source.
        file: path for the result, relative to the project.
        name: the function's own name.
        first_line: 1-based line on which it begins, that of its first decorator if it has one
            (`function.__code__.co_firstlineno`).

    Returns:
        Positions by character; only file and line if the source holds no such function.
    """
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            begin = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            if begin == first_line:
                return _positions(node, file, lines)
    return Source(file, first_line, 1)


def _positions(node: ast.FunctionDef | ast.AsyncFunctionDef, file: str, lines: list[str]) -> Source:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    found = {item.arg: (item.lineno, _column(lines, item)) for item in every if item is not None}
    return Source(file, node.lineno, _column(lines, node), found)


def _column(lines: list[str], node: ast.arg | ast.stmt) -> int:
    line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
    return len(line.encode()[: node.col_offset].decode("utf-8", "replace")) + 1
