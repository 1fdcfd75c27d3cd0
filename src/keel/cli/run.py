"""`keel run`."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from enum import StrEnum
from typing import Annotated

import typer

from keel.cli import runtime_options as options
from keel.cli.console import complain, data, talk
from keel.cli.store_options import whoever
from keel.errors import ExitCode, KeelError


class Approve(StrEnum):
    """Where questions to people are decided."""

    TERMINAL = "terminal"
    STORE = "store"


class Format(StrEnum):
    """What is printed."""

    TEXT = "text"
    JSON = "json"


@options.executing
def command(
    flow: Annotated[str, typer.Argument(metavar="FLOW", help="Name of the flow, as `keel graph` lists it.")],
    *,
    bundle: options.Bundle = None,
    input_: Annotated[
        str, typer.Option("--input", "-i", metavar="JSON|@FILE|-", help="The flow's arguments, as a JSON object.")
    ] = "{}",
    run_id: Annotated[
        str, typer.Option(metavar="ID", help="Names the run; the same one continues it and repeats no step.")
    ] = "",
    approve: Annotated[
        Approve, typer.Option(help="Ask at the terminal, or wait for `keel approve` in the store.")
    ] = Approve.TERMINAL,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Execute nothing: check each step and answer it with sample data.")
    ] = False,
    fixtures: Annotated[
        str, typer.Option("--fixtures", metavar="JSON|@FILE", help="Results of a dry run, by tool key.")
    ] = "{}",
    format_: Annotated[Format, typer.Option("--format", help="json adds the trace to the result.")] = Format.TEXT,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No line for each step.")] = False,
    shared: options.Shared,
) -> int:
    """Execute a flow of a bundle: its own Python, each step checked; the result is JSON on standard output.

    Exit codes: 0 a result, 1 the flow failed or was refused, 2 usage, 3 could not be completed.

    Examples: `keel run settle --input '{"ticket": "T-1"}'`,
    `keel run settle --bundle dist/support.keel --input @ticket.json --run-id ticket-1 --approve store`,
    `keel run settle --bundle dist/support.keel --input '{"ticket": "T-1"}' --dry-run --allow-unsigned`.
    """
    from keel.app.call import read_arguments  # noqa: PLC0415
    from keel.app.run import RunOptions, run_flow  # noqa: PLC0415

    try:
        asked = RunOptions(
            flow,
            read_arguments(options.text_of(input_)),
            run_id,
            dry_run,
            read_arguments(options.text_of(fixtures)),
            approve is Approve.TERMINAL,
            whoever("", otherwise="terminal"),
        )
        said = shared.runtime(bundle)
        with redirect_stdout(sys.stderr):  # what the flow prints is talk: standard output holds the result alone
            ran = run_flow(said, asked, say=talk, listener=None if quiet else lambda entry: talk(entry.line()))
    except KeelError as error:
        return complain("run", error)
    shown = ran.json_with_trace if format_ is Format.JSON else ran.json
    data(json.dumps(shown, ensure_ascii=False, indent=2) + "\n")
    wrong = ran.outcome.error
    if wrong is not None:
        talk(f"error: {wrong.message}")
        if wrong.hint:
            talk(f"hint: {wrong.hint}")
    talk(ran.verdict)
    return ExitCode(ran.exit_code)
