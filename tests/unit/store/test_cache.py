"""The memory of verified files: by content, the user's own, and never a reason to believe what was not verified."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.store.test_locks import build

from keel.core.finding import InputErrors
from keel.store import cache
from keel.store.cache import VerifiedFolder, verified_folder
from keel.store.locks import LockFiles, load, save


def place(root: Path, memory: VerifiedFolder | None) -> LockFiles:
    return LockFiles(root, root / "keel.lock", memory)


def test_a_lock_read_from_memory_is_the_lock(tmp_path: Path) -> None:
    memory = VerifiedFolder(tmp_path / "memory")
    lock = build("a", "b")
    save(place(tmp_path, None), lock)
    assert load(place(tmp_path, memory)) == lock
    assert len(list(memory.folder.iterdir())) == 2
    assert load(place(tmp_path, memory)) == lock == load(place(tmp_path, None))


@pytest.mark.parametrize("edited", ["keel.lock", "keel.lock.d/a.json"])
def test_any_edit_is_noticed_however_much_was_verified_before(tmp_path: Path, edited: str) -> None:
    memory = VerifiedFolder(tmp_path / "memory")
    save(place(tmp_path, None), build("a", text="first"))
    before = (tmp_path / edited).read_bytes()
    load(place(tmp_path, memory))
    save(place(tmp_path, None), build("a", text="second"))
    load(place(tmp_path, memory))
    (tmp_path / edited).write_bytes(before)
    with pytest.raises(InputErrors, match="definition"):
        load(place(tmp_path, memory))


def test_deleting_the_memory_costs_nothing_but_time(tmp_path: Path) -> None:
    memory = VerifiedFolder(tmp_path / "memory")
    save(place(tmp_path, None), build("a"))
    load(place(tmp_path, memory))
    for path in memory.folder.iterdir():
        path.unlink()
    memory.folder.rmdir()
    assert load(place(tmp_path, memory)) == build("a")


def test_entries_and_folders_that_others_may_write_do_not_count(tmp_path: Path) -> None:
    memory = VerifiedFolder(tmp_path / "memory")
    memory.add("k")
    assert memory.holds("k")
    (memory.folder / "k").chmod(0o666)
    assert not memory.holds("k")
    memory.folder.chmod(0o777)
    memory.add("other")
    assert not memory.holds("other")


def test_a_folder_that_cannot_be_made_remembers_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = VerifiedFolder(tmp_path / "file" / "memory")
    memory.add("k")
    assert not memory.holds("k")


def test_the_older_half_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_ENTRIES", 4)
    memory = VerifiedFolder(tmp_path / "memory")
    for number in range(5):
        memory.add(str(number))
        os.utime(memory.folder / str(number), (number, number)) if memory.holds(str(number)) else None
    assert len(list(memory.folder.iterdir())) == 3


@pytest.mark.parametrize("name", ["HOME", "XDG_CACHE_HOME"])
def test_no_variable_moves_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    usual = verified_folder()
    monkeypatch.setenv(name, str(tmp_path))
    assert verified_folder() == usual


def test_a_home_under_version_control_or_open_to_others_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pwd

    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    entry = pwd.struct_passwd(("me", "x", os.geteuid(), 0, "", str(home), "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: entry)
    assert verified_folder() == VerifiedFolder(home / ".cache" / "keel" / "verified")
    home.chmod(0o777)
    assert verified_folder() is None
    home.chmod(0o755)
    (home / ".git").mkdir()
    assert verified_folder() is None
