"""Modules of a project: finding, parsing and importing them by name, without executing anything."""

from __future__ import annotations

import ast
import fnmatch
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from keel.core.finding import Finding, Location, finding

_NEWLINE = re.compile(r"\r\n|\r|\n")


class Sources(Protocol):
    """The Python files of a project; implemented at the edge."""

    def files(self) -> tuple[str, ...]:
        """Return every `.py` file, relative to the project with forward slashes, sorted."""

    def read(self, file: str) -> str:
        """Return a file's text, decoded as Python would (PEP 263).

        Raises:
            UnicodeError, SyntaxError, OSError: if it cannot be read as Python source.
        """

    def elsewhere(self, module: str) -> str | None:
        """Return a file of the repository that an absolute module name would mean, were its folder a source root.

        Only files outside the project's own listing need to be found here.
        """


@dataclass(frozen=True)
class MemorySources:
    """Sources held in memory, for tests and for text that comes from somewhere else."""

    texts: Mapping[str, str]
    outside: Mapping[str, str] = field(default_factory=dict)
    """Module name to the file outside the project that holds it."""

    def files(self) -> tuple[str, ...]:
        """Return the names of the texts."""
        return tuple(sorted(self.texts))

    def read(self, file: str) -> str:
        """Return one text."""
        return self.texts[file]

    def elsewhere(self, module: str) -> str | None:
        """Return the file outside the project that holds a module, if one was given."""
        return self.outside.get(module)


@dataclass(eq=False)
class Module:
    """One parsed module."""

    name: str
    file: str
    tree: ast.Module
    text: str
    package: str
    """What relative imports are relative to."""
    symbols: dict[str, ast.AST] = field(default_factory=dict)
    """Top-level names and the last statement that binds each."""
    bindings: dict[str, int] = field(default_factory=dict)
    """How often each top-level name is bound, star imports aside."""
    binders: dict[str, list[ast.stmt]] = field(default_factory=dict)
    """Name to the statements of the module's body that bind it, a whole `if` or `try` where it is bound inside one."""
    stars: tuple[ast.ImportFrom, ...] = ()
    _split: list[str] | None = None
    _nodes: list[ast.AST] | None = None

    def nodes(self) -> list[ast.AST]:
        """Return every syntax node, contexts and operators aside, outer ones before those inside."""
        if self._nodes is None:
            self._nodes = flat(self.tree)
        return self._nodes

    def line(self, number: int) -> str:
        """Return one stripped source line, 1-based."""
        lines = self.lines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def lines(self) -> list[str]:
        """Return the source lines, split where the parser splits."""
        if self._split is None:
            self._split = _NEWLINE.split(self.text)
        return self._split


_SKIPPED_FIELDS = frozenset(
    {"ctx", "op", "ops", "kind", "type_comment", "type_ignores", "simple", "level", "conversion"}
    | {"id", "attr", "arg", "asname", "module", "rest"}
)
"""Fields that never hold a name, an expression or a statement."""
_FIELDS: dict[type, tuple[str, ...]] = {ast.Constant: ()}
_NOTHING: list[ast.AST] = []


def children(node: ast.AST) -> list[ast.AST]:
    """Return the syntax nodes directly inside one, contexts and operators aside; nobody may change the list."""
    kind = node.__class__
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = tuple(name for name in node._fields if name not in _SKIPPED_FIELDS)
    if not fields:
        return _NOTHING
    found: list[ast.AST] = []
    for name in fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def flat(node: ast.AST) -> list[ast.AST]:
    """Return a syntax node and every one inside it, outer ones first."""
    found = [node]
    for item in found:
        found.extend(children(item))
    return found


def location(module: Module, node: ast.AST, key: str = "") -> Location:
    """Return where a syntax node stands, its column counted in characters."""
    line = getattr(node, "lineno", 0)
    return Location(module.file, line, column_of(module, node), key)


def column_of(module: Module, node: ast.AST) -> int:
    """Return the 1-based column of a node in characters; the parser counts UTF-8 bytes."""
    offset: int = getattr(node, "col_offset", 0)
    if module.text.isascii():
        return offset + 1
    lines = module.lines()
    line = getattr(node, "lineno", 1)
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return len(text.encode("utf-8")[:offset].decode("utf-8", "replace")) + 1


