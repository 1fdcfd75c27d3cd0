"""Surface files: reading one gives what a live capture of the same server gives."""

from __future__ import annotations

from typing import Any

from keel.capture.assemble import Entries, FirstReply, assemble, rebase
from keel.capture.gaps import CaptureGap
from keel.capture.interface import Captured, Launch
from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.jsontext import JsonFault, JsonSyntaxError, parse
from keel.core.model import Surface
from keel.core.text import escape

_LISTS = ("tools", "prompts", "resources", "resourceTemplates")
_SHAPES = "a surface file is an object with `tools`, a bare `tools/list` result, or a bare list of tools"
_RECREATE = "recreate it with `keel capture`"


def replayed(launch: Launch) -> Captured:
    """Return what a surface file says.

    Raises:
        CaptureGap: if it cannot be read.
    """
    assert launch.surface is not None
    try:
        surface, findings = read_surface(launch.surface.read_bytes(), launch.name, launch.surface.name)
    except OSError as error:
        why = f"surface file `{escape(launch.surface.name)}` cannot be read: {escape(error.strerror or str(error))}"
        raise CaptureGap("unreachable", why, "correct `surface`, or create the file with `keel capture`") from error
    except InputErrors as error:
        how = "recreate the surface file with `keel capture`"
        raise CaptureGap("server-failed", error.message, how, findings=error.findings) from error
    return Captured(launch.name, surface, findings, pages=1)


def read_surface(data: bytes, name: str, file: str) -> tuple[Surface, tuple[Finding, ...]]:
    """Read a surface file: the object form, a bare `tools/list` result, or a bare list of tools.

    Args:
        data: content of the file.
        name: name of the server that it stands for.
        file: path relative to the project, for messages.

    Raises:
        InputErrors: with `input-error` findings, if the file is none of these forms.
    """
    try:
        document, faults = parse(data)
    except JsonSyntaxError as error:
        at = Location(file=file, line=error.line, column=error.column)
        message = f"`{escape(file)}` is not JSON: {escape(error.message)}"
        raise InputErrors([finding("input-error", message, location=at, next=_RECREATE)]) from error
    if isinstance(document, list):
        document = {"tools": document}
        faults = tuple(JsonFault(fault.fault, f"/tools{fault.pointer}", fault.detail) for fault in faults)
    problems = _problems(document, faults, file)
    if problems:
        raise InputErrors(problems)
    first = FirstReply(document.get("initialize") or {}, rebase(faults, "/initialize"))
    lists = {
        field: [Entries(tuple(document[field]), rebase(faults, f"/{field}"))]
        for field in _LISTS
        if document.get(field) is not None
    }
    return assemble(name, first, lists, file=file)


def _problems(document: Any, faults: tuple[JsonFault, ...], file: str) -> list[Finding]:
    if not isinstance(document, dict):
        return [_problem(file, "", f"`{escape(file)}` is not a surface: {_SHAPES}")]
    found = []
    if "tools" not in document:
        if isinstance(document.get("result"), dict):
            return [_problem(file, "/result", f"`{escape(file)}` is a JSON-RPC message; keep only its `result`")]
        found.append(_problem(file, "", f"`{escape(file)}` has no `tools`: {_SHAPES}"))
    elif document["tools"] is None:
        found.append(_problem(file, "/tools", f"`tools` in `{escape(file)}` is null, not a list"))
    for field in _LISTS:
        if not isinstance(document.get(field), list | None):
            found.append(_problem(file, f"/{field}", f"`{field}` in `{escape(file)}` is not a list"))
    found.extend(_initialize_problems(document.get("initialize", {}), file))
    for fault in faults:
        if fault.pointer.count("/") == 1 and fault.pointer[1:] in (*_LISTS, "initialize"):
            found.append(_problem(file, fault.pointer, f"{escape(fault.detail)} in `{escape(file)}`"))
    return found


def _initialize_problems(value: Any, file: str) -> list[Finding]:
    if value is None:
        return []
    if not isinstance(value, dict):
        return [_problem(file, "/initialize", f"`initialize` in `{escape(file)}` is not an object")]
    types: dict[str, tuple[type, str]] = {
        "protocolVersion": (str, "a string"),
        "serverInfo": (dict, "an object"),
        "capabilities": (dict, "an object"),
        "instructions": (str, "a string"),
    }
    return [
        _problem(file, f"/initialize/{name}", f"`initialize.{name}` in `{escape(file)}` is not {noun}")
        for name, (kind, noun) in types.items()
        if value.get(name) is not None and not isinstance(value[name], kind)
    ]


def _problem(file: str, pointer: str, message: str) -> Finding:
    return finding("input-error", message, location=Location(file=file, pointer=pointer), next=_RECREATE)
