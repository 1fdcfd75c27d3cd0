"""`keel capture`: surface files from configured servers, or from one command or URL without a project."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from keel.app.capture import Taken, take, write_surfaces
from keel.app.context import Context, Progress
from keel.app.outcome import Outcome
from keel.core.model import Manifest, ServerSpec, Transport
from keel.core.text import did_you_mean
from keel.errors import UsageError
from keel.manifest.config import ProjectConfig
from keel.store.project import Project, find_project


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """What the command line asks for."""

    words: tuple[str, ...]
    """Server names, or a command with its arguments."""
    is_command: bool
    """Whether the words came after `--`."""
    url: str | None
    name: str
    output: Path
    allow_empty: bool
    project: Path | None
    jobs: int
    timeout_s: float | None
    login: Callable[[str], None] | None = None
    """Shows a login page to the person at the keyboard."""


def capture(options: CaptureOptions, progress: Progress | None) -> Outcome:
    """Capture and write surface files.

    Raises:
        UsageError: if the words name no configured server.
        InputErrors: if the project's configuration cannot be read.
        FileError: if a file cannot be written.
    """
    if options.is_command or options.url:
        spec = _given(options)
        context = _context(options, _no_project(spec), progress)
        specs = [spec]
    else:
        context = _context(
            options, find_project(Path.cwd(), project=options.project, manifest=None, lock=None), progress
        )
        specs = _configured(context, options.words)
    taken: dict[str, Taken] = take(context, specs, allow_empty=options.allow_empty)
    return write_surfaces(taken.values(), options.output)


def _context(options: CaptureOptions, project: Project, progress: Progress | None) -> Context:
    return Context(
        project=project,
        environ=dict(os.environ),
        today=datetime.now(UTC).date(),
        jobs=options.jobs,
        timeout_s=options.timeout_s,
        progress=progress,
        login=options.login,
    )


def _given(options: CaptureOptions) -> ServerSpec:
    if options.url and options.words:
        raise UsageError("a command and `--url` cannot be captured together", hint="give one of them")
    if options.url:
        return ServerSpec(options.name, Transport.HTTP, url=options.url, attended=options.login is not None)
    if not options.words:
        raise UsageError("there is no command after `--`", hint="`keel capture -o out.json -- uvx some-server`")
    return ServerSpec(options.name, Transport.STDIO, command=options.words)


def _no_project(spec: ServerSpec) -> Project:
    here = Path.cwd()
    return Project(root=here, config=ProjectConfig(), manifest=Manifest(), servers=(spec,), lock=here / "keel.lock")


def _configured(context: Context, names: tuple[str, ...]) -> list[ServerSpec]:
    known = {server.name: server for server in context.project.servers}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or "put a command after `--`, or use `--url`"
            raise UsageError(f"server `{name}` is not configured", hint=hint)
    if not known:
        raise UsageError("the project configures no server", hint="put a command after `--`, or use `--url`")
    return [known[name] for name in sorted(names or known)]
