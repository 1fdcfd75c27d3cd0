"""`keel drift`."""

from __future__ import annotations

from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import execute, progress
from keel.cli.wiring import in_project, open_context
from keel.core.finding import Threshold


def command(
    servers: Annotated[list[str] | None, typer.Argument(help="Compare only these servers.")] = None,
    *,
    confirm: Annotated[
        int, typer.Option(min=0, max=10, help="More listings that must show a difference before it counts.")
    ] = 1,
    allow_unreachable: Annotated[
        list[str] | None, typer.Option(metavar="SERVER", help="This server may be unreachable; may be repeated.")
    ] = None,
    login: options.Login = False,
    project: options.Project = None,
    manifest: options.ManifestFile = None,
    lock: options.LockFile = None,
    formats: options.Formats = None,
    fail_on: options.FailOn = Threshold.ERROR,
    jobs: options.Jobs = options.JOBS,
    timeout: options.Timeout = None,
    today: options.Today = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    no_color: options.NoColor = False,
) -> int:
    """Compare what servers say today with the lock, each under its policy; never writes, never starts a changed launch.

    Examples: `keel drift`, `keel drift search --format json`, `keel drift --allow-unreachable search`.
    """
    from keel.app.drift import DriftOptions, drift  # noqa: PLC0415

    with progress(quiet=quiet) as report:
        return execute(
            "drift",
            lambda: in_project(
                open_context(
                    project=project,
                    manifest=manifest,
                    lock=lock,
                    today=today,
                    jobs=jobs,
                    timeout=timeout,
                    progress=report,
                    login=login,
                ),
                lambda context: drift(
                    context, DriftOptions(tuple(servers or ()), confirm, tuple(allow_unreachable or ()))
                ),
            ),
            formats=formats or ["text"],
            fail_on=fail_on,
            verbose=verbose,
            no_color=no_color,
            folder=project,
        )
