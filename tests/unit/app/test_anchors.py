"""Where the paths of a report lie in a repository."""

from __future__ import annotations

from pathlib import Path

from keel.app.anchors import anchors_of, prefix_of
from keel.report.interface import Anchors
from keel.store.project import find_project


def test_the_prefix_counts_from_the_top_of_the_work_tree(tmp_path: Path) -> None:
    folder = tmp_path / "services" / "billing"
    folder.mkdir(parents=True)
    assert prefix_of(folder) == ""
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert prefix_of(folder) == "services/billing"
    assert prefix_of(tmp_path) == ""


def test_findings_stand_in_files_that_exist(tmp_path: Path) -> None:
    assert anchors_of(tmp_path, None) == Anchors("keel.lock")
    (tmp_path / "keel.yaml").write_text("version: 1\n")
    assert anchors_of(tmp_path, None) == Anchors("keel.yaml", "keel.yaml")
    (tmp_path / "keel.toml").write_text('lock = "locks/tools.lock"\n')
    project = find_project(tmp_path)
    assert anchors_of(tmp_path, project) == Anchors("keel.yaml", "keel.yaml", "keel.toml")
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "tools.lock").write_text('version = 1\n\n[tools]\n"s/t" = { effect = "read" }\n')
    assert anchors_of(tmp_path, project) == Anchors(
        "locks/tools.lock", "keel.yaml", "keel.toml", {"version": 1, "s/t": 4}
    )
