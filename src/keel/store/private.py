"""Files that only their owner may read: where state of the run time lies, and how it is created."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from keel.core.text import escape
from keel.runtime.ports import StoreUnavailable

FOLDER = ".keel"
"""Holds the state of a project that is not versioned."""
STORE = f"{FOLDER}/state.sqlite"
"""Where approvals and operations lie by default, below the project."""
AUDIT = f"{FOLDER}/audit.jsonl"
"""Where the audit log lies by default, below the project."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def prepare(path: Path) -> None:
    """Create the folder of a state file where it is missing, and keep keel's own one out of version control.

    Raises:
        StoreUnavailable: if it cannot be created.
    """
    folder = path.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.name == FOLDER:
            with suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
                file.write("*\n")
    except OSError as error:
        raise unavailable(path, error) from error


def create_private(path: Path) -> None:
    """Create an empty file that only its owner may read and write, unless there is one already.

    Raises:
        StoreUnavailable: if it cannot be created.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise unavailable(path, error) from error


def refuse_forgetful(path: Path) -> None:
    """Refuse the null device, a pipe and a socket: what is written there is gone.

    Raises:
        StoreUnavailable: if it is one of these.
    """
    try:
        mode = path.stat().st_mode
        forgets = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or path.samefile(os.devnull)
    except OSError as error:
        raise unavailable(path, error) from error
    if forgets:
        raise StoreUnavailable(f"`{escape(str(path))}` keeps nothing of what is written to it", hint="name a file")


def refuse_open_to_others(path: Path) -> None:
    """Refuse a file that others may read or write: it decides what is executed, and keel makes none like that.

    A checkout of a repository makes files that others may read, so that a store which was committed is found out.

    Raises:
        StoreUnavailable: if it is open to others, or is not a file.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise unavailable(path, error) from error
    if not stat.S_ISREG(found.st_mode):
        raise StoreUnavailable(f"`{escape(str(path))}` is not a file", hint="pass another `--store`")
    if sys.platform != "win32" and found.st_mode & _OTHERS:
        raise StoreUnavailable(
            f"`{escape(str(path))}` may be read or written by others (mode {stat.S_IMODE(found.st_mode):04o}), "
            "which no store of keel's is",
            hint=f"if you know where it comes from, run `chmod 600 {escape(str(path))}`",
        )


def unavailable(path: Path, error: OSError) -> StoreUnavailable:
    """Return the error for a state file that the system does not let us use."""
    reason = (error.strerror or str(error)).lower()
    return StoreUnavailable(
        f"`{escape(str(path))}` cannot be used: {reason}",
        hint="check the path, its permissions and the free disk space",
    )
