"""Options of the commands that execute, each described once."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from keel.cli import store_options
from keel.core.text import escape
from keel.errors import UsageError

if TYPE_CHECKING:
    from keel.app.runtime import RuntimeOptions

Bundle = Annotated[
    Path | None,
    typer.Option("--bundle", "-b", metavar="FILE", help="Default: dist/<project>.keel of the project here."),
]
Signers = Annotated[
    list[Path] | None,
    typer.Option(
        "--signer",
        metavar="FILE|DIR",
        help="Accept this signer: public keys in PEM, or a folder of .pub and .pem files; may be repeated.",
    ),
]
AllowUnsigned = Annotated[bool, typer.Option("--allow-unsigned", help="Accept a bundle without a signature.")]
MinSequence = Annotated[
    int | None, typer.Option("--min-sequence", min=0, metavar="N", help="Refuse bundles with a lower sequence.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What the options say that all these commands have."""

    project: Annotated[
        Path | None,
        typer.Option("--project", metavar="DIR", help="Where relative paths count from; default: the project here."),
    ] = None
    signers: Signers = None
    allow_unsigned: AllowUnsigned = False
    min_sequence: MinSequence = None
    store: store_options.Store = ""
    audit: store_options.Audit = ""
    tenant: Annotated[str, typer.Option("--tenant", help="On whose behalf calls are made.")] = "local"
    subject: Annotated[str, typer.Option("--subject", help="Who makes them.")] = "local"
    secrets: Annotated[
        list[str] | None,
        typer.Option("--secret", metavar="NAME=env:VAR|file:PATH", help="Take a secret from there; may be repeated."),
    ] = None
    secret_commands: Annotated[
        list[str] | None,
        typer.Option("--secret-command", metavar="NAME=COMMAND", help="Take a secret from what a command prints."),
    ] = None
    tool_urls: Annotated[
        list[str] | None,
        typer.Option("--tool-url", metavar="NAME=URL", help="A native tool that runs there, not here."),
    ] = None

    def runtime(self, bundle: Path | None, **more: Any) -> RuntimeOptions:
        """Return everything an operator says about a run; lists become tuples.

        Args:
            bundle: the bundle; None for the one that `keel bundle` writes for the project here.
            more: fields of `RuntimeOptions` that no option gives.

        Raises:
            UsageError: if no bundle is named, and there is no project.
        """
        from keel.app.runtime import RuntimeOptions, default_bundle  # noqa: PLC0415 - `--help` needs none of it

        said = {item.name: getattr(self, item.name) for item in fields(self)}
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in said.items()}
        named: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return RuntimeOptions(bundle or default_bundle(self.project), dict(os.environ), **named, **more)


def executing(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of `Shared` after its own; it gets them as its argument `shared`."""
    kinds = get_type_hints(Shared, include_extras=True)
    names = [item.name for item in fields(Shared)]

    @wraps(command)
    def wrapped(*args: Any, **given: Any) -> int:
        shared = Shared(**{name: given.pop(name) for name in names})
        return command(*args, **given, shared=shared)

    own = inspect.signature(command, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    wrapped.__signature__ = own.replace(  # type: ignore[attr-defined]  # Typer reads it
        parameters=[
            *(parameter for name, parameter in own.parameters.items() if name != "shared"),
            *(inspect.Parameter(i.name, keyword, default=i.default, annotation=kinds[i.name]) for i in fields(Shared)),
        ]
    )
    return wrapped


def text_of(given: str) -> str:
    """Return what an option names: itself, the text of `@FILE`, or with `-` standard input.

    Raises:
        FileError: if the file cannot be read.
        UsageError: if what is read is not UTF-8.
    """
    if given != "-" and not given.startswith("@"):
        return given
    from keel.store.files import read_bytes  # noqa: PLC0415 - `--help` needs none of it

    name = "standard input" if given == "-" else f"`{escape(given[1:])}`"
    found = read_bytes(Path(given[1:])) if given != "-" else _standard_input()
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{name} is not UTF-8 text: byte {error.start + 1} belongs to no character"
        raise UsageError(message, hint="save it as UTF-8") from error


def _standard_input() -> bytes:
    return sys.stdin.buffer.read() if sys.stdin is not None else b""
