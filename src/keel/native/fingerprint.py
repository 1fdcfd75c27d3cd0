"""The source fingerprint of a native tool, from syntax alone, so that `check` sees a stale lock without importing.

`interface` covers all that can change the definition: decorators, name, parameters, annotations, defaults, docstring,
and transitively every project-level name that these use. `body` covers what the function does. Formatting, comments
and the Python version change neither.

A public method of a class that has no decorator, and that the class body does not use, cannot change a schema; its
body is left out, or one edit of a helper would make every tool stale whose models can reach it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Protocol

from keel.core.digest import digest
from keel.native.stable import docstring, dotted_names, dump, without_docstring

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a name of the project gets its value."""

    module: str
    """Dotted name of the module in which the statement stands, after following the project's imports."""
    name: str
    """The name that the statement binds."""
    node: ast.stmt
    """The module-level statement that binds it: `class`, `def`, an assignment, `type`; the whole `if` or `try` where it
    is bound inside one; an import statement where the name comes from outside the project."""


class Definitions(Protocol):
    """What the fingerprint asks the static reader."""

    def find(self, module: str, name: str) -> Definition | None:
        """Return where a name gets its value, seen from a module.

        Args:
            module: dotted name of a project module.
            name: a name as that module's code writes it, possibly dotted: `Ticket`, `models.Ticket`, `Color.RED`.
                A dotted name is found if its first part is an imported project module that binds the rest; of
                `Color.RED` with a class `Color` only `Color` is, which is asked for next.

        Returns:
            None for builtins, for names bound inside functions, and for what does not resolve.
        """
        ...


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Digests of a native tool's source, `k1:<hex>`."""

    interface: str
    """Changes whenever the tool's definition or declaration may have changed."""
    body: str
    """Changes whenever the function does something else."""


def fingerprint(module: str, function_name: str, resolver: Definitions) -> Fingerprint:
    """Return the fingerprint of one native tool; `Fingerprints` is for many of one project.

    Args:
        module: dotted name of the module that defines the function.
        function_name: its qualified name, `lookup` or `Desk.lookup`.
        resolver: finds the statements that define names.

    Raises:
        LookupError: if the resolver knows no function of that name.
    """
    return Fingerprints(resolver).of(module, function_name)


@dataclass(frozen=True, slots=True)
class _Reached:
    """One definition that a tool uses, and what it uses in turn."""

    source: str
    """Digest of its text, or the dotted name of an import."""
    links: dict[str, Definition]
    """For each name as written where it leads."""


class Fingerprints:
    """Fingerprints of a project's native tools; what several of them use is read once.

    Args:
        resolver: finds the statements that define names; it must not change meanwhile.
    """

    def __init__(self, resolver: Definitions) -> None:
        self._resolver = resolver
        self._known: dict[tuple[str, str], _Reached] = {}

    def of(self, module: str, function_name: str) -> Fingerprint:
        """Return the fingerprint of one tool; see `fingerprint`.

        Raises:
            LookupError: if the resolver knows no function of that name.
        """
        home, function = _function(module, function_name, self._resolver)
        type_params: list[ast.AST] = list(getattr(function, "type_params", ()))
        returns = [] if function.returns is None else [function.returns]
        links = _links(home, [*function.decorator_list, function.args, *type_params, *returns], self._resolver)
        interface = {
            "name": function.name,
            "decorators": [dump(item) for item in function.decorator_list],
            "parameters": dump(function.args),
            "returns": [dump(item) for item in returns],
            "type_params": [dump(item) for item in type_params],
            "docstring": docstring(function),
            "names": _written(links),
            "uses": self._uses(links),
        }
        body = {
            "async": isinstance(function, ast.AsyncFunctionDef),
            "statements": [dump(item) for item in without_docstring(function)],
        }
        return Fingerprint(digest(interface), digest(body))

    def _uses(self, links: dict[str, Definition]) -> list[Any]:
        """Return every definition that is reached, with what each name in it stands for."""
        found: dict[tuple[str, str], _Reached] = {}
        pending = list(links.values())
        while pending:
            definition = pending.pop()
            key = (definition.module, definition.name)
            if key not in found:
                found[key] = self._reach(key, definition)
                pending.extend(found[key].links.values())
        return [[*key, found[key].source, _written(found[key].links)] for key in sorted(found)]

    def _reach(self, key: tuple[str, str], definition: Definition) -> _Reached:
        known = self._known.get(key)
        if known is None:
            if isinstance(definition.node, ast.Import | ast.ImportFrom):
                known = _Reached(_imported(definition.name, definition.node), {})
            else:
                node = _relevant(definition.node)
                known = _Reached(digest(dump(node)), _links(definition.module, [node], self._resolver))
            self._known[key] = known
        return known


def _function(module: str, function_name: str, resolver: Definitions) -> tuple[str, Function]:
    outer, _, inner = function_name.partition(".")
    for name, rest in ((function_name, function_name.rpartition(".")[2]), (outer, inner or outer)):
        found = resolver.find(module, name)
        if found is not None:
            function = _inside(found.node, rest.split("."))
            if function is not None:
                return found.module, function
    raise LookupError(f"no function `{function_name}` in module `{module}`")


def _inside(node: ast.AST, path: list[str]) -> Function | None:
    """Return the function at a path of names below a statement; the last one wins, as in Python."""
    if isinstance(node, Function):
        return node if [node.name] == path else None
    scope = [item for item in ast.walk(node) if getattr(item, "name", None) == path[0] and item is not node]
    for item in reversed(scope):
        if isinstance(item, Function) and len(path) == 1:
            return item
        if isinstance(item, ast.ClassDef) and len(path) > 1:
            return _inside(item, path[1:])
    return None


def _links(module: str, parts: list[ast.AST], resolver: Definitions) -> dict[str, Definition]:
    links = {}
    for written in sorted({name for part in parts for name in dotted_names(part)}):
        definition = _longest(module, written, resolver)
        if definition is not None:
            links[written] = definition
    return links


def _longest(module: str, written: str, resolver: Definitions) -> Definition | None:
    while written:
        definition = resolver.find(module, written)
        if definition is not None:
            return definition
        written = written.rpartition(".")[0]
    return None


def _written(links: dict[str, Definition]) -> dict[str, str]:
    return {written: f"{definition.module}:{definition.name}" for written, definition in links.items()}


def _imported(name: str, node: ast.Import | ast.ImportFrom) -> str:
    """Return the dotted name that an import from outside the project binds."""
    for alias in node.names:
        if name in (alias.asname, alias.name, alias.name.partition(".")[0]):
            prefix = f"{'.' * node.level}{node.module or ''}:" if isinstance(node, ast.ImportFrom) else ""
            return f"import {prefix}{alias.name}"
    return dump(node)


def _relevant(node: ast.stmt) -> ast.stmt:
    """Return a class without the public methods that cannot change its schema; any other statement as it is."""
    if not isinstance(node, ast.ClassDef) or any(keyword.arg == "metaclass" for keyword in node.keywords):
        return node
    used = {
        name.partition(".")[0] for item in node.body if not isinstance(item, Function) for name in dotted_names(item)
    }
    kept = [item for item in node.body if not _is_plain_method(item, used)]
    fields = {name: getattr(node, name) for name in node._fields if name != "body"}
    return ast.ClassDef(**fields, body=kept or [ast.Pass()])


def _is_plain_method(item: ast.stmt, used: set[str]) -> bool:
    return (
        isinstance(item, Function)
        and not item.decorator_list
        and not item.name.startswith("_")
        and item.name not in used
    )
