"""`keel freeze`."""

from __future__ import annotations

from typing import Annotated

import typer

from keel.cli import options
from keel.cli.console import execute, progress
from keel.cli.wiring import in_project, open_context
from keel.core.finding import Threshold
from keel.errors import UsageError


def command(
    servers: Annotated[list[str] | None, typer.Argument(help="Take these servers as they are today.")] = None,
    *,
    update: Annotated[bool, typer.Option(help="Take every server again whose launch is unchanged.")] = False,
    check: Annotated[bool, typer.Option(help="Reach nothing; fail if a sync would have work.")] = False,
    offline: Annotated[bool, typer.Option(help="Contact no server; only surface files are read.")] = False,
    allow_empty: Annotated[bool, typer.Option(help="Accept a server that lists no tools.")] = False,
    once: Annotated[bool, typer.Option(help="Skip the second start that looks for unstable definitions.")] = False,
    probe_paths: Annotated[
        bool, typer.Option(help="Give the second start another working directory and home too.")
    ] = False,
    login: options.Login = False,
    expect: Annotated[
        list[str] | None, typer.Option(metavar="SERVER=DIGEST", help="Refuse a surface that is not the reviewed one.")
    ] = None,
    project: options.Project = None,
    manifest: options.ManifestFile = None,
    lock: options.LockFile = None,
    formats: options.Formats = None,
    fail_on: options.FailOn = Threshold.ERROR,
    jobs: options.Jobs = options.JOBS,
    timeout: options.Timeout = None,
    today: options.Today = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    no_color: options.NoColor = False,
) -> int:
    """Write what the tools are today into the lock, for review.

    Without arguments the lock is synced: servers that are new are captured, removed ones dropped, native tools and
    contracts refreshed; every other frozen server is kept and not contacted. Naming a server takes what it says
    today and accepts its launch.

    Examples: `keel freeze`, `keel freeze search`, `keel freeze --check` in CI.
    """
    from keel.app.freeze import FreezeOptions, freeze  # noqa: PLC0415

    with progress(quiet=quiet) as report:
        return execute(
            "freeze",
            lambda: in_project(
                open_context(
                    project=project,
                    manifest=manifest,
                    lock=lock,
                    today=today,
                    jobs=jobs,
                    timeout=timeout,
                    progress=report,
                    login=login,
                ),
                lambda context: freeze(
                    context,
                    FreezeOptions(
                        servers=tuple(servers or ()),
                        update=update,
                        check=check,
                        offline=offline,
                        allow_empty=allow_empty,
                        once=once,
                        probe_paths=probe_paths,
                        expect=dict(_pair(item) for item in expect or ()),
                    ),
                ),
            ),
            formats=formats or ["text"],
            fail_on=fail_on,
            verbose=verbose,
            no_color=no_color,
            folder=project,
        )


def _pair(text: str) -> tuple[str, str]:
    name, equals, digest = text.partition("=")
    if not equals or not name or not digest:
        raise UsageError(f"`{text}` is not SERVER=DIGEST", hint="`keel drift` prints the digest to expect")
    return name, digest
