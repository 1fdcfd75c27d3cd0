"""The strict reader of the lock: what cannot be trusted is an error that names the entry and the repair."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from keel.core.digest import definition, digest, normal_tool, surface_digest
from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.jsontext import JsonSyntaxError, parse_sound, parse_strict
from keel.core.model import Effect, Idempotency, Policy, Surface
from keel.core.text import escape
from keel.lockfile.model import NATIVE_SURFACE, VERSION, Lock, LockedServer, LockedTool, LockIndex
from keel.lockfile.write import locked_server

CONFLICT = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |$)", re.MULTILINE)
"""A merge-conflict marker at the start of a line."""

_DIGEST = re.compile(r"k1:[0-9a-f]{64}\Z")

Candidates = Callable[[str], Iterable[tuple[str, bytes]]]
"""Given a surface's name, yields (file name, bytes) in order of preference: the file, then `<file>.new`."""


class Verified(Protocol):
    """Remembers what was verified before: a key stands for the index's lines and the bytes of the surface file."""

    def holds(self, key: str) -> bool:
        """Tell whether exactly this was verified before."""

    def add(self, key: str) -> None:
        """Remember that it was."""


def read_index(text: str, file: str) -> LockIndex:
    """Read the index of a lock.

    Raises:
        InputErrors: `lock-conflict`, `lock-newer` or `lock-error`, every one with its line where there is one.
    """
    if conflict := CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        raise InputErrors([_error("lock-conflict", f"merge conflict in `{file}`, line {line}", file, line=line)])
    plain = _canonical(text)
    if plain is not None:
        text = plain.head
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputErrors([_syntax_error(text, file, str(error))]) from error
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        message = f"`{file}` has format {version}; this keel reads formats up to {VERSION}"
        raise InputErrors([_error("lock-newer", message, file)])
    index = _Reader(text, file).index(document)
    return index if plain is None else replace(index, tools=plain.tools)


_DIGEST_TEXT = r'"(k1:[0-9a-f]{64})"'
_TOOL_LINE = re.compile(
    r'(?:([A-Za-z0-9_-]+)|("(?:[^"\\\x00-\x1f\x7f]|\\["\\bfnrt]|\\u(?!d[89a-f])[0-9a-f]{4})*+"))'
    rf' = \{{ effect = "({"|".join(Effect)})", idempotency = "({"|".join(Idempotency)})", asserted = (true|false), '
    rf"definition = {_DIGEST_TEXT}(?:, source = {_DIGEST_TEXT}, body = {_DIGEST_TEXT})? \}}"
)


@dataclass(frozen=True, slots=True)
class _Canonical:
    """An index whose tools stand as the writer puts them: they are many, and TOML in general is slow to read."""

    head: str
    """The text with its sections of tools emptied."""
    tools: tuple[LockedTool, ...]


def _canonical(text: str) -> _Canonical | None:
    head, between, rest = text.partition("\n[tools]\n")
    tools, after, native = rest.partition("\n[native]\n")
    if not between or not after or "\n[" in head.partition("\n[servers]\n")[2]:
        return None
    found: dict[str, LockedTool] = {}
    lines = [(line, section) for section, part in ((0, tools), (1, native)) for line in part.split("\n") if line]
    for line, is_native in lines:
        match = _TOOL_LINE.fullmatch(line)
        if match is None:
            return None
        key = match[1] or json.loads(match[2])
        if ("/" in key) is bool(is_native) or (match[7] is not None) is not bool(is_native):
            return None
        effect, idempotency, asserted = _EFFECTS[match[3]], _IDEMPOTENCY[match[4]], match[5] == "true"
        found[key] = LockedTool(key, effect, idempotency, asserted, match[6], match[7] or "", match[8] or "")
    if len(found) != len(lines):
        return None
    return _Canonical(f"{head}\n[tools]\n[native]\n", tuple(found[key] for key in sorted(found)))


