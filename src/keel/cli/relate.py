"""`keel relate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from keel.cli.console import data, printed
from keel.errors import ExitCode, UsageError


def command(
    old: Annotated[Path | None, typer.Argument(help="The schema before.")] = None,
    new: Annotated[Path | None, typer.Argument(help="The schema after.")] = None,
    *,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help='Read {"id","old","new"} from standard input, line by line.')
    ] = False,
) -> int:
    """Say how two JSON Schemas relate as sets, with a value that one accepts and the other refuses.

    Examples: `keel relate old.json new.json`, `keel relate --jsonl < pairs.jsonl`.
    """
    from keel.app.relate import relate_files, relate_lines  # noqa: PLC0415

    if jsonl:
        for line in relate_lines(sys.stdin):
            data(line)
            sys.stdout.flush()
        return ExitCode.OK

    def text() -> str:
        if old is None or new is None:
            raise UsageError("two schema files are needed", hint="`keel relate OLD NEW`, or `--jsonl`")
        return relate_files(old, new)

    return printed(text)
