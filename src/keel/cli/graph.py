"""`keel graph`."""

from __future__ import annotations

from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import printed
from keel.cli.wiring import open_context


def command(
    flow: Annotated[str, typer.Argument(help="A flow; default: all of them.")] = "",
    *,
    drawing: Annotated[str, typer.Option("--format", help="text, mermaid or dot.")] = "text",
    project: options.Project = None,
    manifest: options.ManifestFile = None,
    lock: options.LockFile = None,
) -> int:
    """Draw a flow with its gates and the calls that need approval.

    Examples: `keel graph settle`, `keel graph settle --format mermaid`, `keel graph --format dot | dot -Tsvg`.
    """
    from keel.app.graph import graph  # noqa: PLC0415

    return printed(lambda: graph(open_context(project=project, manifest=manifest, lock=lock), flow, drawing))
