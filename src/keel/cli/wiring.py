"""Builds the context of a run from the command line and the process environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from keel.cli.console import Progress, talk
from keel.cli.options import JOBS
from keel.errors import UsageError

if TYPE_CHECKING:
    from keel.app.context import Context
    from keel.app.keys import Person
    from keel.app.outcome import Outcome


_LONGEST = 1 << 20
"""How many bytes of standard input are read for a key."""


def open_context(
    *,
    project: Path | None = None,
    manifest: Path | None = None,
    lock: Path | None = None,
    today: str | None = None,
    jobs: int = JOBS,
    timeout: float | None = None,
    progress: Progress | None = None,
    login: bool = False,
) -> Context:
    """Find and read the project, and return the context of the run.

    Raises:
        InputErrors: everything that is wrong with the configuration and the manifest.
        UsageError: if a date is not one.
    """
    from keel.app.context import Context  # noqa: PLC0415 - `--help` needs none of it
    from keel.store.project import find_project  # noqa: PLC0415

    return Context(
        project=find_project(Path.cwd(), project=project, manifest=manifest, lock=lock),
        environ=dict(os.environ),
        today=_day(today),
        jobs=jobs,
        timeout_s=timeout,
        progress=progress,
        login=browser if login else None,
    )


def browser(page: str) -> None:
    """Show a login page in the browser, and its address to whoever has none here."""
    import webbrowser  # noqa: PLC0415 - only a login needs it

    talk(f"log in at {page}")
    webbrowser.open(page)


def person() -> Person:
    """Return how keys and passphrases reach this run; only a terminal is asked."""
    from keel.app.keys import Person  # noqa: PLC0415 - `--help` needs none of it

    there = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    return Person(dict(os.environ), _stdin, _hidden if there else None)


def _stdin() -> bytes:
    return sys.stdin.buffer.read(_LONGEST) if sys.stdin is not None else b""


def _hidden(question: str) -> str:
    from getpass import getpass  # noqa: PLC0415 - few runs ask

    return getpass(question, stream=sys.stderr)


def in_project(context: Context, use_case: Callable[[Context], Outcome]) -> Outcome:
    """Run a use case in its project, and let the outcome say which project it is about."""
    return replace(use_case(context), project=context.project)


def _day(text: str | None) -> date:
    if text is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"`{text}` is not a date", hint="write `--today 2026-01-31`") from error
