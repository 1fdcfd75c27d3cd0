"""`keel call`."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer

from keel.cli import runtime_options as options
from keel.cli.console import complain, data, talk
from keel.errors import ExitCode, KeelError


@options.executing
def command(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Tool key: server/tool, or the name of a native tool.")],
    *,
    bundle: options.Bundle = None,
    input_: Annotated[
        str, typer.Option("--input", "-i", metavar="JSON|@FILE|-", help="Arguments, as a JSON object.")
    ] = "{}",
    operation: Annotated[
        str, typer.Option(metavar="ID", help="Names the intended operation: the same one is done once.")
    ] = "",
    timeout: Annotated[
        float | None, typer.Option(min=0.1, metavar="SECONDS", help="Deadline of the call; a grant may allow less.")
    ] = None,
    shared: options.Shared,
) -> int:
    """Make one call through everything that guards calls in production; the result is JSON on standard output.

    Exit codes: 0 a result, 1 refused or failed, 2 usage, 3 could not be completed: unreachable, timed out, or the
    outcome is not known.

    Examples: `keel call search/query --input '{"q": "keel"}'`,
    `keel call billing/refund --bundle dist/support.keel --input @refund.json --operation refund-4711`.
    """
    from functools import partial  # noqa: PLC0415

    from keel.app.call import CallOptions, call, only, read_arguments  # noqa: PLC0415

    try:
        asked = CallOptions(key, read_arguments(options.text_of(input_)), operation, timeout)
        said = shared.runtime(bundle, needs_native=partial(only, key, tuple(shared.tool_urls or ())))
        with redirect_stdout(sys.stderr):  # what a native tool prints is talk: standard output holds the result alone
            called = call(said, asked)
    except KeelError as error:
        return complain("call", error)
    data(json.dumps(called.json, ensure_ascii=False, indent=2) + "\n")
    if called.hint:
        talk(f"hint: {called.hint}")
    return ExitCode(called.exit_code)
