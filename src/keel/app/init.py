"""`keel init`: starter files from the client configurations of a project; runs nothing, overwrites nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from keel.app.outcome import Outcome
from keel.app.proposals import called_tools, proposed_grants
from keel.core.finding import Finding, InputErrors, Report
from keel.core.model import NATIVE, split_key
from keel.core.text import escape, plural
from keel.manifest.clients import parse_client
from keel.manifest.config import TOOL_TABLE, ProjectConfig, holds_config, parse_config
from keel.manifest.jsonschema import manifest_schema
from keel.manifest.parse import parse_manifest
from keel.manifest.problems import decode
from keel.manifest.servers import ClientConfig, effective_servers
from keel.manifest.starter import SCHEMA_FILE, Source, Starter, start
from keel.store.files import read_bytes, write_atomically
from keel.store.project import CONFIG, MANIFEST, MANIFESTS, PYPROJECT

CLIENTS = (".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json", ".gemini/settings.json", ".codex/config.toml")
"""Where MCP clients keep the servers of a project."""
_SETTINGS = frozenset((".gemini/settings.json", ".codex/config.toml"))
"""Settings of a client that hold servers among other things, or do not."""
_ATTRIBUTES = ".gitattributes"


@dataclass(slots=True)
class _Work:
    """What one run has done so far."""

    root: Path
    lines: list[str] = field(default_factory=list)

    def create(self, file: str, text: str, about: str) -> None:
        """Write a file that does not exist; one that does is never touched."""
        path = self.root / file
        if path.exists():
            self.lines.append(f"= {file} is there already and stays as it is")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode())
        self.lines.append(f"+ {file}: {about}")


def init(root: Path, files: Sequence[Path]) -> Outcome:
    """Write what is missing of manifest, configuration, `.gitattributes` and the manifest's schema.

    Args:
        root: the project's folder.
        files: client configurations; default: those that lie in the project.

    Raises:
        InputErrors: if a client configuration or the project's own configuration cannot be read; nothing is written.
        FileError: if a file cannot be read or written.
    """
    work = _Work(root)
    config = _config(root)
    manifest = config.manifest if config is not None and config.manifest else MANIFEST
    existing = next((name for name in (manifest, *MANIFESTS) if (root / name).is_file()), None)
    hints: list[str] = []
    findings: tuple[Finding, ...] = ()
    if existing is not None:
        work.lines.append(f"= {existing} is there already and stays as it is")
        if config is not None:
            work.lines.append(f"= {config.file} is there already and stays as it is")
        servers: tuple[str, ...] = ()
    else:
        clients = tuple(_clients(root, files, work))
        settings = config or ProjectConfig()
        called = called_tools(root, settings)
        starter = start(
            [Source(client, _importable(client, config, files, root)) for client in clients],
            called=called,
            proposed=proposed_grants(root, settings.lock),
        )
        findings = _proved(starter, config, clients, manifest)
        servers = starter.servers
        work.create(manifest, _with_schema(starter.manifest, manifest), _about(servers))
        if config is None:
            work.create(CONFIG, starter.config, "settings")
        else:
            work.lines.append(f"= {config.file} is there already and stays as it is")
            hints.extend(_to_add(starter, config))
        hints.extend(starter.notes)
        hints.extend(_to_grant(called, servers))
        hints.extend(_to_set(starter))
    work.create(SCHEMA_FILE, json.dumps(manifest_schema(), ensure_ascii=False, indent=2) + "\n", "for editors")
    _attributes(work, config.lock if config is not None else ProjectConfig().lock)
    lock = root / (config.lock if config is not None else ProjectConfig().lock)
    hints.append("`keel check`" if lock.is_file() else "`keel freeze`, then `keel check`")
    return Outcome(
        Report.of(findings), looked_at=_about(servers) if servers else "", lines=tuple(work.lines), hints=tuple(hints)
    )


def _about(servers: Sequence[str]) -> str:
    return f"{plural(len(servers), 'server')}: {', '.join(servers)}" if servers else "no server yet"


def _config(root: Path) -> ProjectConfig | None:
    if (root / CONFIG).is_file():
        return parse_config(decode(read_bytes(root / CONFIG), CONFIG, "config-error"), CONFIG)
    if (root / PYPROJECT).is_file():
        text = read_bytes(root / PYPROJECT).decode("utf-8-sig", "replace")
        if holds_config(text):
            return parse_config(text, PYPROJECT, table=TOOL_TABLE)
    return None


def _clients(root: Path, files: Sequence[Path], work: _Work) -> Iterable[ClientConfig]:
    """Return the client configurations, after the errors of all of them."""
    errors: list[Finding] = []
    found: list[ClientConfig] = []
    for path in files or [root / name for name in CLIENTS if (root / name).is_file()]:
        file = _shown(root, path)
        try:
            text = decode(read_bytes(path), file, "config-error")
            if not files and file in _SETTINGS and not _may_hold_servers(text):
                work.lines.append(f"= {file} names no servers")
                continue
            found.append(parse_client(text, file))
        except InputErrors as error:
            errors.extend(error.findings)
    if errors:
        raise InputErrors(errors)
    return found


def _may_hold_servers(text: str) -> bool:
    return any(section in text for section in ("mcpServers", "mcp_servers"))


def _shown(root: Path, path: Path) -> str:
    """Return a path relative to the project; of one outside only the name, which says nothing of this machine."""
    resolved = path.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else path.name


def _importable(client: ClientConfig, config: ProjectConfig | None, files: Sequence[Path], root: Path) -> bool:
    if config is not None:
        return client.file in config.mcp_config
    return not any(_shown(root, path) == client.file and not path.resolve().is_relative_to(root) for path in files)


def _proved(
    starter: Starter, config: ProjectConfig | None, clients: Sequence[ClientConfig], manifest: str
) -> tuple[Finding, ...]:
    """Read what is about to be written as keel will read it, and return what is noteworthy.

    Raises:
        InputErrors: if it would not be valid, as with an address that is no URL.
    """
    granted = parse_manifest(starter.manifest, manifest)
    settings = config if config is not None else parse_config(starter.config, CONFIG)
    named = [client for client in clients if client.file in settings.mcp_config]
    _, found = effective_servers(granted, named)
    errors = [item for item in found if item.code in ("config-error", "manifest-error")]
    if errors:
        raise InputErrors(errors)
    others = [remark for client in clients if client not in named for remark in client.findings]
    return (*found, *others)


def _with_schema(text: str, manifest: str) -> str:
    """Return the manifest with the path of its schema from where it lies."""
    up = "../" * manifest.count("/")
    return text.replace(f"$schema={SCHEMA_FILE}", f"$schema={up}{SCHEMA_FILE}", 1)


def _to_grant(called: Iterable[str], servers: Sequence[str]) -> Iterable[str]:
    for server in sorted({split_key(key)[0] for key in called} - {NATIVE, *servers}):
        yield f"flows call tools of `{escape(server)}`, which no client configuration has: add it to `servers`"


def _to_add(starter: Starter, config: ProjectConfig) -> Iterable[str]:
    known = {source.name for source in config.secrets}
    for name, variable in starter.sources.items():
        if name not in known:
            yield f'add `{name} = "{variable}"` to `secrets` in `{config.file}`'


def _to_set(starter: Starter) -> Iterable[str]:
    for secret in starter.secrets:
        where = f"`{escape(secret.held_by)}` of server `{escape(secret.server)}`"
        yield (
            f"`{escape(secret.file)}` holds a secret as written ({where}); it was not copied: set {secret.variable},"
            f" which `secret://{secret.name}` is read from"
        )
    literal = {secret.name for secret in starter.secrets}
    for name, variable in starter.sources.items():
        if name not in literal:
            yield f"set {variable}, which secret `{name}` is read from"


def _attributes(work: _Work, lock: str) -> None:
    """Let git merge the lock line by line, unless the project says something about it already."""
    path = work.root / _ATTRIBUTES
    line = f"{lock} merge=union"
    text = read_bytes(path).decode("utf-8", "surrogateescape") if path.is_file() else ""
    if any(words[:1] == [lock] for words in map(str.split, text.splitlines())):
        work.lines.append(f"= {_ATTRIBUTES} speaks of {lock} already and stays as it is")
        return
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else end
    write_atomically(path, f"{text}{gap}{line}{end}".encode("utf-8", "surrogateescape"))
    work.lines.append(f"{'~' if text else '+'} {_ATTRIBUTES}: {line}")
