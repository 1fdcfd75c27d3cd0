"""Saving the lock: a kill at any point leaves a readable old or new lock."""

from __future__ import annotations

from pathlib import Path

import pytest

from keel.core.model import Contract, Policy, Surface
from keel.lockfile.model import Lock, LockIndex
from keel.lockfile.write import locked_server, locked_tool
from keel.store import files as store_files
from keel.store import locks
from keel.store.files import FileError, write_atomically
from keel.store.locks import LockFiles, differing, load, save


def build(*names: str, text: str = "x") -> Lock:
    surfaces = {
        name: Surface({}, ({"name": "t", "description": text, "inputSchema": {"type": "object"}},)) for name in names
    }
    launch = "k1:" + "0" * 64
    return Lock(
        LockIndex(
            tuple(locked_server(name, value, policy=Policy.PIN, launch=launch) for name, value in surfaces.items()),
            tuple(locked_tool(f"{name}/t", value.tools[0], Contract()) for name, value in surfaces.items()),
        ),
        surfaces,
    )


class Killed(BaseException):
    """Stands for the process being killed at this point."""


def test_every_interrupted_save_leaves_one_whole_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = build("a", "b", "c"), build("b", "c", "d", text="y")
    steps = 0

    def run(limit: int) -> bool:
        nonlocal steps
        place = LockFiles(tmp_path / str(limit), tmp_path / str(limit) / "keel.lock")
        place.root.mkdir()
        save(place, old)
        steps = 0

        def counted(path: Path, target: Path) -> Path:
            nonlocal steps
            if steps == limit:
                raise Killed
            steps += 1
            return Path.rename(path, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", counted)
            try:
                save(place, new)
                finished = True
            except Killed:
                finished = False
        assert load(place) in (old, new)
        save(place, new)
        assert load(place) == new
        left = {path.name for path in place.folder.iterdir()}
        assert left == {"b.json", "c.json", "d.json"}
        return finished

    limit = 0
    while not run(limit):
        limit += 1
    assert limit == 7  # three pending surfaces, the index, three moves


def test_nothing_is_written_twice(tmp_path: Path) -> None:
    place = LockFiles(tmp_path, tmp_path / "keel.lock")
    assert save(place, build("a"))
    assert not save(place, build("a"))
    assert differing(place, build("a")) == ()
    assert differing(place, build("a", text="z")) == ("keel.lock", "keel.lock.d/a.json")
    assert differing(place, build("b")) == ("keel.lock", "keel.lock.d/a.json", "keel.lock.d/b.json")


def test_a_missing_lock_is_none(tmp_path: Path) -> None:
    assert load(LockFiles(tmp_path, tmp_path / "keel.lock")) is None


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "f"
    write_atomically(target, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store_files.os, "fsync", full)
    with pytest.raises(FileError, match="no space left"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_permissions_and_links_survive(tmp_path: Path) -> None:
    target, link = tmp_path / "f", tmp_path / "l"
    write_atomically(target, b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert (target.read_bytes(), target.stat().st_mode & 0o777, link.is_symlink()) == (b"new", 0o640, True)


def test_lock_folder_follows_the_index(tmp_path: Path) -> None:
    place = LockFiles(tmp_path, tmp_path / "other.lock")
    assert locks.LockFiles.surface(place, "a") == tmp_path / "other.lock.d" / "a.json"
