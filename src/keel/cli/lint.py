"""`keel lint`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import execute
from keel.core.finding import Threshold


def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Definitions; - is standard input.")],
    *,
    target: Annotated[
        list[str] | None, typer.Option("--target", help="Judge the limits of this provider too; may be repeated.")
    ] = None,
    strict: Annotated[bool, typer.Option(help="The stricter profile.")] = False,
    formats: options.Formats = None,
    fail_on: options.FailOn = Threshold.ERROR,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> int:
    """Judge tool definitions: a tools/list result, a surface file, one tool, or a tool with its siblings.

    Examples: `keel lint tools.json`, `keel lint - < tools.json`, `keel lint tools.json --target openai-strict`.
    """
    from keel.app.lint_command import lint  # noqa: PLC0415

    return execute(
        "lint",
        lambda: lint(files, targets=tuple(target or ()), strict=strict),
        formats=formats or ["text"],
        fail_on=fail_on,
        verbose=verbose,
        no_color=no_color,
    )
