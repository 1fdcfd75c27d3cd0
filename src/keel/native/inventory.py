"""Compares the native tools that exist after the imports with those that the static reader found."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from keel.authoring.tools import Tool
from keel.core.finding import Finding, Location, finding
from keel.core.text import excerpt
from keel.native.importing import relative
from keel.native.request import Request, ToolRef

AnyTool = Tool[..., Any]


def find(module: ModuleType, wanted: ToolRef, file: str) -> AnyTool | Finding:
    """Return the tool that the reader found, or a finding if the running module has another thing in its place.

    Args:
        module: the imported module.
        wanted: the tool as the reader found it.
        file: the module's path relative to the project.
    """
    value: Any = module
    for part in wanted.qualname.split("."):
        value = getattr(value, part, None)
    location = Location(file, wanted.line, 1, key=wanted.name)
    if not isinstance(value, Tool):
        return finding(
            "native-tool",
            f"the source declares native tool `{wanted.name}` as `{wanted.qualname}`, which is "
            f"{_described(value)} when module `{wanted.module}` runs",
            location=location,
            next="let nothing rebind, wrap or skip the decorated function",
        )
    if value.name != wanted.name:
        return finding(
            "native-tool",
            f"native tool `{wanted.qualname}` is called `{wanted.name}` in the source and "
            f"`{excerpt(value.name)}` when module `{wanted.module}` runs",
            location=location,
            next="give `name` of `@tool` as a literal",
        )
    return value


def _described(value: object) -> str:
    return "not there" if value is None else f"a `{type(value).__name__}`"


def unseen(request: Request, known: list[AnyTool]) -> Iterator[Finding]:
    """Yield a finding for each native tool of the project that exists now and that the static reader did not see."""
    project = Path(request.project)
    functions = {id(tool.fn) for tool in known}
    named = {(item.module, item.qualname) for item in request.tools}
    for tool in _living():
        code = inspect.unwrap(tool.fn).__code__
        file = relative(code.co_filename, project)
        if not file or id(tool.fn) in functions or (tool.fn.__module__, tool.fn.__qualname__) in named:
            continue
        functions.add(id(tool.fn))
        yield finding(
            "native-tool",
            f"module `{tool.fn.__module__}` makes native tool `{excerpt(tool.name)}`, which its source does not show",
            location=Location(file, code.co_firstlineno, 1, key=tool.name),
            next="decorate a function of the module with `@tool`, directly and once",
        )


def _living() -> list[AnyTool]:
    found = [item for item in gc.get_objects() if type(item) is Tool]
    return sorted(found, key=lambda tool: (tool.fn.__module__, tool.fn.__qualname__, tool.name))
