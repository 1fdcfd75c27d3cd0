"""Where the value of a secret comes from: environment, file, or a command that only the operator can name."""

from __future__ import annotations

import re
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from keel.core.model import SecretSource
from keel.errors import UsageError
from keel.manifest.words import REFERENT

SHORTEST_AT_RUN_TIME = 8
"""Shorter values, in characters, are refused as secrets at run time: innocent text holds them, guesses find them."""
COMMAND_S = 30.0
"""Longest that a command may take to give a secret, in seconds."""
FRESH_S = 60.0
"""How long the answer of a command is used before it is asked again, in seconds."""


@dataclass
class CommandSecret:
    """A command that prints the secret; run without a shell, in the operator's own environment.

    Args:
        name: name by which references call it.
        argv: the command.
        clock: seconds of a clock that never goes back.
    """

    name: str
    argv: tuple[str, ...]
    clock: Callable[[], float] = time.monotonic
    _value: str | None = field(default=None, repr=False)
    _until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def value(self) -> str | None:
        """Return what the command prints, without the last line end; None if it fails or prints nothing."""
        with self._lock:
            if self._value is None or self.clock() >= self._until:
                self._value = self._asked()
                self._until = self.clock() + FRESH_S
            return self._value

    def _asked(self) -> str | None:
        try:
            done = subprocess.run(  # noqa: S603 - the operator's own command line
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=COMMAND_S,
                check=True,
            )
            return done.stdout.decode("utf-8").rstrip("\r\n") or None
        except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
            return None


Source: TypeAlias = SecretSource | CommandSecret
"""Where a secret comes from: what a project may name, and what only an operator can."""


def read_secret(source: Source, root: Path, environ: Mapping[str, str]) -> str | None:
    """Return the value of a secret as it is now, or None if there is none.

    Args:
        source: where it comes from.
        root: folder from which relative paths count.
        environ: keel's environment.
    """
    if isinstance(source, CommandSecret):
        return source.value()
    if source.env:
        return environ.get(source.env) or None
    try:
        text = (root / source.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return text.rstrip("\r\n") or None


def given_secrets(sources: Iterable[str], commands: Iterable[str], folder: Path) -> tuple[Source, ...]:
    """Read the sources that an operator names.

    Args:
        sources: `NAME=env:VARIABLE` or `NAME=file:PATH`, each.
        commands: `NAME=COMMAND`, each; the command is split into words as a shell would, and run without one.
        folder: where relative paths count from.

    Raises:
        UsageError: if one cannot be read, or a name is given twice.
    """
    given: dict[str, Source] = {}
    pairs = [(text, _source(text, folder)) for text in sources] + [(text, _command(text)) for text in commands]
    for text, source in pairs:
        if source.name in given:
            raise UsageError(f"secret `{source.name}` is given twice", hint=f"keep one; the second is `{_head(text)}`")
        given[source.name] = source
    return tuple(given.values())


def _source(text: str, folder: Path) -> SecretSource:
    name, _, rest = text.partition("=")
    kind, _, place = rest.partition(":")
    if not re.fullmatch(REFERENT, name) or kind not in ("env", "file") or not place:
        # What stands after the name may be the secret itself, so it is not shown.
        raise UsageError(
            f"`--secret {_head(text)}` cannot be read", hint="write `NAME=env:VARIABLE` or `NAME=file:PATH`"
        )
    return SecretSource(name, env=place) if kind == "env" else SecretSource(name, file=str(folder / place))


def _command(text: str) -> CommandSecret:
    name, _, line = text.partition("=")
    try:
        argv = tuple(shlex.split(line))
    except ValueError:
        argv = ()
    if not re.fullmatch(REFERENT, name) or not argv:
        raise UsageError(f"`--secret-command {_head(text)}` cannot be read", hint="write `NAME=COMMAND WORD…`")
    return CommandSecret(name, argv)


def _head(text: str) -> str:
    name, equals, _ = text.partition("=")
    return f"{name}=…" if equals and re.fullmatch(REFERENT, name) else "…"


def overridden(sources: Iterable[SecretSource], given: Iterable[Source]) -> tuple[Source, ...]:
    """Return the project's sources with those of the operator in their place, sorted by name."""
    by_name = {source.name: source for source in (*sources, *given)}
    return tuple(by_name[name] for name in sorted(by_name))
