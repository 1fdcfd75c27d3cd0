"""`keel capture`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import execute, progress
from keel.cli.wiring import browser
from keel.core.finding import Threshold


def command(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[SERVER]... | -- COMMAND...", help="Servers, or a command after --.")
    ] = None,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PATH", help="A .json file, or a folder.")],
    url: Annotated[str | None, typer.Option("--url", help="A streamable HTTP endpoint.")] = None,
    name: Annotated[str, typer.Option("--name", help="Name of a server given by command or URL.")] = "server",
    allow_empty: Annotated[bool, typer.Option(help="Accept a server that lists no tools.")] = False,
    login: options.Login = False,
    project: options.Project = None,
    formats: options.Formats = None,
    fail_on: options.FailOn = Threshold.ERROR,
    jobs: options.Jobs = options.JOBS,
    timeout: options.Timeout = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    no_color: options.NoColor = False,
) -> int:
    """Write what servers say of themselves to surface files; with a command or a URL it needs no project.

    Examples: `keel capture --output surfaces`, `keel capture -o time.json -- uvx mcp-server-time==2026.10.19`,
    `keel capture --url https://mcp.example/mcp -o search.json`.
    """
    import sys  # noqa: PLC0415

    from keel.app.capture_command import CaptureOptions, capture  # noqa: PLC0415

    after_dashes = "--" in sys.argv
    with progress(quiet=quiet) as report:
        asked = CaptureOptions(
            tuple(words or ()),
            after_dashes,
            url,
            name,
            output,
            allow_empty,
            project,
            jobs,
            timeout,
            browser if login else None,
        )
        return execute(
            "capture",
            lambda: capture(asked, report),
            formats=formats or ["text"],
            fail_on=fail_on,
            verbose=verbose,
            no_color=no_color,
        )
