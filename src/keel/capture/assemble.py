"""From raw listings to a surface: names, duplicates and JSON faults are judged here, for servers and files alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keel.core.codes import Severity
from keel.core.digest import digest, normal_tool
from keel.core.finding import Finding, Location, finding
from keel.core.jsontext import Fault, JsonFault, escape_token
from keel.core.model import Surface
from keel.core.text import escape, excerpt, plural

INITIALIZE_FIELDS = ("protocolVersion", "serverInfo", "capabilities", "instructions")
"""What a surface keeps of the first reply; everything else belongs to the envelope of one protocol era."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one page of a listing, as sent."""

    items: tuple[Any, ...]
    faults: tuple[JsonFault, ...] = ()
    """JSON faults, with pointers from the list that holds the entries."""


@dataclass(frozen=True, slots=True)
class FirstReply:
    """The raw object with which a server introduced itself."""

    value: Mapping[str, Any]
    faults: tuple[JsonFault, ...] = ()
    """JSON faults, with pointers from this object."""


@dataclass(frozen=True, slots=True)
class _Kind:
    field: str
    noun: str
    identity: str
    """The member that tells two entries apart."""


TOOLS = _Kind("tools", "tool", "name")
PROMPTS = _Kind("prompts", "prompt", "name")
RESOURCES = _Kind("resources", "resource", "uri")
TEMPLATES = _Kind("resourceTemplates", "resource template", "uriTemplate")


def assemble(
    server: str,
    first: FirstReply,
    lists: Mapping[str, Sequence[Entries]],
    *,
    file: str = "",
    stray: Iterable[JsonFault] = (),
) -> tuple[Surface, tuple[Finding, ...]]:
    """Build the surface of one server.

    An entry that JSON cannot carry faithfully, that has no name, or whose name comes twice with different content is
    left out of the surface and named by a finding of severity error.

    Args:
        server: name of the server.
        first: reply to `initialize` or `server/discover`.
        lists: pages by field name: `tools`, and `prompts`, `resources`, `resourceTemplates` where they were asked for.
        file: path for the locations of findings, when a file stands for the server.
        stray: JSON faults outside every entry.

    Returns:
        The surface, tools in `k1` normal form and sorted by name, and the findings.
    """
    at = Location(file=file, key=server)
    findings = [_fault_finding(server, "the listing", fault, at) for fault in stray]
    initialize = _initialize(server, first, at, findings)
    built = {
        kind.field: _entries(server, kind, lists[kind.field], at, findings)
        for kind in (TOOLS, PROMPTS, RESOURCES, TEMPLATES)
        if kind.field in lists
    }
    surface = Surface(
        initialize=initialize,
        tools=built.get("tools", ()),
        prompts=built.get("prompts"),
        resources=built.get("resources"),
        resource_templates=built.get("resourceTemplates"),
    )
    return surface, tuple(findings)


def rebase(faults: Iterable[JsonFault], prefix: str) -> tuple[JsonFault, ...]:
    """Return the faults strictly below a pointer, with pointers that start there."""
    return tuple(
        replace(fault, pointer=fault.pointer[len(prefix) :])
        for fault in faults
        if fault.pointer.startswith(f"{prefix}/")
    )


def _initialize(server: str, first: FirstReply, at: Location, findings: list[Finding]) -> dict[str, Any]:
    kept = {name: first.value[name] for name in INITIALIZE_FIELDS if first.value.get(name) is not None}
    for fault in first.faults:
        name = fault.pointer.split("/")[1]
        if name in INITIALIZE_FIELDS:
            findings.append(_fault_finding(server, f"`{name}`", fault, replace(at, pointer="/initialize")))
            kept.pop(name, None)
    return kept


