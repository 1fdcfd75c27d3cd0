"""`keel sign`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import execute
from keel.cli.wiring import person


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The bundle.")],
    *,
    keys: Annotated[
        list[str],
        typer.Option("--key", "-k", metavar="FILE|env:NAME|-", help="Private key in PEM; may be repeated."),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Default: the bundle itself.")
    ] = None,
    formats: options.Formats = None,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> int:
    """Sign a bundle that is whole; signatures by others stay, and the same key gives the same bytes again.

    An encrypted key is opened with KEEL_KEY_PASSPHRASE, or keel asks in a terminal.

    Examples: `keel sign dist/support.keel --key keel.key`,
    `keel sign dist/support.keel --key env:SIGNING_KEY`, `vault read … | keel sign dist/support.keel --key -`.
    """
    from keel.app.sign import sign  # noqa: PLC0415

    return execute(
        "sign",
        lambda: sign(file, keys, output=output, person=person()),
        formats=formats or ["text"],
        verbose=verbose,
        no_color=no_color,
    )
