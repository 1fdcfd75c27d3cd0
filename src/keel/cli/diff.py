"""`keel diff`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from keel.app.outcome import Outcome
from keel.cli import options
from keel.cli.console import execute, printed
from keel.cli.wiring import in_project, open_context
from keel.core.finding import Threshold
from keel.errors import UsageError


def command(
    old: Annotated[
        str | None, typer.Argument(help="A revision, `A...B`, `REV:PATH`, a lock or a surface file.")
    ] = None,
    new: Annotated[str | None, typer.Argument(help="The same; default: the working tree.")] = None,
    *,
    textconv: Annotated[
        bool, typer.Option("--textconv", help="Print one surface file as text, for `git diff`.")
    ] = False,
    project: options.Project = None,
    manifest: options.ManifestFile = None,
    lock: options.LockFile = None,
    formats: options.Formats = None,
    fail_on: options.FailOn = Threshold.NEVER,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> int:
    """Say what changed between two locks, surface files or git revisions, and what the manifest loosened.

    Without arguments the working tree is compared with HEAD. Exits 0 unless --fail-on is given.

    Examples: `keel diff`, `keel diff HEAD~1`, `keel diff main...HEAD`, `keel diff old.json new.json`.
    """
    from keel.app.diff import diff_blobs, diff_files, diff_revisions  # noqa: PLC0415

    if textconv:
        return printed(lambda: _text(old, new))

    def work() -> Outcome:
        if old and new and _is_file(old) and _is_file(new):
            return diff_files(Path(old), Path(new))
        context = open_context(project=project, manifest=manifest, lock=lock)
        if old and new and (":" in old or ":" in new or _is_file(old) or _is_file(new)):
            return diff_blobs(context, old, new)
        return in_project(context, lambda context: diff_revisions(context, old or "HEAD", new or ""))

    return execute(
        "diff",
        work,
        formats=formats or ["text"],
        fail_on=fail_on,
        verbose=verbose,
        no_color=no_color,
        folder=project,
    )


def _is_file(name: str) -> bool:
    # Git names the null device where a file was added or removed.
    return Path(name).is_file() or name == os.devnull


def _text(old: str | None, new: str | None) -> str:
    from keel.app.textconv import textconv  # noqa: PLC0415

    if not old or new:
        raise UsageError("`--textconv` takes one surface file", hint="docs/drift.md shows the git configuration")
    return textconv(Path(old))
