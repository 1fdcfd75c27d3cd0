"""Runs in the child process, under the project's interpreter: imports the flow modules and derives their tools.

The parent (`keel.store.child`) sends a `Request` on standard input and reads JSON lines from a pipe of its own:
`{"importing": MODULE}` before each import, so that a hang or a crash has a name, and one `{"answer": …}` at the end.
Whatever the imported modules print goes elsewhere and cannot disturb it.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.text import excerpt
from keel.native.hints import without_address
from keel.native.importing import import_module
from keel.native.inventory import AnyTool, find, unseen
from keel.native.positions import Source, sources
from keel.native.request import Answer, NativeDefinition, Request, ToolRef

MINIMUM_PYDANTIC = (2, 9)
"""Oldest pydantic whose schemas the normal form is checked against."""


def main(channel: int) -> NoReturn:
    """Serve one request and end the process, whatever threads the imported modules started.

    Args:
        channel: file descriptor of the parent's pipe.
    """
    private = os.dup(channel)  # not inherited by programs that a module starts
    os.close(channel)
    owner = os.getpid()

    def send(message: dict[str, Any]) -> None:
        if os.getpid() != owner:
            os._exit(0)  # a module forked while it was imported; only the original process answers
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(private, data) :]

    request = Request.from_json(json.load(sys.stdin))
    answer = introspect(request, lambda module: send({"importing": module}))
    send({"answer": answer.to_json()})
    os._exit(0)


def introspect(request: Request, importing: Callable[[str], None]) -> Answer:
    """Import the modules of a request and derive its tools.

    Args:
        request: what to import and to find.
        importing: told each module's name before its import.
    """
    missing = _pydantic_fault()  # imports it before the project's modules can stand in front of it
    project = Path(request.project)
    sys.argv = ["keel"]
    sys.path[:0] = [str(project / root) for root in request.roots]
    modules, findings = _imported(request, project, importing)
    files = {item.name: item.file for item in request.modules}
    tools: list[tuple[ToolRef, AnyTool]] = []
    for wanted in request.tools:
        if wanted.module in modules:
            tool = find(modules[wanted.module], wanted, files[wanted.module])
            if isinstance(tool, Finding):
                findings.append(tool)
            else:
                tools.append((wanted, tool))
    findings.extend(unseen(request, [tool for _, tool in tools]))
    if tools and missing:
        return Answer((), (*findings, missing))
    definitions: list[NativeDefinition] = []
    places = _Sources(project)
    for wanted, tool in tools:
        derived = _derive(wanted, tool, files[wanted.module], places)
        if isinstance(derived, NativeDefinition):
            definitions.append(derived)
        else:
            findings.extend(derived)
    return Answer(tuple(definitions), tuple(findings))


def _imported(
    request: Request, project: Path, importing: Callable[[str], None]
) -> tuple[dict[str, ModuleType], list[Finding]]:
    modules: dict[str, ModuleType] = {}
    findings: list[Finding] = []
    for reference in request.modules:
        importing(reference.name)
        imported = import_module(reference, project)
        if isinstance(imported, Finding):
            findings.append(imported)
        else:
            modules[reference.name] = imported
    return modules, findings


def _pydantic_fault() -> Finding | None:
    needed = ".".join(map(str, MINIMUM_PYDANTIC))
    try:
        import pydantic  # noqa: PLC0415 - may be missing in the project's interpreter

        version = str(pydantic.VERSION)
        if tuple(int(part) for part in version.split(".")[:2]) >= MINIMUM_PYDANTIC:
            import keel.native.derive  # noqa: F401, PLC0415 - loads all that it needs

            return None
        what = f"has pydantic {version}, and keel needs {needed} or later"
    except ImportError as error:
        what = f"cannot import pydantic (`{excerpt(str(error))}`)"
    return finding(
        "native-tool",
        f"native tools cannot be described: the project's interpreter {what}",
        next=f"install `keel-toolchain`, or `pydantic>={needed}`, in the project's environment, "
        "or name another interpreter with `python` in the keel configuration",
    )


class _Sources:
    """Positions of the functions of the project's files, each file read once."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.files: dict[str, dict[tuple[str, int], Source]] = {}

    def of(self, tool: AnyTool, file: str) -> Source | None:
        """Return where a tool's function stands, or None if it is not in that file."""
        if file not in self.files:
            with tokenize.open(self.project / file) as lines:
                self.files[file] = sources(lines.read(), file)
        code = inspect.unwrap(tool.fn).__code__
        return self.files[file].get((code.co_name, code.co_firstlineno))


def _derive(wanted: ToolRef, tool: AnyTool, file: str, places: _Sources) -> NativeDefinition | tuple[Finding, ...]:
    from keel.native.derive import derive  # noqa: PLC0415 - imports pydantic

    try:
        wire = derive(tool.fn, tool.name, places.of(tool, file) or Source(file, wanted.line, 1))
    except InputErrors as errors:
        return errors.findings
    except BaseException as error:  # noqa: BLE001 - annotations and types run user code, which may raise anything
        shown = excerpt(without_address(f"{type(error).__name__}: {error}"), 300)
        message = f"native tool `{excerpt(tool.name)}` cannot be described: `{shown}`"
        location = Location(file, wanted.line, 1, key=tool.name)
        return (finding("native-tool", message, location=location),)
    return NativeDefinition(wanted, wire, tool.declaration.effect.value, tool.declaration.idempotent)
