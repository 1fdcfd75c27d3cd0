"""Imports one flow module in the child and says, where that fails, which line of the project is to blame."""

from __future__ import annotations

import importlib
import os
import traceback
from pathlib import Path
from types import ModuleType

from keel.core.finding import Finding, Location, finding
from keel.core.text import excerpt
from keel.errors import KeelError, NoRuntime
from keel.native.hints import without_address
from keel.native.request import ModuleRef


def import_module(reference: ModuleRef, project: Path) -> ModuleType | Finding:
    """Import a module by name, or return a finding.

    Args:
        reference: the module's name, and the file that it must come from.
        project: the project's directory.
    """
    try:
        module = importlib.import_module(reference.name)
    except BaseException as error:  # noqa: BLE001 - importing runs user code, which may raise anything
        return _import_finding(reference, error, project)
    origin = getattr(module, "__file__", None) or ""
    if os.path.realpath(origin) != os.path.realpath(project / reference.file):
        place = relative(origin, project) or "outside the project"
        return finding(
            "native-tool",
            f"`import {reference.name}` gives another module (`{excerpt(place)}`) than `{reference.file}`",
            location=Location(reference.file, 1, 1),
            next="rename the module, or correct the order of `source-roots`",
        )
    return module


def _import_finding(reference: ModuleRef, error: BaseException, project: Path) -> Finding:
    file, line = _user_frame(error, project) or (reference.file, 1)
    if isinstance(error, SystemExit):
        what, next_ = "calls `sys.exit` while it is imported", "guard it with `if __name__ == '__main__':`"
    elif isinstance(error, ModuleNotFoundError):
        what = f"cannot be imported: there is no module `{excerpt(str(error.name))}`"
        next_ = "install it in the project's environment, or correct the import"
    else:
        message = error.message if isinstance(error, KeelError) else without_address(str(error))
        shown = excerpt(f"{type(error).__name__}: {message}".removesuffix(": "), 300)
        what = f"cannot be imported: `{shown}`"
        next_ = _next_step(error)
    location = Location(file, line, 1)
    return finding("native-tool", f"module `{reference.name}` {what}", location=location, next=next_)


def _next_step(error: BaseException) -> str:
    if isinstance(error, NoRuntime):
        return "call tools only inside functions, never while a module is imported"
    if isinstance(error, KeelError) and error.hint:
        return error.hint
    return "correct the named line; importing a flow module must succeed without a server, a model or a person"


def _user_frame(error: BaseException, project: Path) -> tuple[str, int] | None:
    """Return (file, line) of the innermost frame, or of the syntax error, that lies in the project."""
    frames = [(frame.filename, frame.lineno or 1) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((error.filename, error.lineno or 1))
    for filename, line in reversed(frames):
        own = relative(filename, project)
        if own:
            return own, line
    return None


def relative(filename: str, project: Path) -> str:
    """Return a file's path relative to the project, or an empty text if it is no file of the project itself."""
    try:
        path = Path(os.path.realpath(filename)).relative_to(os.path.realpath(project))
    except ValueError:
        return ""
    return "" if {"site-packages", "dist-packages"} & set(path.parts) else path.as_posix()
