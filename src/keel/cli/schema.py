"""`keel schema`."""

from __future__ import annotations

from typing import Annotated

import typer

from keel.cli.console import printed


def command(name: Annotated[str, typer.Argument(help="manifest, config, report, bundle or surface.")]) -> int:
    """Print the JSON Schema of what keel reads and writes, for editors and for validation.

    Example: `keel schema manifest > keel.schema.json`.
    """
    from keel.app.schema import schema  # noqa: PLC0415

    return printed(lambda: schema(name))
