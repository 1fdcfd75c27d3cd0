"""Resolution of a merged index: which of several lines is right follows from the surface file that git merged.

Every line of the index names its server or tool, so both sides of a conflict, or of a `merge=union`, can be read as
candidates. A surface file belongs to one server alone; when it is whole, exactly one candidate matches its digest.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from keel.core.digest import definition_digest, surface_digest
from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.model import Contract, Policy, Surface
from keel.core.text import escape
from keel.lockfile.model import NATIVE_SURFACE, VERSION, LockedServer, LockedTool, LockIndex
from keel.lockfile.read import Candidates, read_surface_file
from keel.lockfile.write import locked_server, locked_tool

_MARKER = re.compile(r"(<{7}|={7}|>{7}|\|{7})( |$)")
_SECTION = re.compile(r"\[(servers|tools|native)\]\s*$")

Records = dict[str, dict[str, list[Any]]]
"""Section, then server or tool, to the candidate values in order of appearance."""


def resolve(
    text: str, file: str, candidates: Candidates, launches: Mapping[str, str]
) -> tuple[LockIndex, tuple[Finding, ...]]:
    """Rebuild an index from a merge of two.

    Contracts are only placeholders, because a freeze computes them from the manifest; native tools are kept where
    their file is whole, because a freeze derives them again unless their source is broken.

    Args:
        text: the merged text, with or without conflict markers.
        file: its name, for messages.
        candidates: yields the surface files of a server.
        launches: fingerprint of each configured server's launch, which decides between two launches.

    Returns:
        The index of every server that is decided, and one `lock-conflict` for each that is not.
    """
    records = _records(text, file)
    servers: list[LockedServer] = []
    tools: list[LockedTool] = []
    unresolved: list[Finding] = []
    for name, facts in sorted(records["servers"].items()):
        surface, problem = _surface(name, facts, candidates)
        entry = None
        if surface is not None:
            entry, problem = _entry(name, facts, surface, launches.get(name))
        if surface is None or entry is None:
            unresolved.append(_conflict(name, problem, file))
            continue
        servers.append(entry)
        tools.extend(_tools(name, surface, records["tools"]))
    tools.extend(_native(records["native"], candidates))
    return LockIndex(tuple(servers), tuple(tools)), tuple(unresolved)


def _records(text: str, file: str) -> Records:
    # A merge may leave a section twice, and lines of one section under the heading of another: their shape tells.
    records: Records = {"servers": {}, "tools": {}, "native": {}}
    for number, line in _both_sides(text):
        if not line.strip() or line.startswith("#") or _SECTION.match(line):
            continue
        location = Location(file=file, line=number)
        try:
            parsed = tomllib.loads(line)
        except ValueError as error:
            message = f"`{file}`, line {number} is neither a lock entry nor a conflict marker"
            raise InputErrors([finding("lock-error", message, location=location)]) from error
        for key, value in parsed.items():
            if isinstance(value, dict):
                records[_section(key, value)].setdefault(key, []).append(value)
            elif key == "version" and value != VERSION:
                message = f"one side of the merge in `{file}` has format {value}; this keel reads format {VERSION}"
                raise InputErrors([finding("lock-newer", message, location=location)])
    return records


def _section(key: str, value: Mapping[str, Any]) -> str:
    if "/" in key:
        return "tools"
    return "native" if "effect" in value else "servers"


def _both_sides(text: str) -> Iterator[tuple[int, str]]:
    in_base = False
    for number, line in enumerate(text.splitlines(), start=1):
        marker = _MARKER.match(line)
        if marker:
            in_base = marker[1].startswith("|")
        elif not in_base:
            yield number, line


def _values(facts: list[Any], name: str) -> list[str]:
    """Return the distinct values that candidates give one fact of a server."""
    return sorted({str(item[name]) for item in facts if isinstance(item, dict) and name in item})


def _surface(name: str, facts: list[Any], candidates: Candidates) -> tuple[Surface | None, str]:
    wanted = _values(facts, "surface")
    problem = "its surface file is missing"
    for file, data in candidates(name):
        try:
            surface = read_surface_file(data, file)
        except InputErrors as error:
            problem = str(error)
            continue
        if surface_digest(surface) in wanted:
            return surface, ""
        problem = f"`{file}` matches neither side"
    return None, problem


def _entry(name: str, facts: list[Any], surface: Surface, current: str | None) -> tuple[LockedServer | None, str]:
    launches = _values(facts, "launch")
    launch = launches[0] if len(launches) == 1 else current
    if launch not in launches:
        return None, "the two sides were frozen from different launches"
    policies = [Policy(item) for item in _values(facts, "policy") if item in set(Policy)]
    strictest = min(policies, key=list(Policy).index, default=Policy.PIN)
    return locked_server(name, surface, policy=strictest, launch=str(launch)), ""


def _tools(name: str, surface: Surface, lines: Mapping[str, list[Any]]) -> Iterator[LockedTool]:
    for wire in surface.tools:
        key = f"{name}/{wire['name']}"
        digest = definition_digest(wire)
        if any(isinstance(line, dict) and line.get("definition") == digest for line in lines.get(key, [])):
            yield locked_tool(key, wire, Contract())


def _native(lines: Mapping[str, list[Any]], candidates: Candidates) -> list[LockedTool]:
    """Return the native tools if each of them has a line that fits, else none."""
    for file, data in candidates(NATIVE_SURFACE):
        try:
            surface = read_surface_file(data, file)
        except InputErrors:
            continue
        found = []
        for wire in surface.tools:
            key, digest = str(wire["name"]), definition_digest(wire)
            told = [line for line in lines.get(key, []) if isinstance(line, dict)]
            fitting = [line for line in told if line.get("definition") == digest]
            if not fitting:
                return []
            marks = {name: str(fitting[0].get(name, "")) for name in ("source", "body")}
            found.append(locked_tool(key, wire, Contract(), **marks))
        return found
    return []


def _conflict(name: str, problem: str, file: str) -> Finding:
    message = f"both sides of the merge changed `{escape(name)}`, and {problem}"
    hint = f"run `keel freeze {name}` and review the difference"
    return finding("lock-conflict", message, location=Location(file=file, key=name), next=hint)
