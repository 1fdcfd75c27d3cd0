"""`keel show`: the lock for people, ready manifest lines, and the effective settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keel.app.context import Context
from keel.core.finding import InputErrors, Location, finding
from keel.core.model import FrozenTool, split_key
from keel.core.text import did_you_mean, escape, excerpt, plural
from keel.errors import UsageError
from keel.lockfile.model import NATIVE_SURFACE, Lock
from keel.manifest.policy import paste_line
from keel.store.locks import load


def show(context: Context, key: str) -> str:
    """Return the whole lock, one server or one tool, as text.

    Raises:
        InputErrors: if there is no lock, or it cannot be trusted.
        UsageError: if the key is not in it.
    """
    lock = _lock(context)
    tools = lock.frozen_tools()
    if not key:
        return "\n".join(_servers(lock)) + "\n"
    if key in tools:
        return "\n".join(_tool(tools[key])) + "\n"
    if key in lock.surfaces:
        return "\n".join(_server(lock, key)) + "\n"
    known = [*tools, *lock.surfaces]
    raise UsageError(f"`{key}` is not in the lock", hint=did_you_mean(key, known) or "`keel show` lists what is")


def grants(context: Context) -> str:
    """Return one manifest line for every frozen tool, hints as comments, ready to paste under `tools:`.

    Raises:
        InputErrors: if there is no lock, or it cannot be trusted.
    """
    tools = _lock(context).frozen_tools()
    manifest = context.project.manifest
    lines = ["tools:"]
    for key, tool in sorted(tools.items()):
        if manifest.grant_for(key) is None or not tool.contract.asserted:
            hints = tool.wire.get("annotations")
            lines.append(f"  {paste_line(key, hints if isinstance(hints, dict) else None, contract=tool.contract)}")
    return "\n".join(lines) + "\n"


def config(context: Context) -> str:
    """Return the effective settings, with where each file was found."""
    project = context.project
    rows: list[tuple[str, Any]] = [
        ("project", project.root.name),
        ("config", project.config.file or "none (defaults)"),
        ("manifest", project.manifest.file or "none"),
        ("lock", context.files.shown(context.files.index)),
        ("flows", ", ".join(project.config.flows or ()) or "found by default"),
        ("source-roots", ", ".join(project.config.source_roots)),
        ("python", project.config.python or "found at run time"),
        ("freeze-timing", project.config.freeze_timing),
        ("profile", project.config.profile),
        ("targets", ", ".join(project.config.targets) or "none"),
        ("servers", ", ".join(server.name for server in project.servers) or "none"),
    ]
    return "".join(f"{name:<14} {value}\n" for name, value in rows)


def _lock(context: Context) -> Lock:
    lock = load(context.files)
    if lock is None:
        shown = context.files.shown(context.files.index)
        raise InputErrors([finding("lock-missing", f"there is no `{shown}`", location=Location(file=shown))])
    return lock


def _servers(lock: Lock) -> Iterator[str]:
    for name in sorted(lock.surfaces):
        yield from _server(lock, name)
        yield ""
    total = plural(len(lock.index.tools), "tool")
    yield f"{plural(len(lock.index.servers), 'server')}, {total}"


def _server(lock: Lock, name: str) -> Iterator[str]:
    entry = lock.index.server(name)
    if entry is None:
        yield "native tools"
    else:
        identity = escape(entry.identity) or "no identity"
        yield f"{name}: {identity}, protocol {escape(entry.protocol)}, policy {entry.policy}"
        yield f"  surface {entry.surface}"
        instructions = lock.surfaces[name].instructions
        if instructions:
            yield f"  instructions {excerpt(instructions, 100)}"
    for tool in lock.index.tools_of(name):
        short = tool.key if name == NATIVE_SURFACE else split_key(tool.key)[1]
        contract = f"{tool.effect}/{tool.idempotency}{'' if tool.asserted else ' unasserted'}"
        yield f"  {escape(short):<32} {contract:<28} {tool.definition[:15]}"


def _tool(tool: FrozenTool) -> Iterator[str]:
    contract = tool.contract
    yield escape(tool.key)
    yield f"  contract    {contract.effect}/{contract.idempotency}{'' if contract.asserted else ' (unasserted)'}"
    yield f"  definition  {tool.digest}"
    yield f"  description {excerpt(str(tool.wire.get('description', '')), 400)}"
    hints = tool.wire.get("annotations")
    if isinstance(hints, dict):
        shown = ", ".join(f"{escape(name)}={escape(str(value))}" for name, value in sorted(hints.items()))
        yield f"  hints       {shown} (as sent; never trusted)"
    for label, schema in (("input", tool.input_schema), ("output", tool.output_schema)):
        if isinstance(schema, dict):
            yield from _schema(label, schema)


def _schema(label: str, schema: dict[str, Any]) -> Iterator[str]:
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) and all(isinstance(item, str) for item in required) else set()
    properties = schema.get("properties")
    closed = ", closed" if schema.get("additionalProperties") is False else ""
    yield f"  {label:<11} {_type(schema)}{closed}"
    for name, item in sorted(properties.items()) if isinstance(properties, dict) else ():
        mark = "required" if name in needed else "optional"
        about = item.get("description") if isinstance(item, dict) else None
        text = excerpt(about, 80) if isinstance(about, str) else ""
        yield f"    {escape(name):<24} {_type(item):<18} {mark}  {text}".rstrip()


def _type(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "anything" if schema is True else "nothing"
    kind = schema.get("type")
    if isinstance(kind, list):
        return "|".join(escape(str(item)) for item in kind)
    return (
        escape(kind)
        if isinstance(kind, str)
        else next((word for word in ("anyOf", "enum", "$ref") if word in schema), "any")
    )
