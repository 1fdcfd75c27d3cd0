"""What may be changed in place: by `x += y`, through a method that is held under a name, through a callback."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from keel.core.graph import Value, ValueKind
from keel.flow.build import Builder
from keel.flow.values import AV, Const

IN_PLACE = (ast.Add, ast.Sub, ast.Mult, ast.BitOr, ast.BitAnd, ast.BitXor)
"""Operators whose assignment changes some container of Python in place (Python reference 7.2.1)."""
_TEXTS_AND_NUMBERS = frozenset(
    {"text", "str", "repr", "ascii", "format", "len", "int", "float", "bool", "round", "tuple"}
)
_ARITHMETIC = frozenset({"Div", "FloorDiv", "Mod", "Pow"})
_SCALARS = frozenset({"int", "float", "complex", "bool", "str", "bytes", "tuple", "frozenset", "Decimal", "Fraction"})


def in_place(operation: ast.operator, added: AV) -> bool:
    """Tell whether `x <op>= added` may change the object of `x`; a number is added to numbers alone."""
    if not isinstance(operation, IN_PLACE):
        return False
    number = isinstance(added.static, Const) and isinstance(added.static.value, int | float)
    return isinstance(operation, ast.Mult) or not number


def scalar(node: ast.expr | None) -> bool:
    """Tell whether an annotation names a type whose objects never change."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value in _SCALARS
    if isinstance(node, ast.BinOp):
        return all(scalar(part) or _is_none(part) for part in (node.left, node.right))
    if isinstance(node, ast.Subscript):
        node = node.value
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in _SCALARS


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def unchangeable(b: Builder, value: int, scalars: frozenset[str]) -> bool:
    """Tell whether a value is certainly a number, a text or another object that never changes.

    Args:
        b: holds the value.
        value: its index.
        scalars: parameters of the flow whose annotation says so.
    """
    seen: set[int] = set()
    stack = [value]
    while stack:
        index = stack.pop()
        item = b.values[index]
        if index in seen:
            continue
        seen.add(index)
        if item.kind in (ValueKind.BOUND, ValueKind.MERGED) or item.name == "member":
            stack.extend(item.operands)
        elif not _fixed(b, item, scalars):
            return False
    return True


def _fixed(b: Builder, item: Value, scalars: frozenset[str]) -> bool:
    if item.kind is ValueKind.LITERAL:
        return True
    if item.kind is ValueKind.PARAMETER:
        return item.name in scalars
    if item.kind not in (ValueKind.DERIVED, ValueKind.RENDERED):
        return False
    if item.name in _TEXTS_AND_NUMBERS or item.name in _ARITHMETIC:
        return True
    if item.name in ("Add", "Sub"):
        return any(unchangeable(b, operand, scalars) for operand in item.operands)
    return item.name == "Mult" and all(unchangeable(b, operand, scalars) for operand in item.operands)


def same_name(b: Builder, value: int) -> int:
    """Return the value that a name was bound to again, past the name."""
    while b.values[value].kind is ValueKind.BOUND:
        value = b.values[value].operands[0]
    return value


def held_methods(b: Builder, value: int) -> Iterator[tuple[int, str]]:
    """Yield the (object, method) pairs that a value may be, where `object.method` was read without a call."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        index = stack.pop()
        item = b.values[index]
        if index in seen:
            continue
        seen.add(index)
        if item.kind in (ValueKind.BOUND, ValueKind.MERGED) or item.name == "member":
            stack.extend(item.operands)
        elif item.kind is ValueKind.PART and item.key is not None and item.key.startswith("."):
            yield item.operands[0], item.key[1:]
