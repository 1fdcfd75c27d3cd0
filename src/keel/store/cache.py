"""What was verified before, remembered by content in the user's own cache folder, where no pull request can reach."""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MAX_ENTRIES = 4000
"""Beyond these the older half is forgotten."""


@dataclass(frozen=True, slots=True)
class VerifiedFolder:
    """Remembers keys as empty files; deleting any of them, or the folder, only costs time."""

    folder: Path

    def holds(self, key: str) -> bool:
        """Tell whether a key was added, by this user on this machine."""
        try:
            found = (self.folder / key).lstat()
        except OSError:
            return False
        return _is_own(found)

    def add(self, key: str) -> None:
        """Remember a key; a folder that cannot be written to remembers nothing."""
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_own(self.folder.lstat()):
                return
            os.close(os.open(self.folder / key, os.O_CREAT | os.O_WRONLY, 0o600))
            self._forget()

    def read(self, key: str) -> bytes | None:
        """Return what was kept under a key by this user, or None."""
        path = self.folder / key
        try:
            return path.read_bytes() if _is_own(path.lstat()) else None
        except OSError:
            return None

    def keep(self, key: str, data: bytes) -> None:
        """Keep bytes under a key; what cannot be written is not kept."""
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_own(self.folder.lstat()):
                return
            pending = self.folder / f".{key}.{os.getpid()}"
            descriptor = os.open(pending, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            pending.replace(self.folder / key)
            self._forget()

    def _forget(self) -> None:
        names = list(os.scandir(self.folder))
        if len(names) > MAX_ENTRIES:
            for entry in sorted(names, key=lambda item: item.stat().st_mtime)[: MAX_ENTRIES // 2]:
                Path(entry.path).unlink(missing_ok=True)


@cache
def source_stamp(package: str) -> str:
    """Return a digest of the names, sizes and times of a package's files, which changes whenever its code may have."""
    marks = []
    pending = [package]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir() and entry.name != "__pycache__":
                    pending.append(entry.path)
                elif entry.name.endswith(".py"):
                    found = entry.stat()
                    marks.append(f"{entry.path} {found.st_size} {found.st_mtime_ns}")
    return hashlib.sha256("\n".join(sorted(marks)).encode()).hexdigest()


def verified_folder() -> VerifiedFolder | None:
    """Return the user's memory of verified files, or None where there is no folder that only the user can write to.

    The home is the one that the system has on record: `HOME` or `XDG_CACHE_HOME` may be set by what is checked. A
    home that is itself a git work tree is not used, because a change to it could bring the entries along.
    """
    if sys.platform == "win32":
        return None
    import pwd  # noqa: PLC0415 - not on every system

    try:
        home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
        owned = home.is_absolute() and _is_own(home.stat())
    except (KeyError, OSError):
        return None
    folder = home / ".cache" / "keel" / "verified"
    if not owned or any((at / ".git").exists() for at in folder.parents):
        return None
    if any(at.exists() and not _is_own(at.stat()) for at in (folder, folder.parent, folder.parent.parent)):
        return None
    return VerifiedFolder(folder)


def _is_own(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022
