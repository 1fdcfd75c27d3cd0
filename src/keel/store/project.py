"""Finding and reading a project: its configuration, manifest and MCP client configurations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from keel.core.codes import CODES, Severity
from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.model import Manifest, ServerSpec
from keel.core.text import did_you_mean, excerpt
from keel.errors import UsageError
from keel.manifest.config import TOOL_TABLE, ConfigErrors, ProjectConfig, holds_config, parse_config
from keel.manifest.parse import parse_manifest
from keel.manifest.problems import decode
from keel.manifest.servers import ClientConfig, effective_servers
from keel.rules.ids import RULE_IDS
from keel.store.files import FileError, exists, read_bytes

CONFIG = "keel.toml"
PYPROJECT = "pyproject.toml"
MANIFEST = "keel.yaml"
MANIFESTS = (MANIFEST, "manifests/keel.yaml")
"""Where the manifest is looked for when the configuration does not say."""

_PASSED_BY = frozenset(("__pycache__", "build", "dist", "node_modules", "site-packages", "venv"))
"""Folders in which no project is looked for; those that begin with a dot neither."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Project:
    """Everything that people wrote about a project, read and found valid."""

    root: Path
    """Absolute folder; every path in findings is relative to it."""
    config: ProjectConfig
    manifest: Manifest
    """Without a file when there is none: nothing is constrained."""
    servers: tuple[ServerSpec, ...]
    """Sorted by name, launches resolved."""
    lock: Path
    """The lock's index, which need not exist."""
    findings: tuple[Finding, ...] = ()
    """What is noteworthy, `server-not-granted` included; input errors are raised instead."""
    clients: tuple[ClientConfig, ...] = field(default=())
    """The client configurations that `mcp-config` names."""


def find_project(
    start: Path, *, project: Path | None = None, manifest: Path | None = None, lock: Path | None = None
) -> Project:
    """Find and read the project of a folder.

    Args:
        start: where the search begins, usually the working directory; relative options count from here.
        project: the project's folder, which skips the search.
        manifest: the manifest to use instead of the configured one.
        lock: the lock's index to use instead of the configured one.

    Raises:
        UsageError: if there is no project.
        InputErrors: with every error of configuration, manifest and client configurations at once.
        FileError: if a folder cannot be read.
    """
    root = _given(start, project) if project is not None else project_root(start)
    if root is None:
        raise UsageError(
            f"`{start}` is not in a keel project: no `{CONFIG}`, no `[tool.keel]` and no `{MANIFEST}` there or above",
            hint="run `keel init`, or pass `--project DIR`",
            code="project-missing",
        )
    return _Reading(root).project(start, manifest, lock)


def _given(start: Path, project: Path) -> Path:
    root = (start / project).resolve()
    if not root.is_dir():
        raise UsageError(f"`{project}` is not a folder", hint="pass the project's folder to `--project`")
    return root


def project_root(start: Path) -> Path | None:
    """Return the nearest folder at or above `start` that is a project, up to the git root.

    Outside a git repository the search ends below the home folder, where settings of other projects may lie.
    """
    folder = start.resolve()
    if not folder.is_dir():
        folder = folder.parent
    for candidate in _upwards(folder):
        if is_project(candidate):
            return candidate
    return None


def bundle_file(root: Path) -> Path:
    """Return where the bundle of a project lies unless somebody says otherwise."""
    return root / "dist" / f"{root.name}.keel"


def _upwards(folder: Path) -> Iterator[Path]:
    chain = (folder, *folder.parents)
    git = next((at for at in chain if (at / ".git").exists()), None)
    home = _home()
    for at in chain:
        if git is None and at == home and at != folder:
            return
        yield at
        if at == git:
            return


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None


def is_project(folder: Path) -> bool:
    """Tell whether a folder holds `keel.toml`, `[tool.keel]` or `keel.yaml`."""
    return any(exists(folder / name) for name in (CONFIG, MANIFEST)) or _has_table(folder)


def _has_table(folder: Path) -> bool:
    path = folder / PYPROJECT
    return path.is_file() and holds_config(read_bytes(path).decode("utf-8-sig", "replace"))


def projects_below(root: Path) -> tuple[Path, ...]:
    """Return every project at or below a folder, sorted; hidden folders and those of tools are passed by."""
    found = []
    for name, folders, _ in os.walk(root.resolve()):
        folders[:] = sorted(folder for folder in folders if folder not in _PASSED_BY and not folder.startswith("."))
        if is_project(Path(name)):
            found.append(Path(name))
    return tuple(sorted(found))


def by_project(paths: Iterable[Path]) -> dict[Path, tuple[Path, ...]]:
    """Group paths by the project they lie in, sorted; a folder above projects stands for all of them.

    Args:
        paths: files or folders as the command line gives them.

    Raises:
        UsageError: if a path does not exist, or belongs to no project.
    """
    groups: dict[Path, list[Path]] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(f"`{path}` does not exist", hint="correct the path")
        root = project_root(path)
        below = [root] if root else projects_below(path) if path.is_dir() else []
        if not below:
            raise UsageError(f"`{path}` is not in a keel project", hint="run `keel init`", code="project-missing")
        for one in below:
            groups.setdefault(one, []).append(path.resolve())
    return {root: tuple(sorted(set(groups[root]))) for root in sorted(groups)}