_EFFECTS = {item.value: item for item in Effect}
_IDEMPOTENCY = {item.value: item for item in Idempotency}


def read_surface_file(data: bytes, file: str) -> Surface:
    """Read one surface file of the lock.

    Raises:
        InputErrors: `lock-error` or `lock-conflict`.
    """
    if conflict := CONFLICT.search(data.decode("utf-8", "replace")):
        line = data.decode("utf-8", "replace").count("\n", 0, conflict.start()) + 1
        raise InputErrors([_error("lock-conflict", f"merge conflict in `{file}`, line {line}", file, line=line)])
    try:
        value = parse_strict(data)
    except JsonSyntaxError as error:
        raise InputErrors(
            [_error("lock-error", f"`{file}` is damaged: {error.message}", file, line=error.line)]
        ) from error
    try:
        return _surface(value)
    except (TypeError, KeyError, AttributeError) as error:
        raise InputErrors([_error("lock-error", f"`{file}` is not a surface file", file)]) from error


def _surface(value: Any) -> Surface:
    def objects(name: str) -> tuple[Mapping[str, Any], ...] | None:
        return tuple(dict(item) for item in value[name]) if name in value else None

    tools = tuple(normal_tool(dict(tool)) for tool in value["tools"])
    if not all(isinstance(tool.get("name"), str) for tool in tools):
        raise TypeError("a tool without a name")
    return Surface(
        initialize=dict(value["initialize"]),
        tools=tools,
        prompts=objects("prompts"),
        resources=objects("resources"),
        resource_templates=objects("resourceTemplates"),
    )


@dataclass(frozen=True, slots=True)
class Parts:
    """A lock read as far as it can be trusted: sound surfaces, and what is wrong with the others."""

    index: LockIndex
    surfaces: Mapping[str, Surface]
    errors: Mapping[str, tuple[Finding, ...]]
    """Surface name to its errors; empty when the whole lock is sound."""


def read_lock(text: str, file: str, candidates: Candidates, verified: Verified | None = None) -> Lock:
    """Read and verify a whole lock: every surface file against the digests of the index.

    Args:
        text: the index, with LF line ends.
        file: its name, for messages.
        candidates: yields the surface files of a server.
        verified: what need not be verified again, because not a byte of it changed.

    Raises:
        InputErrors: all disagreements at once, each naming the tool where one is to blame.
    """
    parts = verify_parts(read_index(text, file), file, candidates, verified)
    if parts.errors:
        raise InputErrors(item for found in parts.errors.values() for item in found)
    return Lock(parts.index, parts.surfaces)


def verify_parts(index: LockIndex, file: str, candidates: Candidates, verified: Verified | None = None) -> Parts:
    """Verify every surface file against an index, keeping what is sound beside what is not."""
    names = [server.name for server in index.servers]
    by_surface: dict[str, list[LockedTool]] = {name: [] for name in names}
    errors: dict[str, tuple[Finding, ...]] = {}
    for tool in index.tools:
        if tool.surface not in by_surface and tool.surface != NATIVE_SURFACE:
            message = f"`{tool.key}` is in `{file}`, but its server is not"
            orphan = _error("lock-error", message, file, key=tool.key, next_=_repair(tool.surface))
            errors[tool.surface] = (*errors.get(tool.surface, ()), orphan)
        by_surface.setdefault(tool.surface, []).append(tool)
    surfaces: dict[str, Surface] = {}
    for name, tools in by_surface.items():
        if name in errors:
            continue
        surface, found = choose_surface(name, index.server(name), tools, candidates(name), file, verified)
        if found:
            errors[name] = tuple(found)
        if surface is not None:
            surfaces[name] = surface
    return Parts(index, surfaces, errors)


