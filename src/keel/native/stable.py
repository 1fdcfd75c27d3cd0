"""A text of syntax trees that is the same on every Python from 3.11 on, and two helpers that read names from trees.

`ast.dump` and `ast.unparse` change between minor versions: fields are added, empty ones left out, quotes chosen
differently. Here every field that is empty is left out, positions and contexts are left out, and the pieces of an
f-string are joined, so that two trees have one text exactly if they mean the same source.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from keel.native.docstring import clean

_LEFT_OUT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
_DOCUMENTED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def dump(root: ast.AST) -> str:
    """Return the stable text of a tree; iterative, so that depth is no limit."""
    pieces: list[str] = []
    stack: list[ast.AST | str] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
        elif isinstance(item, ast.Constant):
            pieces.append(_constant(item.value))
        else:
            stack.extend(reversed(list(_parts(item))))
    return "".join(pieces)


def _parts(node: ast.AST) -> Iterator[ast.AST | str]:
    yield f"({type(node).__name__}"
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or name in _LEFT_OUT:
            continue
        yield f" {name}="
        if name == "body" and isinstance(node, _DOCUMENTED):
            yield from _body(node)
        elif isinstance(node, ast.JoinedStr):
            yield from _list(_joined(value))
        elif isinstance(value, list):
            yield from _list(value)
        else:
            yield value if isinstance(value, ast.AST) else repr(value)
    yield ")"


def _list(items: list[ast.expr] | list[ast.stmt]) -> Iterator[ast.AST | str]:
    yield "["
    for item in items:
        # A key of a dictionary display is None for `**other`; names of `global` are plain text.
        yield item if isinstance(item, ast.AST) else repr(item)
        yield ","
    yield "]"


def _body(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST | str]:
    text = docstring(node)
    if text:
        yield repr(text)
    yield from _list(without_docstring(node))


def _joined(values: list[ast.expr]) -> list[ast.expr]:
    """Return the pieces of an f-string with neighbouring texts joined and empty ones left out."""
    merged: list[ast.expr] = []
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            if not value.value:
                continue
            last = merged[-1] if merged else None
            if isinstance(last, ast.Constant) and isinstance(last.value, str):
                merged[-1] = ast.Constant(last.value + value.value)
                continue
        merged.append(value)
    return merged


def _constant(value: object) -> str:
    # Hexadecimal, because decimal text of long numbers is refused; `ascii`, because which characters `repr` shows
    # depends on the Unicode version of the interpreter.
    text = hex(value) if isinstance(value, int) else ascii(value)
    return f"<{type(value).__name__} {text}>"


def docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the docstring without indentation, or an empty text."""
    return clean(ast.get_docstring(node, clean=False))


def without_docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """Return the statements of a body after its docstring."""
    return node.body if ast.get_docstring(node, clean=False) is None else node.body[1:]


def dotted_names(root: ast.AST) -> Iterator[str]:
    """Yield every name and attribute chain that a tree reads, `a.b.c` as a whole, those of quoted types included.

    Text inside `Literal[…]` is data; any other text that parses as a name or a subscript may be a quoted type.
    """
    pending: list[ast.AST] = [root]
    while pending:
        node = pending.pop()
        chain = _chain(node)
        if chain:
            yield chain
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            quoted = _quoted(node.value)
            pending.extend([quoted] if quoted is not None else [])
        elif isinstance(node, ast.Subscript) and _chain(node.value).rpartition(".")[2] == "Literal":
            pending.append(node.value)
            pending.extend(item for item in ast.walk(node.slice) if isinstance(item, ast.Name | ast.Attribute))
        else:
            pending.extend(ast.iter_child_nodes(node))


def _chain(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


_QUOTED_TYPE = re.compile(r"[\w\s.,|\[\]'\"()*=-]{1,500}")
_GLUED_NUMBER = re.compile(r"\d[^\W\d]")


def _quoted(text: str) -> ast.AST | None:
    # Text that Python would warn of while parsing (unknown escapes, `1or 2`) is no type.
    if not _QUOTED_TYPE.fullmatch(text) or _GLUED_NUMBER.search(text):
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
