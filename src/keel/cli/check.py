"""`keel check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keel.cli import options
from keel.cli.console import execute
from keel.cli.wiring import in_project, open_context
from keel.core.finding import Threshold

if TYPE_CHECKING:
    from keel.app.context import Context
    from keel.app.outcome import Outcome


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

    From above several projects, `keel check .` checks each of them.

    Examples: `keel check`, `keel check flows/refunds.py`, `keel check --format json:report.json --format text`.
    """
    from keel.app.check import check  # noqa: PLC0415

    def opening(folder: Path | None) -> Context:
        return open_context(project=folder, manifest=manifest, lock=lock, today=today)

    def work() -> Outcome:
        from keel.store.project import by_project, project_root  # noqa: PLC0415 - `--help` needs none of it

        here = project_root(Path.cwd())
        groups = by_project(paths) if paths and project is None else {}
        if set(groups) <= {here}:
            return in_project(opening(project), lambda context: check(context, tuple(paths or ())))
        from keel.app.check_many import check_many  # noqa: PLC0415

        return check_many(groups, opening, here or Path.cwd())

    return execute(
        "check",
        work,
        formats=formats or ["text"],
        fail_on=fail_on,
        verbose=verbose,
        no_color=no_color,
        folder=project,
    )
