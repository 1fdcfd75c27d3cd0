"""`keel deny`."""

from __future__ import annotations

from typing import Annotated

import typer

from keel.cli import store_options as options
from keel.cli.approve import answer


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
    """Deny what a flow's gate or a call waits for; without ID list what waits.

    Examples: `keel deny`, `keel deny 3f9a12bc44de --comment "too much"`.
    """
    return answer(approval, approved=False, by=by, comment=comment, where=(store, audit, project), form=form)
