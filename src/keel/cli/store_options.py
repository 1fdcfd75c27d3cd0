"""Options of the commands over the store and the audit log, each described once, and who is at the keyboard."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keel.errors import UsageError

if TYPE_CHECKING:
    from keel.app.stores import Stores


class Form(StrEnum):
    """How records are printed."""

    TEXT = "text"
    JSON = "json"


Store = Annotated[
    str, typer.Option("--store", metavar="URL", help="A path or postgresql://…; default: .keel/state.sqlite.")
]
Audit = Annotated[str, typer.Option("--audit", metavar="FILE", help="Audit log; default: .keel/audit.jsonl.")]
Project = Annotated[
    Path | None, typer.Option("--project", metavar="DIR", help="Where the defaults lie; default: the project here.")
]
Format = Annotated[Form, typer.Option("--format", help="Text for people, or JSON.")]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who decides; default: the user of this process.")]
Comment = Annotated[str, typer.Option("--comment", metavar="TEXT", help="Recorded with the decision.")]


def stores(store: str, audit: str, project: Path | None) -> Stores:
    """Return the stores that the options name.

    Raises:
        UsageError: if the project's folder is none.
    """
    from keel.app.stores import Stores  # noqa: PLC0415 - `--help` needs none of it

    if project is not None and not project.is_dir():
        raise UsageError(f"`{project}` is not a folder", hint="pass the project's folder to `--project`")
    return Stores.of(store, audit, project)


def whoever(by: str, *, otherwise: str = "") -> str:
    """Return the name given, or that of the user who runs the process, whatever the environment says.

    Args:
        by: as given; may be empty.
        otherwise: what to return where the system knows no name.

    Raises:
        UsageError: if nobody knows, and `otherwise` is empty.
    """
    if by.strip():
        return by.strip()
    try:
        import pwd  # noqa: PLC0415 - not on every system

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        import getpass  # noqa: PLC0415

        try:
            return getpass.getuser()
        except (ImportError, KeyError, OSError) as error:
            if otherwise:
                return otherwise
            raise UsageError("the system does not say who you are", hint="pass `--by NAME`") from error
