"""`keel approve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.cli import store_options as options
from keel.cli.console import printed


def command(
    approval: Annotated[
        str, typer.Argument(metavar="[ID]", help="The question; without it the open ones are listed.")
    ] = "",
    *,
    by: options.By = "",
    comment: options.Comment = "",
    store: options.Store = "",
    audit: options.Audit = "",
    project: options.Project = None,
    form: options.Format = options.Form.TEXT,
) -> int:
    """Approve what a flow's gate or a call waits for; without ID list what waits.

    Examples: `keel approve`, `keel approve 3f9a12bc44de --comment "checked with billing"`.
    """
    return answer(approval, approved=True, by=by, comment=comment, where=(store, audit, project), form=form)


def answer(
    approval: str,
    *,
    approved: bool,
    by: str,
    comment: str,
    where: tuple[str, str, Path | None],
    form: options.Form,
) -> int:
    """List the open questions, or answer one; returns the exit code."""

    def text() -> str:
        from keel.app import approvals  # noqa: PLC0415 - `--help` needs none of it

        stores, as_data = options.stores(*where), form is options.Form.JSON
        if not approval:
            return approvals.listed(stores, as_data=as_data)
        name = options.whoever(by)
        return approvals.decided(stores, approval, approved=approved, by=name, comment=comment, as_data=as_data)

    return printed(text)
