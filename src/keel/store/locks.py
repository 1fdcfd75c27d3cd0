"""Loading and saving the lock on disk, so that a kill at any point leaves a readable old or new one.

Order of a save: every changed surface is written beside its file as `<file>.new`; then the index is replaced in one
step, which is the moment the new lock exists; then the pending files move into place. A reader takes whichever of
`<file>` and `<file>.new` matches the index.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keel.core.finding import InputErrors, Location, finding
from keel.lockfile.model import Lock
from keel.lockfile.read import Verified, read_lock
from keel.lockfile.write import index_text, surface_text
from keel.store.files import PENDING, exists, make_folder, read_bytes, sync_folder, write_atomically


@dataclass(frozen=True, slots=True)
class LockFiles:
    """Where a project's lock lives."""

    root: Path
    """The project; messages show paths relative to it."""
    index: Path
    verified: Verified | None = None
    """Remembers what was verified before; None verifies every time."""

    @property
    def folder(self) -> Path:
        """The folder of surface files, `keel.lock.d`."""
        return self.index.with_name(f"{self.index.name}.d")

    def shown(self, path: Path) -> str:
        """Return a path as messages show it."""
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return path.name

    def surface(self, name: str) -> Path:
        """Return the surface file of one server."""
        return self.folder / f"{name}.json"

    def candidates(self, name: str) -> Iterator[tuple[str, bytes]]:
        """Yield (shown path, bytes) of the surface file and of its pending successor, where they exist."""
        path = self.surface(name)
        for file in (path, path.with_name(path.name + PENDING)):
            if exists(file):
                yield self.shown(file), read_bytes(file)


def read_index_file(files: LockFiles) -> str | None:
    """Return the text of the index, or None when there is no lock.

    Raises:
        InputErrors: if the file is not UTF-8.
        FileError: if it exists and cannot be read.
    """
    if not exists(files.index):
        return None
    shown = files.shown(files.index)
    try:
        return read_bytes(files.index).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        message = f"`{shown}` is not UTF-8 text (byte {error.start})"
        raise InputErrors([finding("lock-error", message, location=Location(file=shown))]) from error


def load(files: LockFiles) -> Lock | None:
    """Read and verify the lock; None when there is none.

    Raises:
        InputErrors: everything that is wrong with it.
        FileError: if a file exists and cannot be read.
    """
    text = read_index_file(files)
    return None if text is None else read_lock(text, files.shown(files.index), files.candidates, files.verified)


def expected(files: LockFiles, lock: Lock) -> dict[Path, bytes]:
    """Return the exact bytes of every file of a lock, the index included."""
    contents = {files.surface(name): surface_text(surface).encode() for name, surface in lock.surfaces.items()}
    contents[files.index] = index_text(lock.index).encode()
    return contents


def differing(files: LockFiles, lock: Lock) -> tuple[str, ...]:
    """Return the shown paths that a save would create, change or remove; line ends do not count."""
    contents = expected(files, lock)
    changed = [path for path, data in contents.items() if not _same(path, data)]
    return tuple(sorted(files.shown(path) for path in (*changed, *_leftovers(files, lock))))


def save(files: LockFiles, lock: Lock) -> bool:
    """Write a lock; returns whether any byte changed.

    Raises:
        FileError: if something cannot be written; the old lock is then still readable.
    """
    contents = expected(files, lock)
    index = contents.pop(files.index)
    make_folder(files.folder)
    pending = [path for path, data in sorted(contents.items()) if _write_pending(path, data)]
    changed = write_atomically(files.index, index)
    for path in pending:
        path.with_name(path.name + PENDING).replace(path)
    leftovers = _leftovers(files, lock)
    for path in leftovers:
        path.unlink(missing_ok=True)
    sync_folder(files.folder)
    return changed or bool(pending) or bool(leftovers)


def _write_pending(path: Path, data: bytes) -> bool:
    if _same(path, data, exactly=True):
        return False
    write_atomically(path.with_name(path.name + PENDING), data)
    return True


def _same(path: Path, data: bytes, *, exactly: bool = False) -> bool:
    try:
        held = path.read_bytes()
    except OSError:
        return False
    return held == data or (not exactly and held.replace(b"\r\n", b"\n") == data)


def _leftovers(files: LockFiles, lock: Lock) -> list[Path]:
    """Files in the lock folder that no server of the lock owns: dropped servers and aborted writes."""
    if not files.folder.is_dir():
        return []
    kept = {files.surface(name) for name in lock.surfaces}
    aborted = files.index.parent.glob(f".{files.index.name}.*.tmp")
    return sorted(
        path
        for path in (*files.folder.iterdir(), *aborted)
        if path.is_file() and path not in kept and path.suffix in (".json", PENDING, ".tmp")
    )