class Project:
    """The modules of one project by name; parses each file at most once."""

    def __init__(self, sources: Sources, source_roots: tuple[str, ...]) -> None:
        self.sources = sources
        self.roots = tuple(_clean_root(root) for root in source_roots) or ("",)
        self.findings: list[Finding] = []
        self._files = sources.files()
        self._known = frozenset(self._files)
        self._folders = _folders(self._files)
        self._parsed: dict[str, Module | None] = {}
        self._tails: dict[str, str] | None = None

    def files(self) -> tuple[str, ...]:
        """Return every Python file of the project."""
        return self._files

    def file_of(self, module: str) -> str | None:
        """Return the file of a module name across the source roots, a package's `__init__.py` before a module."""
        path = module.replace(".", "/")
        for root in self.roots:
            for name in (f"{root}{path}/__init__.py", f"{root}{path}.py"):
                if name in self._known:
                    return name
        return None

    def is_namespace(self, module: str) -> bool:
        """Tell whether a name is a folder of Python files without `__init__.py` (PEP 420)."""
        path = module.replace(".", "/")
        return any(f"{root}{path}" in self._folders for root in self.roots)

    def outside_roots(self, module: str) -> str | None:
        """Return the file that holds a module although no source root leads to it.

        A member of a regular package is no such file: it can only be meant by its full name.
        """
        if module.partition(".")[0] in sys.stdlib_module_names:
            return None
        if self._tails is None:
            self._tails = by_tail(self._files)
        found = self._tails.get(module)
        return found if found is not None else self.sources.elsewhere(module)

    def name_of(self, file: str) -> str:
        """Return the module name of a file: the shortest one that a source root gives."""
        best = file
        for root in self.roots:
            if file.startswith(root) and len(file) - len(root) < len(best) + (best == file):
                best = file[len(root) :]
        return best.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def module(self, name: str) -> Module | None:
        """Return a parsed module by name; None if it is not in the project or cannot be parsed."""
        file = self.file_of(name)
        return self.parse(file, name) if file is not None else None

    def parse(self, file: str, name: str = "") -> Module | None:
        """Parse one file; a failure is one `syntax-error` finding."""
        if file not in self._parsed:
            self._parsed[file] = self._parse(file, name or self.name_of(file))
        return self._parsed[file]

    def _parse(self, file: str, name: str) -> Module | None:
        try:
            text = self.sources.read(file)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text, file)
        except SyntaxError as error:
            self._refuse(file, error.lineno or 1, error.offset or 1, f"{error.msg}")
        except (RecursionError, MemoryError):
            self._refuse(file, 1, 1, "it is nested too deep for the parser", "split the expression or the function")
        except (UnicodeError, ValueError) as error:
            self._refuse(file, 1, 1, f"{error}", "save the file as UTF-8 without null characters")
        except OSError as error:
            self._refuse(file, 1, 1, f"it cannot be read: {error.strerror or error}", "restore the file")
        else:
            package = name if file.endswith("/__init__.py") else name.rpartition(".")[0]
            return _index(Module(name, file, tree, text, package))
        return None

    def _refuse(self, file: str, line: int, column: int, why: str, next_: str = "") -> None:
        self.findings.append(
            finding(
                "syntax-error",
                f"`{file}` cannot be parsed: {why}",
                location=Location(file, max(line, 1), max(column, 1)),
                next=next_ or "correct the module, or run keel with the Python version that it is written for",
            )
        )


def by_tail(files: tuple[str, ...]) -> dict[str, str]:
    """Return every module name that some folder outside regular packages would give, were it a source root."""
    packages = {file.removesuffix("/__init__.py") for file in files if file.endswith("/__init__.py")}
    found: dict[str, str] = {}
    for file in reversed(files):
        parts = file.removesuffix(".py").removesuffix("/__init__").split("/")
        for start in range(len(parts)):
            if "/".join(parts[:start]) not in packages:
                found[".".join(parts[start:])] = file
    return found


def _clean_root(root: str) -> str:
    parts = [part for part in root.split("/") if part not in ("", ".")]
    return "".join(f"{part}/" for part in parts)


def _folders(files: tuple[str, ...]) -> frozenset[str]:
    found: set[str] = set()
    for file in files:
        folder = file.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


