"""`keel bundle`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import execute
from keel.cli.wiring import in_project, open_context
from keel.core.finding import Threshold


def command(
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Default: dist/<project>.keel.")
    ] = None,
    sequence: Annotated[
        int | None,
        typer.Option("--sequence", min=1, metavar="N", help="Number of the release, which `--min-sequence` compares."),
    ] = None,
    project: options.Project = None,
    manifest: options.ManifestFile = None,
    lock: options.LockFile = None,
    formats: options.Formats = None,
    fail_on: options.FailOn = Threshold.ERROR,
    today: options.Today = None,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> int:
    """Check everything, then write the one file that may be deployed; refuses while a finding blocks.

    Examples: `keel bundle`, `keel bundle --output dist/support.keel --sequence 42`.
    """
    from keel.app.bundle import bundle  # noqa: PLC0415

    return execute(
        "bundle",
        lambda: in_project(
            open_context(project=project, manifest=manifest, lock=lock, today=today),
            lambda context: bundle(context, output, sequence=sequence or 0),
        ),
        formats=formats or ["text"],
        fail_on=fail_on,
        verbose=verbose,
        no_color=no_color,
        folder=project,
    )