def choose_surface(
    name: str,
    server: LockedServer | None,
    tools: Iterable[LockedTool],
    candidates: Iterable[tuple[str, bytes]],
    index_file: str,
    verified: Verified | None = None,
) -> tuple[Surface | None, list[Finding]]:
    """Return the first candidate that matches the index, or what is wrong with the preferred one."""
    locked = {tool.key: tool for tool in tools}
    first: list[Finding] | None = None
    facts = _facts(name, server, locked.values()) if verified is not None else b""
    for file, data in candidates:
        key = f"1-{hashlib.sha256(facts + data).hexdigest()}"
        if verified is not None and verified.holds(key):
            return _known_surface(data), []
        try:
            surface = read_surface_file(data, file)
        except InputErrors as error:
            first = first if first is not None else list(error.findings)
            continue
        found = _disagreements(name, server, locked, surface, file, index_file)
        if not found:
            if verified is not None and _known_surface(data) == surface:
                verified.add(key)
            return surface, []
        first = first if first is not None else found
    if first is None:
        message = f"the surface file of `{name}` is missing"
        first = [_error("lock-error", message, index_file, key=name, next_=_repair(name))]
    return None, first


def _facts(name: str, server: LockedServer | None, tools: Iterable[LockedTool]) -> bytes:
    """Return what the index says of a surface file, as a prefix to its bytes that no other facts have."""
    said = [name, repr(server), *sorted(f"{tool.key} {tool.definition}" for tool in tools)]
    text = json.dumps(said).encode()
    return b"%d:%s" % (len(text), text)


def _known_surface(data: bytes) -> Surface:
    """Read a surface file that was found sound, and in normal form, before."""
    value = parse_sound(data)
    return Surface(
        value["initialize"],
        tuple(value["tools"]),
        *(tuple(value[name]) if name in value else None for name in ("prompts", "resources", "resourceTemplates")),
    )


def _disagreements(
    name: str, server: LockedServer | None, locked: dict[str, LockedTool], surface: Surface, file: str, index_file: str
) -> list[Finding]:
    prefix = "" if name == NATIVE_SURFACE else f"{name}/"
    held = {f"{prefix}{tool['name']}": tool for tool in surface.tools}
    repair = _repair(name)
    errors = [
        _error("lock-error", f"`{key}` is in `{index_file}` but not in `{file}`", file, key=key, next_=repair)
        for key in locked.keys() - held.keys()
    ]
    for key, tool in held.items():
        if key not in locked:
            errors.append(
                _error("lock-error", f"`{key}` is in `{file}` but not in `{index_file}`", file, key=key, next_=repair)
            )
        elif locked[key].definition != digest(definition(tool)):
            message = f"the definition of `{key}` in `{file}` is not the one that `{index_file}` records"
            errors.append(_error("lock-error", message, file, key=key, next_=repair))
    if len(held) != len(surface.tools):
        errors.append(_error("lock-error", f"`{file}` lists a tool twice", file, key=name, next_=repair))
    if server is not None and not errors and surface_digest(surface) != server.surface:
        part = _changed_part(server, surface)
        message = f"the {part} of `{name}` in `{file}` differ from what `{index_file}` records"
        errors.append(_error("lock-error", message, file, key=name, next_=repair))
    return errors


def _changed_part(server: LockedServer, surface: Surface) -> str:
    built = locked_server(server.name, surface, policy=server.policy, launch=server.launch)
    if built.instructions != server.instructions:
        return "instructions"
    if (built.identity, built.protocol, built.capabilities) != (server.identity, server.protocol, server.capabilities):
        return "identity facts"
    return "details beside the definitions"


def _repair(name: str) -> str:
    command = "keel freeze" if name == NATIVE_SURFACE else f"keel freeze {name}"
    return f"restore the files from git, or run `{command}` and review the difference"


def _error(
    code: str, message: str, file: str, *, line: int = 0, key: str = "", next_: str = "", column: int = 0
) -> Finding:
    return finding(code, message, location=Location(file=file, line=line, column=column, key=key), next=next_)


