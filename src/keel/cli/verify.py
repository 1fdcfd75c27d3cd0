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
    signers: Annotated[
        list[Path] | None,
        typer.Option(
            "--signer",
            metavar="FILE|DIR",
            help="Accept this signer: public keys in PEM, or a folder of .pub and .pem files; may be repeated.",
        ),
    ] = None,
    allow_unsigned: Annotated[
        bool, typer.Option("--allow-unsigned", help="Accept a bundle without a signature.")
    ] = False,
    min_sequence: Annotated[
        int | None, typer.Option("--min-sequence", min=0, metavar="N", help="Refuse bundles with a lower sequence.")
    ] = None,
    formats: options.Formats = None,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> int:
    """Check that a bundle is signed by someone you accept, whole and unaltered: nothing missing, nothing extra.

    Examples: `keel verify dist/support.keel --signer keel.pub`,
    `keel verify dist/support.keel --signer keys/ --min-sequence 41`.
    """
    from keel.app.verify import verify  # noqa: PLC0415

    return execute(
        "verify",
        lambda: verify(file, signers or (), allow_unsigned=allow_unsigned, min_sequence=min_sequence),
        formats=formats or ["text"],
        verbose=verbose,
        no_color=no_color,
    )
