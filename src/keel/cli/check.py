"""`keel check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import execute
from keel.cli.wiring import open_context
from keel.core.finding import Threshold


def command(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Report only what stands in these files or folders.")
    ] = None,
    *,
    project: options.Project = None,
    manifest: options.ManifestFile = None,
    lock: options.LockFile = None,
    formats: options.Formats = None,
    fail_on: options.FailOn = Threshold.ERROR,
    today: options.Today = None,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> int:
    """Judge flows, manifest and lock by every gate; starts nothing, connects to nothing, imports nothing.

    Examples: `keel check`, `keel check flows/refunds.py`, `keel check --format json:report.json --format text`.
    """
    from keel.app.check import check  # noqa: PLC0415

    return execute(
        "check",
        lambda: check(open_context(project=project, manifest=manifest, lock=lock, today=today), tuple(paths or ())),
        formats=formats or ["text"],
        fail_on=fail_on,
        verbose=verbose,
        no_color=no_color,
    )
