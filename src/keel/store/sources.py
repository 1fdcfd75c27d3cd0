"""The Python files of a project on disk, for the static reader."""

from __future__ import annotations

import io
import os
import tokenize
from pathlib import Path

from keel.errors import LimitExceeded
from keel.flow.modules import by_tail

SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "env", ".env", "node_modules", "__pycache__", ".tox", ".nox",
     ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "site-packages", ".eggs", ".idea", ".vscode",
     ".cache", ".direnv"}
)  # fmt: skip
"""Folders that hold no source of the project."""
MAX_FILES = 20_000
MAX_BYTES = 4 * 1024 * 1024
"""A larger Python file is refused, not read."""


class FileSources:
    """Reads a project's Python files; links to folders are not followed.

    Args:
        project: the project's folder.
        repository: the folder of the repository that holds the project; modules found there but outside the project
            are reported, not followed. Default the project itself.
    """

    def __init__(self, project: Path, repository: Path | None = None) -> None:
        self._project = project
        self._repository = repository if repository is not None and repository != project else None
        self._files: tuple[str, ...] | None = None
        self._outside: dict[str, str] | None = None

    def files(self) -> tuple[str, ...]:
        """Return every `.py` file, relative to the project with forward slashes, sorted.

        Raises:
            LimitExceeded: if there are more than `MAX_FILES`.
        """
        if self._files is None:
            self._files = tuple(sorted(_python_files(self._project)))
        return self._files

    def read(self, file: str) -> str:
        """Return a file's text, decoded as Python would: a byte order mark or a coding line (PEP 263), else UTF-8.

        Raises:
            SyntaxError: if the coding line names no known encoding.
            UnicodeError: if the text does not fit its encoding.
            OSError: if it cannot be read, or is larger than `MAX_BYTES`.
        """
        path = self._project / file
        if path.stat().st_size > MAX_BYTES:
            raise OSError(None, f"larger than {MAX_BYTES:,} bytes")
        data = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
        return text.removeprefix("\ufeff")

    def elsewhere(self, module: str) -> str | None:
        """Return a file of the repository, outside the project, that a module name would mean."""
        if self._repository is None:
            return None
        if self._outside is None:
            self._outside = _by_module(self._repository, self._project)
        return self._outside.get(module)


def _python_files(root: Path) -> list[str]:
    found: list[str] = []
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not _skipped(folder, name))
        base = Path(folder).relative_to(root).as_posix()
        prefix = "" if base == "." else f"{base}/"
        found.extend(f"{prefix}{name}" for name in files if name.endswith(".py"))
        if len(found) > MAX_FILES:
            raise LimitExceeded(
                f"the project holds more than {MAX_FILES:,} Python files",
                hint="run keel in the folder that holds the flows, or move generated code out of it",
            )
    return found


def _skipped(folder: str, name: str) -> bool:
    """Tell whether a folder holds no source: by name, or a virtual environment under any name."""
    return name in SKIPPED or (Path(folder) / name / "pyvenv.cfg").is_file()


def _by_module(repository: Path, project: Path) -> dict[str, str]:
    """Return every module name that some folder of the repository, outside the project, gives, and its file."""
    inside = project.relative_to(repository).as_posix() if project.is_relative_to(repository) else None
    files = tuple(sorted(_python_files(repository)))
    outside = tuple(file for file in files if inside in (None, ".") or not file.startswith(f"{inside}/"))
    return by_tail(outside)
