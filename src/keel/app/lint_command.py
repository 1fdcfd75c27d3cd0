"""`keel lint`: the definition rules over captured definitions, without a project."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from keel.app.outcome import Outcome
from keel.core.finding import Finding, InputErrors, Location, NotChecked, Report, finding
from keel.core.jsontext import JsonSyntaxError, parse
from keel.core.text import plural
from keel.rules.documents import lint_document
from keel.rules.interface import Profile
from keel.store.files import read_bytes


def lint(files: Iterable[Path], *, targets: tuple[str, ...], strict: bool) -> Outcome:
    """Judge every definition in the files; `-` is standard input.

    Raises:
        InputErrors: everything that cannot be read, of all files at once.
        FileError: if a file cannot be opened.
    """
    findings: list[Finding] = []
    gaps: list[NotChecked] = []
    errors: list[Finding] = []
    names = list(files)
    for path in names:
        try:
            found, missing = _one(path, targets=targets, strict=strict)
        except InputErrors as error:
            errors.extend(replace(item, location=replace(item.location, file=_shown(path))) for item in error.findings)
            continue
        findings.extend(found)
        gaps.extend(missing)
    if errors:
        raise InputErrors(errors)
    return Outcome(Report.of(findings, gaps), looked_at=plural(len(names), "file"))


def _one(path: Path, *, targets: tuple[str, ...], strict: bool) -> tuple[list[Finding], tuple[NotChecked, ...]]:
    data = sys.stdin.buffer.read() if str(path) == "-" else read_bytes(path)
    try:
        value, faults = parse(data)
    except JsonSyntaxError as error:
        at = Location(line=error.line, column=error.column)
        raise InputErrors([finding("input-error", f"not JSON: {error.message}", location=at)]) from error
    profile = Profile.STRICT if strict else Profile.DEFAULT
    found, gaps = lint_document(value, targets=targets, profile=profile)
    broken = [finding("control-text", fault.detail, location=Location(pointer=fault.pointer)) for fault in faults]
    return [_in_file(item, path) for item in (*broken, *found)], gaps


def _in_file(item: Finding, path: Path) -> Finding:
    return replace(item, location=replace(item.location, file=_shown(path)))


def _shown(path: Path) -> str:
    """Return a path as the command line gives it; an absolute one without what names this machine."""
    if str(path) == "-":
        return "standard input"
    return path.name if path.is_absolute() else path.as_posix()
