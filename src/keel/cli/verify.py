"""`keel verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.cli import options, runtime_options
from keel.cli.console import execute


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The bundle.")],
    *,
    signers: runtime_options.Signers = None,
    allow_unsigned: runtime_options.AllowUnsigned = False,
    min_sequence: runtime_options.MinSequence = None,
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
