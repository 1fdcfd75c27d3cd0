"""Atomic replacement of files: a reader sees the old bytes or the new ones, never a part."""

from __future__ import annotations

import errno
import os
import stat
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

    code = "file-error"


MAX_BYTES = 1 << 30
"""Larger files are refused; no file that keel reads comes near it."""


def exists(path: Path) -> bool:
    """Tell whether anything has that name, a dangling link or a folder included.

    What is there and cannot be read must not pass for what is not there.
    """
    return os.path.lexists(path)


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes.

    A pipe is read to its end, as in `keel lint <(curl …)`; one that nobody writes to is empty rather than a hang.

    Raises:
        FileError: if the file cannot be read, is a folder, or is larger than `MAX_BYTES`.
    """
    try:
        return _read(path)
    except OSError as error:
        raise FileError(f"`{path}` cannot be read: {_reason(error)}", hint=f"check what `{path}` is") from error


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(descriptor, "rb") as file:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        os.set_blocking(descriptor, True)
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {MAX_BYTES:,} bytes")
    return data


def list_folder(folder: Path) -> list[Path]:
    """Return what a folder holds, sorted.

    Raises:
        FileError: if it cannot be read.
    """
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise FileError(f"`{folder}` cannot be read: {_reason(error)}") from error


def make_folder(folder: Path) -> None:
    """Create a folder and what is missing above it.

    Raises:
        FileError: if it cannot be created, as where a file has its name.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"`{folder}` cannot be created: {_reason(error)}") from error


def write_atomically(path: Path, data: bytes) -> bool:
    """Replace a file in one step, durable before it returns; returns False when the bytes were already there.

    The file's permissions are kept; a symbolic link is written through, not replaced. A device or a pipe is written
    to and never replaced.

    Raises:
        FileError: if the folder is missing or not writable, or the disk is full; the old file is then untouched.
    """
    target = path.resolve() if path.is_symlink() else path
    try:
        if path.exists() and not path.is_file():
            return _write_through(path, data)
        if target.is_file() and target.stat().st_size == len(data) and target.read_bytes() == data:
            return False
        _replace(target, data)
    except OSError as error:
        raise FileError(f"`{path}` cannot be written: {_reason(error)}") from error
    return True


def write_new(path: Path, data: bytes, *, mode: int) -> None:
    """Create a file, durable before it returns, with its permissions from the first moment on.

    Args:
        path: where nothing is yet, not even a dangling link.
        data: its bytes.
        mode: its permissions, from which the umask takes away.

    Raises:
        FileError: if there is something already, or it cannot be written; then no file is left.
    """
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise
    except OSError as error:
        raise FileError(f"`{path}` cannot be written: {_reason(error)}") from error
    sync_folder(path.parent)


def _write_through(target: Path, data: bytes) -> bool:
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    with target.open("wb", buffering=0) as file:
        file.write(data)
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