def _syntax_error(text: str, file: str, problem: str) -> Finding:
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", problem)
    lines = text.count("\n") + 1
    line, column = (int(place[1]), int(place[2])) if place and place[1] else (lines, 1)
    what = problem[: place.start()] if place else problem
    hint = "run `keel freeze` if two branches were merged; otherwise restore the file from git"
    message = f"`{file}` cannot be read: {escape(what[:1].lower() + what[1:])}"
    return _error("lock-error", message, file, line=line, column=column, next_=hint)


def _require(holds: bool) -> None:  # noqa: FBT001 - reads as an assertion
    if not holds:
        raise ValueError


class _Reader:
    """Turns the parsed document into values, collecting every error with the line it stands on."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.errors: list[Finding] = []

    def index(self, document: dict[str, Any]) -> LockIndex:
        unknown = document.keys() - {"version", "servers", "tools", "native"}
        for name in unknown:
            self.fail(f"unknown section `{escape(name)}`", name)
        if document.get("version") != VERSION:
            self.fail("`version` is missing or not a number", "version")
        servers = [self.server(name, facts) for name, facts in self.table(document, "servers").items()]
        tools = [
            self.tool(key, fields, native=section == "native")
            for section in ("tools", "native")
            for key, fields in self.table(document, section).items()
        ]
        if self.errors:
            raise InputErrors(self.errors)
        return LockIndex(
            tuple(sorted((item for item in servers if item), key=lambda item: item.name)),
            tuple(sorted((item for item in tools if item), key=lambda item: item.key)),
        )

    def table(self, document: dict[str, Any], name: str) -> dict[str, Any]:
        # The writer always writes all three sections, so that a missing one means a truncated file.
        value = document.get(name)
        if isinstance(value, dict):
            return value
        self.fail(f"the section `[{name}]` is missing or damaged", name)
        return {}

    def server(self, name: str, facts: Any) -> LockedServer | None:
        try:
            capabilities = tuple(facts.pop("capabilities"))
            strings = {key: facts.pop(key, "") for key in ("identity", "instructions", "protocol")}
            policy, surface, launch = Policy(facts.pop("policy")), facts.pop("surface"), facts.pop("launch")
            _require(not facts and all(isinstance(item, str) for item in (*strings.values(), *capabilities)))
            _require(all(_DIGEST.match(item) for item in (surface, launch, strings["instructions"] or surface)))
        except (ValueError, KeyError, TypeError, AttributeError):
            self.fail(f"the entry of server `{escape(name)}` is damaged", name, key=name)
            return None
        return LockedServer(
            name,
            strings["identity"],
            strings["protocol"],
            capabilities,
            strings["instructions"],
            surface,
            policy,
            launch,
        )

    def tool(self, key: str, fields: Any, *, native: bool) -> LockedTool | None:
        try:
            effect, idempotency = Effect(fields.pop("effect")), Idempotency(fields.pop("idempotency"))
            asserted, definition_ = fields.pop("asserted"), fields.pop("definition")
            source, body = (fields.pop("source"), fields.pop("body")) if native else ("", "")
            digests = (definition_, source, body) if native else (definition_,)
            _require(not fields and isinstance(asserted, bool) and ("/" in key) is not native)
            _require(all(_DIGEST.match(item) for item in digests))
        except (ValueError, KeyError, TypeError, AttributeError):
            self.fail(f"the entry of tool `{escape(key)}` is damaged", key, key=key)
            return None
        return LockedTool(key, effect, idempotency, asserted, definition_, source, body)

    def fail(self, message: str, needle: str, *, key: str = "") -> None:
        position = self.text.find(needle)
        line = self.text.count("\n", 0, position) + 1 if position >= 0 else 0
        surface = key.partition("/")[0] if key else ""
        repair = _repair(surface) if surface else ""
        self.errors.append(
            _error("lock-error", f"`{self.file}`: {message}", self.file, line=line, key=key, next_=repair)
        )
