"""`keel keygen`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import execute
from keel.cli.wiring import person


def command(
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PREFIX", help="Writes PREFIX.key and PREFIX.pub.")
    ] = Path("keel"),
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="Encrypt the private key with KEEL_KEY_PASSPHRASE, or ask for one.")
    ] = False,
    formats: options.Formats = None,
    no_color: options.NoColor = False,
) -> int:
    """Make a pair of Ed25519 keys to sign and verify bundles with; nothing is overwritten.

    Examples: `keel keygen`, `keel keygen --encrypt --output keys/release`.
    """
    from keel.app.keygen import keygen  # noqa: PLC0415

    return execute(
        "keygen",
        lambda: keygen(output, encrypt=encrypt, person=person()),
        formats=formats or ["text"],
        no_color=no_color,
    )
