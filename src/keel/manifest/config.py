"""Project configuration text to the `ProjectConfig` value, or to every error at once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from keel.core.finding import Finding, InputErrors
from keel.core.model import SecretSource
from keel.core.text import excerpt
from keel.manifest.config_model import CONFIG, PLACES
from keel.manifest.problems import Document, Path, Problem, findings, pointer
from keel.manifest.shape import validate
from keel.manifest.tomltree import read_toml

CODE = "config-error"
TOOL_TABLE = ("tool", "keel")
"""Where the configuration stands in `pyproject.toml`."""


class FreezeTiming(StrEnum):
    """When the surface of a run is frozen."""

    DEPLOY_TIME = "deploy_time"
    """One frozen surface for every run."""
    PER_RUN = "per_run"
    """Frozen afresh at the start of each run."""


class Profile(StrEnum):
    """How strict the quality rules are."""

    DEFAULT = "default"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class Suppression:
    """A finding that a person accepts until a date."""

    code: str
    key: str
    reason: str
    until: date
    """Last day, in UTC, on which it holds."""
    digest: str | None = None
    """When given, only the finding with this digest is accepted."""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """The settings of a project; paths are relative to it."""

    file: str = ""
    """The file that was read, relative to the project; empty when there is none."""
    flows: tuple[str, ...] | None = None
    """Files, globs and module names; None is the default search, where nothing need match."""
    source_roots: tuple[str, ...] = (".", "src")
    manifest: str | None = None
    """None is the default search."""
    lock: str = "keel.lock"
    python: str | None = None
    mcp_config: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    freeze_timing: FreezeTiming = FreezeTiming.DEPLOY_TIME
    secrets: tuple[SecretSource, ...] = ()
    """Sorted by name."""
    profile: Profile = Profile.DEFAULT
    suppress: tuple[Suppression, ...] = ()
    """In the order of the file."""
    lines: tuple[tuple[str, int], ...] = ()
    """Sorted (RFC 6901 pointer in the file, 1-based line)."""

    def line_of(self, key: str, index: int | None = None) -> int:
        """Return the line of a top-level key, or of an entry of its list; 0 when it is not in the file."""
        end = f"/{key}" if index is None else f"/{key}/{index}"
        return next((line for at, line in self.lines if at in (end, f"/{'/'.join(TOOL_TABLE)}{end}")), 0)


class ConfigErrors(InputErrors):
    """The errors of a configuration; `partial` holds what its other keys say."""

    def __init__(self, found: Iterable[Finding], partial: ProjectConfig) -> None:
        super().__init__(found)
        self.partial = partial


def parse_config(text: str, file: str, *, table: Path = ()) -> ProjectConfig:
    """Parse a project configuration.

    Args:
        text: the whole file, decoded.
        file: its path relative to the project.
        table: where the settings stand in it: `()` in `keel.toml`, `TOOL_TABLE` in `pyproject.toml`. An absent table
            gives the defaults.

    Raises:
        ConfigErrors: with a `config-error` for every error, each with file, line, column, pointer and suggestion.
    """
    document = _under(read_toml(text), table)
    problems = list(document.problems)
    raw: Mapping[str, Any] | None = None
    if document.readable:
        raw, wrong = validate(CONFIG, document, PLACES)
        problems.extend(wrong)
        problems.extend(_checks(document))
    if problems or raw is None:
        raise ConfigErrors(findings(CODE, file, document, problems), _partial(document, problems, file))
    return _config(raw, document, file)


def _partial(document: Document, problems: list[Problem], file: str) -> ProjectConfig:
    wrong = {problem.path[:1] for problem in problems}
    if () in wrong:
        return ProjectConfig(file=file)
    sound = {key: value for key, value in document.value.items() if (key,) not in wrong}
    raw, _ = validate(CONFIG, replace(document, value=sound), PLACES)
    return _config(raw, document, file) if raw is not None else ProjectConfig(file=file)


def holds_config(text: str) -> bool:
    """Tell whether a `pyproject.toml` configures keel.

    One that mentions keel and cannot be read counts, so that it is reported instead of passed over.
    """
    if "keel" not in text:
        return False
    try:
        tool = tomllib.loads(text).get("tool")
    except (ValueError, RecursionError):
        return True
    return isinstance(tool, dict) and "keel" in tool


def _under(document: Document, table: Path) -> Document:
    value = document.value
    for key in table:
        value = value.get(key, {}) if isinstance(value, dict) else value
    return Document(value, document.values, document.keys, document.problems, document.readable, table)


def _checks(document: Document) -> Iterator[Problem]:
    root = document.value if isinstance(document.value, dict) else {}
    if "tool" in root and not document.root:
        hint = "write the keys at the top of `keel.toml`; only `pyproject.toml` has a table `[tool.keel]`"
        yield Problem(("tool",), "the settings of `keel.toml` stand in no table", hint, on_key=True)
    secrets = root.get("secrets")
    for name, source in secrets.items() if isinstance(secrets, dict) else ():
        if isinstance(source, dict) and len(set(source) & {"env", "file"}) != 1:
            yield Problem(
                ("secrets", name), f"secret `{excerpt(name, 60)}` needs exactly one of `env` and `file`", "keep one"
            )
    entries = root.get("suppress")
    seen: dict[tuple[str, str, str], int] = {}
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict):
            what = (str(entry.get("code")), str(entry.get("key")), str(entry.get("digest")))
            first = seen.setdefault(what, index)
            if first != index:
                line = document.value_at(("suppress", first)).line
                yield Problem(
                    ("suppress", index), f"the suppression repeats the one in line {line}", "keep one of them"
                )


def _config(raw: Mapping[str, Any], document: Document, file: str) -> ProjectConfig:
    base = ProjectConfig()
    return ProjectConfig(
        file=file,
        flows=tuple(raw["flows"]) if "flows" in raw else None,
        source_roots=tuple(PurePosixPath(path).as_posix() for path in raw.get("source-roots", base.source_roots)),
        manifest=raw.get("manifest"),
        lock=raw.get("lock", base.lock),
        python=raw.get("python"),
        mcp_config=tuple(raw.get("mcp-config", ())),
        targets=tuple(raw.get("targets", ())),
        freeze_timing=FreezeTiming(raw.get("freeze-timing", base.freeze_timing)),
        secrets=tuple(SecretSource(name, **source) for name, source in sorted(raw.get("secrets", {}).items())),
        profile=Profile(raw.get("profile", base.profile)),
        suppress=tuple(_suppressions(raw, document)),
        lines=tuple(sorted((pointer(path), document.keys.get(path, at).line) for path, at in document.values.items())),
    )


def _suppressions(raw: Mapping[str, Any], document: Document) -> Iterator[Suppression]:
    for index, entry in enumerate(raw.get("suppress", ())):
        at = document.value_at(("suppress", index))
        yield Suppression(
            code=entry["code"],
            key=entry["key"],
            reason=entry["reason"],
            until=date.fromisoformat(entry["until"]),
            digest=entry.get("digest"),
            line=at.line,
            column=at.column,
        )
