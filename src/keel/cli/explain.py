"""`keel explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from keel.cli.console import printed


def command(code: Annotated[str, typer.Argument(help="A code; default: the list of all.")] = "") -> int:
    """Explain a code: what it means, why it matters, what to do.

    Examples: `keel explain`, `keel explain approval-missing`.
    """
    from keel.app.explain import explain, listing  # noqa: PLC0415

    return printed(lambda: explain(code) if code else listing())