def _entries(
    server: str, kind: _Kind, pages: Sequence[Entries], at: Location, findings: list[Finding]
) -> tuple[Mapping[str, Any], ...]:
    named: dict[str, list[Mapping[str, Any]]] = {}
    offset = 0
    for page in pages:
        faults: dict[int, list[JsonFault]] = {}
        for fault in page.faults:
            faults.setdefault(int(fault.pointer.split("/")[1]), []).append(fault)
        for index, item in enumerate(page.items):
            where = replace(at, pointer=f"/{kind.field}/{offset + index}")
            problems = _problems(server, kind, item, faults.get(index, []), where)
            findings.extend(problems)
            if not problems:
                entry = normal_tool(item) if kind is TOOLS else dict(item)
                named.setdefault(item[kind.identity], []).append(entry)
        offset += len(page.items)
    kept = (_distinct(server, kind, name, named[name], at, findings) for name in sorted(named))
    return tuple(entry for entry in kept if entry is not None)


def _problems(server: str, kind: _Kind, item: Any, faults: Sequence[JsonFault], at: Location) -> list[Finding]:
    name = item.get(kind.identity) if isinstance(item, dict) else None
    if faults:
        label = f"{kind.noun} {_shown(name, at.pointer)}"
        place = _place(server, kind, name, at)
        base = "" if place.key != server else at.pointer
        relative = [replace(fault, pointer="/" + "/".join(fault.pointer.split("/")[2:])) for fault in faults]
        return [_fault_finding(server, label, fault, replace(place, pointer=base)) for fault in relative]
    if not isinstance(item, dict):
        what = f"entry `{at.pointer}` of `{escape(server)}` is {_json_type(item)}, not a {kind.noun} object"
    elif kind.identity not in item:
        what = f"entry `{at.pointer}` of `{escape(server)}` has no `{kind.identity}`"
    elif not isinstance(name, str):
        what = f"`{kind.identity}` of entry `{at.pointer}` of `{escape(server)}` is {_json_type(name)}, not a string"
    elif not name:
        what = f"`{kind.identity}` of entry `{at.pointer}` of `{escape(server)}` is empty"
    else:
        return []
    return [finding("invalid-schema", what, location=at, next="report it to the server's author", why=_NAMELESS)]


_NAMELESS = "An entry that is not a named object cannot be called, granted or compared."


def _distinct(
    server: str,
    kind: _Kind,
    name: str,
    entries: Sequence[Mapping[str, Any]],
    at: Location,
    findings: list[Finding],
) -> Mapping[str, Any] | None:
    if len(entries) == 1:
        return entries[0]
    place = _place(server, kind, name, at)
    digests = sorted({digest(entry) for entry in entries})
    what = f"`{escape(server)}` lists {kind.noun} `{excerpt(name)}` {len(entries)} times"
    if len(digests) == 1:
        message = f"{what}, each time the same; it is kept once"
        findings.append(finding("duplicate-tool", message, location=place, severity=Severity.WARNING, next=_TELL))
        return entries[0]
    shown = " and ".join(f"`{item}`" for item in digests[:2])
    more = f" and {plural(len(digests) - 2, 'other')}" if len(digests) > 2 else ""
    findings.append(finding("duplicate-tool", f"{what} with different content: {shown}{more}", location=place))
    return None


_TELL = "report it to the server's author"


def _fault_finding(server: str, label: str, fault: JsonFault, at: Location) -> Finding:
    pointer = "" if fault.pointer == "/" else fault.pointer
    code = "schema-too-complex" if fault.fault is Fault.DEPTH else "control-text"
    where = escape(pointer)
    message = f"{label} of `{escape(server)}`: {escape(fault.detail)} at `{where or '/'}`"
    return finding(code, message, location=replace(at, pointer=f"{at.pointer}{where}"))


def _place(server: str, kind: _Kind, name: Any, at: Location) -> Location:
    """Return the location of a named tool; other primitives have no key of their own."""
    if kind is TOOLS and isinstance(name, str) and name:
        return Location(file=at.file, key=f"{server}/{escape(name)}")
    if kind is TOOLS or not isinstance(name, str):
        return at
    return replace(at, pointer=f"/{kind.field}/{escape_token(escape(name))}")


def _shown(name: Any, pointer: str) -> str:
    return f"`{excerpt(name)}`" if isinstance(name, str) and name else f"at `{pointer}`"


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {str: "a string", int: "a number", float: "a number", list: "an array", dict: "an object"}
    return names[type(value)]
