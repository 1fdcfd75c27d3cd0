"""Standard output for data, standard error for talk; colour and progress only on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from keel.app.outcome import Outcome, exit_code
from keel.core.codes import CODES
from keel.core.finding import Finding, InputErrors, Location, Report, Threshold, finding
from keel.errors import ExitCode, KeelError, UsageError
from keel.report.interface import Presentation
from keel.report.registry import FORMATS
from keel.store.files import FileError, write_atomically

if TYPE_CHECKING:
    from rich.console import Console

Progress = Callable[[str, str], None]
"""Told the name of a server and what is happening to it."""


def talk(text: str) -> None:
    """Write one line to standard error."""
    sys.stderr.write(f"{text}\n")


def data(text: str) -> None:
    """Write text to standard output, unchanged."""
    sys.stdout.write(text)
    sys.stdout.flush()


def wants_colour(*, no_color: bool) -> bool:
    """Tell whether standard output may be coloured (https://no-color.org)."""
    return sys.stdout.isatty() and not no_color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def execute(
    command: str,
    work: Callable[[], Outcome],
    *,
    formats: Sequence[str] = ("text",),
    fail_on: Threshold = Threshold.ERROR,
    verbose: bool = False,
    no_color: bool = False,
    folder: Path | None = None,
) -> ExitCode:
    """Run one use case, print its report in every format asked for, and return the exit code.

    Broken input becomes a report too, so that a consumer of JSON always has one to read.

    Args:
        command: its name.
        work: the use case.
        formats: `F` or `F:FILE`, each.
        fail_on: from which severity on findings give exit code 1.
        verbose: whether infos are shown.
        no_color: whether colour is off.
        folder: the project's folder as the command line gives it, for the paths of broken input.
    """
    try:
        targets = [_target(item) for item in formats]
        outcome = work()
    except InputErrors as error:
        targets = _targets_or_text(formats)
        shown = Presentation(Report.of(error.findings), command, verbose=True)
        _deliver(_placed(shown, targets, folder), targets, no_color=no_color)
        return error.exit_code
    except KeelError as error:
        # ``UsageError`` and its kin carry one sentence and a hint, no place.
        shown = Presentation(Report.of([_as_finding(error)]), command, verbose=True)
        targets = _targets_or_text(formats)
        _deliver(_placed(shown, targets, folder), targets, no_color=no_color)
        return error.exit_code
    shown = Presentation(outcome.report, command, outcome.looked_at, outcome.lines, outcome.hints, verbose=verbose)
    if not _deliver(_placed(shown, targets, folder, outcome), targets, no_color=no_color):
        return ExitCode.USAGE
    return exit_code(outcome.report, fail_on)


def complain(command: str, error: KeelError) -> ExitCode:
    """Say on standard error why a command whose output is data gives none, and return the exit code."""
    found = error.findings if isinstance(error, InputErrors) else [_as_finding(error)]
    sys.stderr.write(FORMATS["text"](Presentation(Report.of(found), command, verbose=True)))
    return error.exit_code


def _deliver(shown: Presentation, targets: Sequence[tuple[str, Path | None]], *, no_color: bool) -> bool:
    """Show a report; False when one of its files could not be written, which is said and hides no other format."""
    whole = True
    for target in targets:
        try:
            _show(shown, [target], no_color=no_color)
        except FileError as error:
            talk(f"error: {error.message}")
            whole = False
    return whole


def _placed(
    shown: Presentation, targets: Sequence[tuple[str, Path | None]], folder: Path | None, outcome: Outcome | None = None
) -> Presentation:
    """Add where paths lie in the repository, which only formats for other programs need."""
    if all(name in ("json", "text") for name, _ in targets):
        return shown
    from keel.app.anchors import anchors_of, prefix_of  # noqa: PLC0415 - most runs need none of it
    from keel.store.project import project_root  # noqa: PLC0415

    project = outcome.project if outcome is not None else None
    root = project.root if project is not None else Path.cwd()
    if outcome is None:
        root = folder or project_root(root) or root
    return replace(shown, prefix=prefix_of(root), anchors=anchors_of(root, project))


def _as_finding(error: KeelError) -> Finding:
    known = error.code if error.code in CODES else "usage"
    return finding(known, error.message, next=error.hint, location=Location())


def _target(text: str) -> tuple[str, Path | None]:
    name, _, file = text.partition(":")
    if name not in FORMATS:
        raise UsageError(f"`{name}` is not a report format", hint=f"use one of {', '.join(FORMATS)}")
    return name, Path(file) if file else None


def _targets_or_text(formats: Sequence[str]) -> list[tuple[str, Path | None]]:
    known = [_target(item) for item in formats if item.partition(":")[0] in FORMATS]
    return known or [("text", None)]


def _show(shown: Presentation, targets: Sequence[tuple[str, Path | None]], *, no_color: bool) -> None:
    for name, file in targets:
        if file is not None:
            write_atomically(file, FORMATS[name](shown).encode())
        elif name == "text" and wants_colour(no_color=no_color):
            _show_in_colour(shown)
        else:
            data(FORMATS[name](shown))


def _show_in_colour(shown: Presentation) -> None:
    # Loaded only on a terminal: a hook or a CI job never pays for it.
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from keel.report.text import lines  # noqa: PLC0415

    console = Console(highlight=False, soft_wrap=True)
    for line in lines(shown):
        console.print(Text.assemble(*line))


@contextmanager
def progress(*, quiet: bool) -> Iterator[Progress | None]:
    """Give a progress reporter, a live line per server, where a person is looking; nothing otherwise."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415

    with _live(Console(stderr=True)) as report:
        yield report


@contextmanager
def _live(console: Console) -> Iterator[Progress]:
    from rich.progress import Progress as Bar  # noqa: PLC0415
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        SpinnerColumn(),
        TextColumn("{task.fields[server]}"),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        tasks: dict[str, object] = {}

        def report(name: str, what: str) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(what, server=name, total=None)
            else:
                bar.update(tasks[name], description=what)  # type: ignore[arg-type]

        yield report


def printed(text: Callable[[], str]) -> ExitCode:
    """Print what a use case returns; its errors go to standard error with the command to run next."""
    try:
        data(text())
    except InputErrors as error:
        shown = Presentation(Report.of(error.findings), "keel", verbose=True)
        sys.stderr.write(FORMATS["text"](shown))
        return error.exit_code
    except KeelError as error:
        talk(f"error: {error.message}")
        if error.hint:
            talk(f"hint: {error.hint}")
        return error.exit_code
    return ExitCode.OK
