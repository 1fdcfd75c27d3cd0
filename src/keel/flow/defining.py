"""Where a name gets its value, with the project's imports followed, for the fingerprints of native tools."""

from __future__ import annotations

import ast

from keel.flow.modules import Project
from keel.flow.reach import absolute
from keel.native.fingerprint import Definition

_MOST_IMPORTS = 100
"""How many imports in a row are followed; more are a circle."""


def definition(project: Project, module: str, name: str) -> Definition | None:
    """Return where a name gets its value, seen from a module.

    Args:
        project: the project's modules.
        module: dotted name of a project module.
        name: the name as its code writes it, possibly dotted: `models.Ticket`.

    Returns:
        The statement that binds it, in the module that binds it. The import statement when it comes from outside the
        project; None for builtins and for what does not resolve. A name that is bound more than once has all the
        statements that bind it, held together by an `if`.
    """
    for _ in range(_MOST_IMPORTS):
        source = project.module(module)
        if source is None:
            return None
        head, _, rest = name.partition(".")
        statements = source.binders.get(head, [])
        if not statements:
            star = next((item for item in source.stars if _binds(project, absolute(source, item), head)), None)
            if star is None:
                return None
            module = absolute(source, star)
            continue
        last = statements[-1]
        if len(statements) == 1 and isinstance(last, ast.ImportFrom):
            base, original = absolute(source, last), _original(last, head)
            if rest and project.file_of(f"{base}.{original}") is not None and not _binds(project, base, original):
                module, name = f"{base}.{original}", rest
                continue
            if project.file_of(base) is not None and _binds(project, base, original):
                module, name = base, f"{original}.{rest}" if rest else original
                continue
            return None if rest else Definition(source.name, head, last)
        if len(statements) == 1 and isinstance(last, ast.Import):
            target = _imported(project, last, name)
            if target is None:
                return None if rest else Definition(source.name, head, last)
            module, name = target
            continue
        return None if rest else Definition(source.name, head, _together(statements))
    return None


def _binds(project: Project, module: str, name: str) -> bool:
    source = project.module(module)
    return source is not None and (name in source.symbols or bool(source.stars))


def _original(statement: ast.ImportFrom, name: str) -> str:
    return next((item.name for item in statement.names if (item.asname or item.name) == name), name)


def _imported(project: Project, statement: ast.Import, name: str) -> tuple[str, str] | None:
    """Return (module, name in it) for a dotted name under `import a.b` or `import a.b as c`."""
    parts = name.split(".")
    for item in statement.names:
        if item.asname == parts[0] and len(parts) > 1:
            return (item.name, ".".join(parts[1:])) if project.file_of(item.name) is not None else None
    for length in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:length])
        if project.file_of(module) is not None:
            return module, ".".join(parts[length:])
    return None


def _together(statements: list[ast.stmt]) -> ast.stmt:
    if len(statements) == 1:
        return statements[0]
    return ast.If(test=ast.Constant(value=True), body=statements, orelse=[])
