"""`keel relate`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
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

    A line that cannot be read is answered with `error`, and the exit code is then 2; the relation itself never is.

    Examples: `keel relate old.json new.json`, `keel relate --jsonl < pairs.jsonl`.
    """
    from keel.app.relate import relate_files, relate_lines  # noqa: PLC0415

    if jsonl:
        return _lines(relate_lines(sys.stdin.buffer), given=old is not None)

    def text() -> str:
        if old is None or new is None:
            raise UsageError("two schema files are needed", hint="`keel relate OLD NEW`, or `--jsonl`")
        return relate_files(old, new)

    return printed(text)


def _lines(answers: Iterator[tuple[str, bool]], *, given: bool) -> ExitCode:
    if given:
        return printed(_no_files)
    code = ExitCode.OK
    for line, understood in answers:
        data(line)
        # Whoever asks line by line waits for the answer.
        sys.stdout.flush()
        code = code if understood else ExitCode.USAGE
    return code


def _no_files() -> str:
    raise UsageError("`--jsonl` reads standard input and takes no files", hint="`keel relate --jsonl < pairs.jsonl`")
