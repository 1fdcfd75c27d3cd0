"""`keel show`."""

from __future__ import annotations

from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import printed
from keel.cli.wiring import open_context


def command(
    key: Annotated[str, typer.Argument(help="A tool key or a server; default: everything.")] = "",
    *,
    grants: Annotated[bool, typer.Option("--grants", help="Print ready manifest lines, hints as comments.")] = False,
    config: Annotated[bool, typer.Option("--config", help="Print the effective settings.")] = False,
    project: options.Project = None,
    manifest: options.ManifestFile = None,
    lock: options.LockFile = None,
) -> int:
    """Show what the lock holds.

    Examples: `keel show`, `keel show search/query`, `keel show --grants`.
    """
    from keel.app import show  # noqa: PLC0415

    def text() -> str:
        context = open_context(project=project, manifest=manifest, lock=lock)
        if config:
            return show.config(context)
        return show.grants(context) if grants else show.show(context, key)

    return printed(text)
