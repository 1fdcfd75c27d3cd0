"""Where a finding stands in the repository, for formats in which every finding needs a file and a line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keel.core.codes import Gate
from keel.core.finding import Finding
from keel.core.text import escape
from keel.report.interface import Anchors, Presentation

_IN_CONFIG = frozenset({Gate.INPUT, Gate.SUPPRESSION, Gate.BUNDLE})
_IN_MANIFEST = frozenset({Gate.CAPABILITY})


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file of the repository."""

    file: str
    """Path from the top of the repository, with forward slashes; never empty, absolute or outside it."""
    line: int = 1
    """1-based."""
    column: int = 0
    """1-based; 0 when the whole line is meant."""


def place_of(item: Finding, shown: Presentation) -> Place:
    """Return where a finding stands: its own place, else its tool's line in the lock, else a file of the project."""
    at = item.location
    if at.file:
        return Place(in_repository(at.file, shown.prefix), max(at.line, 1), at.column if at.line else 0)
    file, line = _anchor(item, shown.anchors)
    return Place(in_repository(file, shown.prefix), line)


def _anchor(item: Finding, anchors: Anchors) -> tuple[str, int]:
    if item.gate in _IN_CONFIG:
        return anchors.config or anchors.manifest or anchors.lock, 1
    if item.gate in _IN_MANIFEST and anchors.manifest:
        return anchors.manifest, 1
    key = item.location.key
    return anchors.lock, anchors.lines.get(key) or anchors.lines.get(key.partition("/")[0]) or 1


def in_repository(file: str, prefix: str) -> str:
    """Return a path of the report as one from the top of the repository; one that leads outside keeps its name only."""
    path = file.replace("\\", "/")
    absolute = path.startswith("/") or path[1:2] == ":"
    parts: list[str] = []
    for part in path.split("/") if absolute else f"{prefix}/{path}".split("/"):
        if part == ".." and (not parts or absolute):
            return _name(path)
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return _name(path) if absolute or not parts else "/".join(parts)


def _name(path: str) -> str:
    return path.rpartition("/")[2].strip(".") or "unnamed"


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by severity, and within one as the report has them."""
    return sorted(findings, key=lambda item: (item.severity.rank, item.sort_key))


def where(item: Finding) -> str:
    """Return key and pointer of a finding as one escaped text, such as `search/query#/inputSchema`."""
    at = item.location
    return escape(f"{at.key}#{at.pointer}" if at.pointer else at.key)
