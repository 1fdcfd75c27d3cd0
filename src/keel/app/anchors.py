"""Where the paths of a report lie in the repository, and where findings without a file of their own stand."""

from __future__ import annotations

import os
from pathlib import Path

from keel.lockfile.lines import line_numbers
from keel.report.interface import Anchors
from keel.store.files import FileError, read_bytes
from keel.store.project import CONFIG, MANIFESTS, PYPROJECT, Project

_LOCK = "keel.lock"


def prefix_of(folder: Path) -> str:
    """Return a folder relative to the top of its git work tree, with forward slashes; empty outside of one.

    The work tree is found by its `.git`, a folder or, in worktrees and submodules, a file; git itself is not run.
    """
    folder = folder.resolve()
    top = next((at for at in (folder, *folder.parents) if (at / ".git").exists()), folder)
    shown = folder.relative_to(top).as_posix()
    return "" if shown == "." else shown


def anchors_of(root: Path, project: Project | None) -> Anchors:
    """Return the files of a project, those it names or, before it could be read, those that exist."""
    if project is None:
        manifest = next((name for name in MANIFESTS if (root / name).is_file()), "")
        config = next((name for name in (CONFIG, PYPROJECT) if (root / name).is_file()), "")
        lock = _LOCK if (root / _LOCK).is_file() else ""
        return Anchors(lock or manifest or config or _LOCK, manifest, config)
    lock = Path(os.path.relpath(project.lock, root)).as_posix()
    manifest, config = project.manifest.file, project.config.file
    if not project.lock.is_file():
        return Anchors(manifest or config or lock, manifest, config)
    return Anchors(lock, manifest, config, _lines(project.lock))


def _lines(lock: Path) -> dict[str, int]:
    try:
        return line_numbers(read_bytes(lock).decode("utf-8", "replace"))
    except FileError:
        return {}
