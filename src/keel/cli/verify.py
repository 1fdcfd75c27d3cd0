"""`keel verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import execute


def command(
    file: Annotated[Path, typer.Argument(help="The bundle.")],
    *,
    allow_unsigned: Annotated[bool, typer.Option(help="Accept a bundle without a signature.")] = False,
    formats: options.Formats = None,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> int:
    """Check that a bundle is whole and unaltered: every member as digested, nothing missing, nothing extra.

    Example: `keel verify dist/support.keel --allow-unsigned`.
    """
    from keel.app.verify import verify  # noqa: PLC0415

    return execute(
        "verify",
        lambda: verify(file, allow_unsigned=allow_unsigned),
        formats=formats or ["text"],
        verbose=verbose,
        no_color=no_color,
    )
