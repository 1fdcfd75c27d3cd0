"""Atomic replacement of files: a reader sees the old bytes or the new ones, never a part."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from keel.errors import KeelError

PENDING = ".new"
"""Suffix of a file that is complete but not yet in place."""


class FileError(KeelError):
    """A file that cannot be read or written; the message names the file and the reason."""

    code = "input-error"


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes.

    Raises:
        FileError: if the file cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(
            f"`{path.name}` cannot be read: {_reason(error)}", hint=f"check that `{path}` exists"
        ) from error


def write_atomically(path: Path, data: bytes) -> bool:
    """Replace a file in one step, durable before it returns; returns False when the bytes were already there.

    The file's permissions are kept; a symbolic link is written through, not replaced.

    Raises:
        FileError: if the folder is missing or not writable, or the disk is full; the old file is then untouched.
    """
    target = path.resolve() if path.is_symlink() else path
    with suppress(OSError):
        if target.read_bytes() == data:
            return False
    try:
        _replace(target, data)
    except OSError as error:
        raise FileError(f"`{path.name}` cannot be written: {_reason(error)}") from error
    return True


def _replace(target: Path, data: bytes) -> None:

    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    sync_folder(target.parent)


@contextmanager
def exclusive(folder: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold a folder alone among keel processes; the system lets go of it when the process ends, however it ends.

    The folder itself is locked, so that no file is left behind. Where the system cannot, nothing is held.

    Args:
        folder: what to hold; it must exist.
        waiting: called once when another process holds it.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl  # noqa: PLC0415 - not on every system

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
