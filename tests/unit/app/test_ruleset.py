"""The digest of the rules: equal for a copy elsewhere, another for any changed byte of what judges."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import keel
from keel.app.ruleset import JUDGES, rules_digest


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("elsewhere") / "keel"
    shutil.copytree(Path(keel.__file__).parent, root, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def test_it_depends_on_nothing_but_the_source(copy: Path) -> None:
    first = rules_digest(copy)
    (copy / "rules" / "__pycache__").mkdir()
    (copy / "rules" / "__pycache__" / "x.py").write_text("cached")
    (copy / "rules" / "notes.txt").write_text("no source")
    (copy / "cli" / "more.py").write_text("judges nothing")
    assert rules_digest(copy) == first
    assert first.startswith("sha256:")


@pytest.mark.parametrize("package", JUDGES)
def test_every_package_that_judges_counts(copy: Path, package: str) -> None:
    before = rules_digest(copy)
    changed = max((copy / package).rglob("*.py"))
    changed.write_text(changed.read_text() + "\n")
    after = rules_digest(copy)
    changed.rename(changed.with_name("renamed_" + changed.name))
    assert len({before, after, rules_digest(copy)}) == 3