class _Reading:
    """One reading of a project, which gathers the errors of every file before it raises."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._errors: list[Finding] = []
        self._partial = ProjectConfig()
        """What is right in a configuration that has errors, so that they do not hide those of other files."""

    def project(self, start: Path, manifest: Path | None, lock: Path | None) -> Project:
        config = self._config()
        granted = self._manifest(config, start / manifest if manifest else None)
        clients = tuple(self._clients(config)) if config.mcp_config else ()
        if granted is None:
            raise InputErrors(self._errors)
        servers, found = effective_servers(granted, clients)
        self._errors.extend(item for item in found if _is_input_error(item))
        if self._errors:
            raise InputErrors(self._errors)
        index = (start / lock).resolve() if lock else self._root / config.lock
        return Project(self._root, config, granted, servers, index, found, clients)

    def _error(self, code: str, message: str, next_: str, file: str = "", line: int = 0) -> None:
        where = Location(file=file, line=line, column=1 if line else 0)
        self._errors.append(finding(code, message, location=where, next=next_))

    def _read(self, file: str, code: str, parse: Callable[[str, str], T]) -> T | None:
        """Read and parse one file, keeping its errors."""
        try:
            return parse(decode(read_bytes(self._root / file), file, code), file)
        except InputErrors as error:
            self._errors.extend(error.findings)
            if isinstance(error, ConfigErrors):
                self._partial = error.partial
        except FileError as error:
            self._error(code, error.message, error.hint, file)
        return None

    def _config(self) -> ProjectConfig:
        has_file, has_table = exists(self._root / CONFIG), _has_table(self._root)
        if has_file and has_table:
            message = f"the project is configured twice: in `{CONFIG}` and in `[tool.keel]` of `{PYPROJECT}`"
            self._error("config-error", message, "keep one of them", CONFIG, 1)
        config = None
        if has_file:
            config = self._read(CONFIG, "config-error", parse_config)
        elif has_table:
            config = self._read(
                PYPROJECT, "config-error", lambda text, file: parse_config(text, file, table=TOOL_TABLE)
            )
        config = config or self._partial
        self._known(config)
        return config

    def _known(self, config: ProjectConfig) -> None:
        """Refuse suppressions of codes that do not exist."""
        for entry in config.suppress:
            if entry.code not in CODES and entry.code not in RULE_IDS:
                where = Location(file=config.file, line=entry.line, column=entry.column)
                message = f"there is no code `{excerpt(entry.code, 60)}` to suppress"
                hint = did_you_mean(entry.code, (*CODES, *RULE_IDS)) or "`keel explain` lists the codes"
                self._errors.append(finding("config-error", message, location=where, next=hint))

    def _manifest(self, config: ProjectConfig, given: Path | None) -> Manifest | None:
        """Return the manifest, an absent one, or None when it has errors."""
        file = self._manifest_file(config, given)
        return self._read(file, "manifest-error", parse_manifest) if file else Manifest()

    def _manifest_file(self, config: ProjectConfig, given: Path | None) -> str | None:
        if given is not None:
            file = Path(os.path.relpath(given.resolve(), self._root)).as_posix()
            if not exists(given):
                self._error("config-error", f"manifest `{excerpt(file)}` does not exist", "correct `--manifest`")
                return None
            return file
        if config.manifest is not None:
            if exists(self._root / config.manifest):
                return config.manifest
            message = f"manifest `{excerpt(config.manifest)}` does not exist"
            hint = "correct `manifest`, or run `keel init`"
            self._error("config-error", message, hint, config.file, config.line_of("manifest"))
            return None
        present = [name for name in MANIFESTS if exists(self._root / name)]
        if len(present) > 1:
            message = f"there are two manifests: {' and '.join(f'`{name}`' for name in present)}"
            self._error("config-error", message, "keep one, or name it under `manifest`", config.file or present[0])
        return present[0] if present else None

    def _clients(self, config: ProjectConfig) -> Iterator[ClientConfig]:
        # Many projects name no client configuration, and every command pays for what is imported.
        from keel.manifest.clients import parse_client  # noqa: PLC0415

        for index, file in enumerate(config.mcp_config):
            if not exists(self._root / file):
                line = config.line_of("mcp-config", index)
                message = f"client configuration `{excerpt(file)}` does not exist"
                self._error("config-error", message, "correct or remove the entry", config.file, line)
                continue
            client = self._read(file, "config-error", parse_client)
            if client is not None:
                yield client


def _is_input_error(item: Finding) -> bool:
    return item.severity is Severity.ERROR and item.code in ("config-error", "manifest-error")
