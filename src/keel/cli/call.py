"""`keel call`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from keel.cli import runtime_options as options
from keel.cli.console import complain, data, talk
from keel.errors import ExitCode, KeelError


def command(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Tool key: server/tool, or the name of a native tool.")],
    *,
    bundle: Annotated[Path, typer.Option("--bundle", "-b", metavar="FILE", help="The bundle.")],
    input_: Annotated[
        str, typer.Option("--input", "-i", metavar="JSON|@FILE|-", help="Arguments, as a JSON object.")
    ] = "{}",
    operation: Annotated[
        str, typer.Option(metavar="ID", help="Names the intended operation: the same one is done once.")
    ] = "",
    timeout: Annotated[
        float | None, typer.Option(min=0.1, metavar="SECONDS", help="Deadline of the call; a grant may allow less.")
    ] = None,
    project: options.Project = None,
    signers: options.Signers = None,
    allow_unsigned: options.AllowUnsigned = False,
    min_sequence: options.MinSequence = None,
    store: options.Store = "",
    audit: options.Audit = "",
    tenant: options.Tenant = "local",
    subject: options.Subject = "local",
    secrets: options.Secrets = None,
    secret_commands: options.SecretCommands = None,
    tool_urls: options.ToolUrls = None,
) -> int:
    """Make one call through everything that guards calls in production; the result is JSON on standard output.

    Exit codes: 0 a result, 1 refused or failed, 2 usage, 3 could not be completed: unreachable, timed out, or the
    outcome is not known.

    Examples: `keel call search/query --bundle dist/support.keel --input '{"q": "keel"}'`,
    `keel call billing/refund --bundle dist/support.keel --input @refund.json --operation refund-4711`.
    """
    from functools import partial  # noqa: PLC0415

    from keel.app.call import CallOptions, call, only, read_arguments  # noqa: PLC0415

    try:
        asked = CallOptions(key, read_arguments(options.text_of(input_)), operation, timeout)
        said = options.runtime_options(
            bundle,
            project=project,
            signers=signers,
            allow_unsigned=allow_unsigned,
            min_sequence=min_sequence,
            store=store,
            audit=audit,
            tenant=tenant,
            subject=subject,
            secrets=secrets,
            secret_commands=secret_commands,
            tool_urls=tool_urls,
            needs_native=partial(only, key, tuple(tool_urls or ())),
        )
        called = call(said, asked)
    except KeelError as error:
        return complain("call", error)
    data(json.dumps(called.json, ensure_ascii=False, indent=2) + "\n")
    if called.hint:
        talk(f"hint: {called.hint}")
    return ExitCode(called.exit_code)
