"""`keel audit`: the audit log, and the operations that it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keel.cli import options as shared
from keel.cli import store_options as options
from keel.cli.console import execute, printed
from keel.errors import UsageError

group = typer.Typer(
    help="Verify and read the audit log; list and settle operations.", no_args_is_help=True, rich_markup_mode=None
)

File = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="The audit log; default: .keel/audit.jsonl of the project.")
]


def _log(file: Path | None, project: Path | None) -> Path:
    return options.stores("", str(file) if file else "", project).audit


@group.command()
def verify(
    file: File = None,
    *,
    expect_head: Annotated[
        str, typer.Option(metavar="HASH", help="A hash that the log must hold; finds out a log that was cut.")
    ] = "",
    project: options.Project = None,
    formats: shared.Formats = None,
    verbose: shared.Verbose = False,
    no_color: shared.NoColor = False,
) -> int:
    """Find what was altered, removed, inserted or moved in an audit log.

    A log that was cut at its end, or written anew as a whole, is found out only against a head kept elsewhere.

    Examples: `keel audit verify`, `keel audit verify audit.jsonl --expect-head sha256:9f3c…`.
    """
    from keel.app import audit as use_case  # noqa: PLC0415 - `--help` needs none of it

    return execute(
        "audit verify",
        lambda: use_case.verify(_log(file, project), expect_head),
        formats=formats or ["text"],
        verbose=verbose,
        no_color=no_color,
    )


@group.command()
def head(file: File = None, *, project: options.Project = None) -> int:
    """Print the hash of the last event, to be kept where nobody who can write the log can change it.

    Example: `keel audit head`.
    """
    from keel.app import audit as use_case  # noqa: PLC0415

    return printed(lambda: use_case.head(_log(file, project)))


@group.command()
def show(
    file: File = None,
    *,
    run: Annotated[str, typer.Option(metavar="ID", help="Only the events of this run.")] = "",
    tool: Annotated[str, typer.Option(metavar="KEY", help="Only the events of this tool.")] = "",
    project: options.Project = None,
    form: options.Format = options.Form.TEXT,
) -> int:
    """Print events, one a line.

    Examples: `keel audit show --run r1`, `keel audit show audit.jsonl --tool billing/refund --format json`.
    """
    from keel.app import audit as use_case  # noqa: PLC0415

    as_data = form is options.Form.JSON
    return printed(lambda: use_case.show(_log(file, project), run=run, tool=tool, as_data=as_data))


@group.command()
def operations(
    *,
    unknown: Annotated[bool, typer.Option("--unknown", help="Only those whose outcome is not known.")] = False,
    store: options.Store = "",
    project: options.Project = None,
    form: options.Format = options.Form.TEXT,
) -> int:
    """List operations with effects and where they stand.

    Examples: `keel audit operations`, `keel audit operations --unknown --format json`.
    """
    from keel.app import audit as use_case  # noqa: PLC0415

    as_data = form is options.Form.JSON
    return printed(lambda: use_case.operations(options.stores(store, "", project), unknown=unknown, as_data=as_data))


@group.command()
def settle(
    key: Annotated[str, typer.Argument(help="Key of an operation whose outcome is not known.")],
    *,
    applied: Annotated[
        bool | None, typer.Option("--applied/--not-applied", help="Whether the effect happened.", show_default=False)
    ] = None,
    result: Annotated[str, typer.Option(metavar="JSON", help="What later calls of an applied one get.")] = "",
    by: options.By = "",
    comment: options.Comment = "",
    store: options.Store = "",
    audit: options.Audit = "",
    project: options.Project = None,
) -> int:
    """Say what became of an operation whose outcome is not known, once you have found out.

    Examples: `keel audit settle k1:3f… --applied --result '{"id": 7}'`, `keel audit settle k1:3f… --not-applied`.
    """
    from keel.app import audit as use_case  # noqa: PLC0415

    def text() -> str:
        if applied is None:
            raise UsageError("whether it was applied is not said", hint="pass `--applied` or `--not-applied`")
        stores, name = options.stores(store, audit, project), options.whoever(by)
        return use_case.settle(stores, key, applied=applied, result=result, by=name, comment=comment)

    return printed(text)


@group.command()
def prune(
    *,
    before: Annotated[str, typer.Option(metavar="DATE", help="Remove what was over before this day (UTC).")],
    store: options.Store = "",
    audit: options.Audit = "",
    project: options.Project = None,
) -> int:
    """Remove final operations and decided questions of long ago; a call that comes again after that is a new one.

    Example: `keel audit prune --before 2026-01-31`.
    """
    from keel.app import audit as use_case  # noqa: PLC0415

    return printed(lambda: use_case.prune(options.stores(store, audit, project), before))
