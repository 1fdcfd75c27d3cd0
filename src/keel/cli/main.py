"""The Typer application: every command by name, and the last line of defence against tracebacks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated

import typer

from keel.cli.console import data, talk
from keel.errors import ExitCode
from keel.version import __version__

COMMANDS = (
    "init",
    "freeze",
    "check",
    "drift",
    "diff",
    "bundle",
    "keygen",
    "sign",
    "verify",
    "approve",
    "deny",
    "audit",
    "show",
    "graph",
    "capture",
    "lint",
    "relate",
    "run",
    "call",
    "serve",
    "explain",
    "schema",
)
"""Every command, in the order of `--help`; each is the function `command` of the module of that name, or its `group`
of commands."""

_INTERRUPTED = 130

_EPILOG = (
    "Exit codes: 0 clean, 1 findings at or above --fail-on, 2 usage or a broken input file, 3 could not complete. "
    "A first run: keel init, keel freeze, keel check."
)


def _end(code: int | None, **_: object) -> None:
    raise typer.Exit(code or ExitCode.OK)


def _version(wanted: bool) -> None:
    if wanted:
        data(f"keel {__version__}\n")
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Freeze, check and watch the tools that AI agents call."""


def build(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the application with some of its commands; building one costs more than many a run of it."""
    app = typer.Typer(
        name="keel",
        help="The lockfile, linter and deploy gate for the tools that AI agents call.",
        epilog=_EPILOG,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        result_callback=_end,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_main)
    for name in names:
        module = import_module(f"keel.cli.{name}")
        if hasattr(module, "group"):
            app.add_typer(module.group, name=name)
        else:
            app.command(name)(module.command)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; no fault of the input leaves a traceback."""
    _have_streams()
    named = arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS
    try:
        build(named)(args=list(arguments), prog_name="keel")
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            talk("interrupted")
        return end.code if isinstance(end.code, int) else ExitCode.OK
    except KeyboardInterrupt:
        talk("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of standard output is gone, as in `keel explain | head`.
        _to_nowhere()
        return ExitCode.OK
    except OSError as error:
        talk(f"error: standard output cannot be written: {(error.strerror or str(error)).lower()}")
        _to_nowhere()
        return ExitCode.INCOMPLETE
    return ExitCode.OK


def _have_streams() -> None:
    """Give the run streams where its parent closed them."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _to_nowhere() -> None:
    """Send what is still buffered nowhere, so that the interpreter's last flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