def _index(module: Module) -> Module:
    stars: list[ast.ImportFrom] = []
    for outer in module.tree.body:
        for statement in top_level([outer]):
            for name in bound_names(statement):
                held = module.binders.setdefault(name, [])
                if not held or held[-1] is not outer:
                    held.append(outer)
    for statement in top_level(module.tree.body):
        if isinstance(statement, ast.ImportFrom) and any(item.name == "*" for item in statement.names):
            stars.append(statement)
        for name in bound_names(statement):
            module.symbols[name] = statement
            module.bindings[name] = module.bindings.get(name, 0) + 1
    module.stars = tuple(stars)
    return module


def top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield module-level statements, those inside `if`, `try`, `with` and loops included."""
    stack = list(reversed(body))
    while stack:
        statement = stack.pop()
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for name in ("finalbody", "orelse", "handlers", "cases", "body"):
            for item in reversed(getattr(statement, name, None) or ()):
                stack.extend(reversed(item.body) if isinstance(item, ast.ExceptHandler | ast.match_case) else [item])


def bound_names(statement: ast.AST) -> Iterator[str]:  # noqa: C901, PLR0912 - one line for each statement
    """Yield the names that one statement itself binds, nested statements aside."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import):
        for item in statement.names:
            yield item.asname or item.name.partition(".")[0]
    elif isinstance(statement, ast.ImportFrom):
        for item in statement.names:
            if item.name != "*":
                yield item.asname or item.name
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from target_names(target)
        yield from _walrus(statement.value)
    elif type(statement).__name__ == "TypeAlias":
        yield from target_names(statement.name)  # type: ignore[attr-defined]
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor):
        if not (isinstance(statement, ast.AnnAssign) and statement.value is None):
            yield from target_names(statement.target)
    elif isinstance(statement, ast.With | ast.AsyncWith):
        for part in statement.items:
            if part.optional_vars is not None:
                yield from target_names(part.optional_vars)
    elif isinstance(statement, ast.Expr | ast.If | ast.While):
        yield from _walrus(statement.value if isinstance(statement, ast.Expr) else statement.test)


def _walrus(node: ast.AST) -> Iterator[str]:
    for inner in flat(node):
        if isinstance(inner, ast.NamedExpr) and isinstance(inner.target, ast.Name):
            yield inner.target.id


def target_names(target: ast.AST) -> Iterator[str]:
    """Yield the names that an assignment target binds."""
    stack = [target]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Name):
            yield item.id
        elif isinstance(item, ast.Tuple | ast.List):
            stack.extend(reversed(item.elts))
        elif isinstance(item, ast.Starred):
            stack.append(item.value)


def matching(files: tuple[str, ...], patterns: tuple[str, ...], roots: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return for each pattern of `flows` the files it names: a file, a glob, or a dotted module name."""
    return {pattern: tuple(_matching(files, pattern, roots)) for pattern in patterns}


def _matching(files: tuple[str, ...], pattern: str, roots: tuple[str, ...]) -> Iterator[str]:
    clean = pattern.removeprefix("./")
    names = {clean}
    if not clean.endswith(".py") and not any(char in clean for char in "*?["):
        path = clean.replace(".", "/")
        names = {f"{_clean_root(root)}{path}{end}" for root in roots for end in (".py", "/__init__.py")}
    for file in files:
        if file in names or (any(char in clean for char in "*?[") and glob_match(file, clean)):
            yield file


def glob_match(file: str, pattern: str) -> bool:
    """Match a path against a glob in which `**` spans folders and `*` does not."""
    return _match(file.split("/"), pattern.split("/"))


def _match(parts: list[str], wanted: list[str]) -> bool:
    states = {0}
    for part in parts:
        states = _spread(states, wanted)
        following: set[int] = set()
        for state in states:
            if state < len(wanted) and wanted[state] == "**":
                following.add(state)
            elif state < len(wanted) and fnmatch.fnmatchcase(part, wanted[state]):
                following.add(state + 1)
        states = following
    return len(wanted) in _spread(states, wanted)


def _spread(states: set[int], wanted: list[str]) -> set[int]:
    found = set(states)
    for state in sorted(states):
        step = state
        while step < len(wanted) and wanted[step] == "**":
            step += 1
            found.add(step)
    return found
