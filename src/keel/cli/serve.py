"""`keel serve`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keel.cli import runtime_options as options
from keel.cli.console import complain, data, talk
from keel.errors import ExitCode, KeelError

if TYPE_CHECKING:
    from keel.app.runtime import RuntimeOptions
    from keel.app.serve import ServeOptions


@options.executing
def command(
    bundle: Annotated[
        Path | None, typer.Argument(metavar="[BUNDLE]", help="Default: dist/<project>.keel of the project here.")
    ] = None,
    *,
    http: Annotated[
        str,
        typer.Option(metavar="[HOST:]PORT", help="Serve streamable HTTP on loopback instead; 0: any port."),
    ] = "",
    token_env: Annotated[
        str, typer.Option(metavar="VAR", help="Take the bearer token from there; default: made and printed once.")
    ] = "",
    token_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Take the bearer token from a file.")] = None,
    elicit: Annotated[bool, typer.Option("--elicit", help="Have the client ask its user for approvals.")] = False,
    max_request_bytes: Annotated[
        int, typer.Option(min=1024, metavar="N", help="Longest message of a client.")
    ] = 4194304,
    rate: Annotated[
        float, typer.Option(min=0, metavar="N", help="Calls a second in the long run; 0: any number.")
    ] = 100,
    print_config: Annotated[
        str,
        typer.Option(
            metavar="CLIENT",
            help="Print the entry for a client and end: claude-code, claude-desktop, codex, cursor, gemini, vscode.",
        ),
    ] = "",
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the gateway in that entry.")] = "keel",
    shared: options.Shared,
) -> int:
    """Serve a bundle to MCP clients: only frozen tools, every call checked, approved where that is asked, recorded.

    Examples: `keel serve`, `keel serve dist/support.keel --http 8765`,
    `keel serve dist/support.keel --print-config claude-code`.
    """
    try:
        said = shared.runtime(bundle)
        from keel.app.serve import ServeOptions, serve  # noqa: PLC0415 - `--help` needs none of it

        asked = ServeOptions(http, token_env, token_file, elicit, max_request_bytes, rate)
        if print_config:
            _print(print_config, name, said, asked)
        else:
            serve(said, asked, talk)
    except KeelError as error:
        return complain("serve", error)
    return ExitCode.OK


def _print(client: str, name: str, said: RuntimeOptions, asked: ServeOptions) -> None:
    from keel.app.client_entry import client_entry, gateway_command, gateway_url  # noqa: PLC0415

    found = shutil.which("keel")
    program = (found,) if found is not None else (sys.executable, "-m", "keel")
    url = gateway_url(asked.http) if asked.http else ""
    file, text = client_entry(client, name, gateway_command(program, said, asked), url)
    talk(f"for {file}:")
    data(text)
