"""Options of the commands that execute, each described once."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keel.errors import UsageError

if TYPE_CHECKING:
    from keel.app.runtime import RuntimeOptions

Project = Annotated[
    Path | None,
    typer.Option("--project", metavar="DIR", help="Where the bundle's relative paths count from; default: as found."),
]
Signers = Annotated[
    list[Path] | None, typer.Option("--signer", metavar="KEY", help="Accept bundles signed by this public key.")
]
AllowUnsigned = Annotated[bool, typer.Option("--allow-unsigned", help="Accept a bundle without a signature.")]
MinSequence = Annotated[
    int | None, typer.Option("--min-sequence", min=0, metavar="N", help="Refuse bundles with a lower sequence.")
]
Store = Annotated[
    str, typer.Option("--store", metavar="URL", help="Ledger: a path or postgresql://…; default: .keel/state.sqlite.")
]
Audit = Annotated[str, typer.Option("--audit", metavar="FILE", help="Audit log; default: .keel/audit.jsonl.")]
Tenant = Annotated[str, typer.Option("--tenant", help="On whose behalf calls are made.")]
Subject = Annotated[str, typer.Option("--subject", help="Who makes them.")]
Secrets = Annotated[
    list[str] | None,
    typer.Option("--secret", metavar="NAME=env:VAR|file:PATH", help="Take a secret from there; may be repeated."),
]
SecretCommands = Annotated[
    list[str] | None,
    typer.Option("--secret-command", metavar="NAME=COMMAND", help="Take a secret from what a command prints."),
]
ToolUrls = Annotated[
    list[str] | None, typer.Option("--tool-url", metavar="NAME=URL", help="A native tool that runs there, not here.")
]


def runtime_options(bundle: Path, **given: Any) -> RuntimeOptions:
    """Return what the options say; lists become tuples, and what was not given keeps its default."""
    from keel.app.runtime import RuntimeOptions  # noqa: PLC0415 - `--help` needs none of it

    said = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    named: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    return RuntimeOptions(bundle, dict(os.environ), **named)


def text_of(given: str) -> str:
    """Return what an option names: itself, the text of `@FILE`, or with `-` standard input.

    Raises:
        UsageError: if the file cannot be read as text.
    """
    if given == "-":
        return sys.stdin.read()
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{given[1:]}` cannot be read as text", hint="correct the path after `@`") from error
