"""Scopes of functions: which names are local, which are bound in a piece of code, which names code mentions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from keel.flow.modules import Module, bound_names, children, flat, target_names
from keel.flow.values import AV

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class Scope:
    """What the parser's tree alone says of one function's names."""

    locals: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]
    inner: frozenset[str]
    """Names that functions inside rebind through `nonlocal`."""
    yields: bool


@dataclass(eq=False, slots=True)
class Frame:
    """One entered function: where its variables live, and the scope around it."""

    number: int
    module: Module
    scope: Scope
    parent: Frame | None = None
    name: str = ""
    is_async: bool = False
    comprehension: bool = False
    saved: dict[str, AV] = field(default_factory=dict)
    """Variables at the end, for functions that close over them and live on."""
    on_yield: Any = None
    owner: Any = None
    """Class that the function is a method of."""
    receiver: str = ""
    """Name of its first parameter."""


class Scopes:
    """Scopes by syntax node, each computed once."""

    def __init__(self) -> None:
        self._scopes: dict[ast.AST, Scope] = {}
        self._mentions: dict[ast.AST, frozenset[str]] = {}
        self._bound: dict[ast.AST, frozenset[str]] = {}

    def of(self, node: ast.AST) -> Scope:
        """Return the scope of a function, a lambda, a comprehension or a module."""
        found = self._scopes.get(node)
        if found is None:
            found = self._scopes[node] = _scope(node)
        return found

    def mentions(self, node: ast.AST) -> frozenset[str]:
        """Return the names that code loads, annotations aside: `a`, and `a.b.c` for attribute chains."""
        found = self._mentions.get(node)
        if found is None:
            found = self._mentions[node] = frozenset(_mentions(node))
        return found

    def bound(self, node: ast.AST) -> frozenset[str]:
        """Return every name that a statement or the code in it binds, functions inside aside."""
        found = self._bound.get(node)
        if found is None:
            found = self._bound[node] = frozenset(_bound([node]))
        return found


def arguments(args: ast.arguments) -> Iterator[ast.arg]:
    """Yield every parameter, in order."""
    yield from (*args.posonlyargs, *args.args)
    if args.vararg:
        yield args.vararg
    yield from args.kwonlyargs
    if args.kwarg:
        yield args.kwarg


_MODULE = Scope(frozenset(), frozenset(), frozenset(), frozenset(), yields=False)


def _scope(node: ast.AST) -> Scope:  # noqa: C901 - one line for each kind of scope
    if isinstance(node, ast.Module):
        return _MODULE  # names of a module are looked up one by one
    names: set[str] = set()
    body: list[ast.AST] = []
    if isinstance(node, Function):
        names.update(item.arg for item in arguments(node.args))
        names.update(item.name for item in getattr(node, "type_params", ()))
        body = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    elif isinstance(node, _COMPREHENSIONS):
        for clause in node.generators:
            names.update(target_names(clause.target))
        return Scope(frozenset(names), frozenset(), frozenset(), frozenset(), yields=False)
    elif isinstance(node, ast.ClassDef):
        body = list(node.body)
    names.update(_bound(body))
    outer: set[str] = set()
    enclosing: set[str] = set()
    inner: set[str] = set()
    yields = False
    for item in _own(body):
        if isinstance(item, ast.Global):
            outer.update(item.names)
        elif isinstance(item, ast.Nonlocal):
            enclosing.update(item.names)
        elif isinstance(item, ast.Yield | ast.YieldFrom):
            yields = True
        elif isinstance(item, _SCOPES):
            inner.update(name for deep in flat(item) if isinstance(deep, ast.Nonlocal) for name in deep.names)
    names -= outer | enclosing
    return Scope(frozenset(names), frozenset(outer), frozenset(enclosing), frozenset(inner), yields)


def _own(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the syntax nodes of a scope; of scopes inside only the node itself."""
    stack = list(body)
    while stack:
        item = stack.pop()
        yield item
        if isinstance(item, _SCOPES):
            stack.extend(getattr(item, "decorator_list", ()))
            stack.extend(_defaults(item))
            continue
        stack.extend(children(item))


def _defaults(item: ast.AST) -> list[ast.AST]:
    if isinstance(item, Function):
        return [default for default in (*item.args.defaults, *item.args.kw_defaults) if default is not None]
    return [*item.bases, *(word.value for word in item.keywords)] if isinstance(item, ast.ClassDef) else []


def _bound(body: Iterable[ast.AST]) -> Iterator[str]:
    stack = list(body)
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Name):
            if isinstance(item.ctx, ast.Store | ast.Del):
                yield item.id
        elif isinstance(item, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            if item.name:
                yield item.name
        elif isinstance(item, ast.MatchMapping) and item.rest:
            yield item.rest
        elif isinstance(item, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from bound_names(item)
        if isinstance(item, _SCOPES):
            continue
        if isinstance(item, _COMPREHENSIONS):
            # only `:=` inside a comprehension binds outside it (PEP 572)
            stack.extend(deep.target for deep in flat(item) if isinstance(deep, ast.NamedExpr))
            continue
        stack.extend(children(item))


def _mentions(node: ast.AST) -> Iterator[str]:
    stack: list[ast.AST] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Name):
            if isinstance(item.ctx, ast.Load):
                yield item.id
            continue
        if isinstance(item, ast.Attribute):
            chain = dotted(item)
            if chain is not None:
                yield chain
                continue
        inside = children(item)
        if isinstance(item, ast.arg | ast.AnnAssign | ast.FunctionDef | ast.AsyncFunctionDef):
            skipped = (getattr(item, "annotation", None), getattr(item, "returns", None))
            inside = [part for part in inside if part not in skipped]
        stack.extend(inside)


def dotted(node: ast.AST) -> str | None:
    """Return `a.b.c` for a chain of attributes that begins with a name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))
