"""Python files on disk: what is listed, how they are decoded, what lies outside the project."""

import pytest

from keel.flow.read import read_flows
from keel.store import sources
from keel.store.sources import FileSources


def write(root, name, text="", encoding="utf-8"):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))


def test_environments_and_caches_are_no_sources(tmp_path):
    for name in (
        "a.py",
        "p/b.py",
        ".venv/c.py",
        "node_modules/d.py",
        "__pycache__/e.py",
        "mine/lib/f.py",
        "p/notes.txt",
    ):
        write(tmp_path, name)
    write(tmp_path, "mine/pyvenv.cfg")
    assert FileSources(tmp_path).files() == ("a.py", "p/b.py")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("# é\n", "utf-8"), ("# é\n", "utf-8-sig"), ("# -*- coding: latin-1 -*-\n# é\n", "latin-1")],
)
def test_files_are_decoded_as_python_would(tmp_path, text, encoding):
    write(tmp_path, "a.py", text, encoding)
    assert FileSources(tmp_path).read("a.py") == text


def test_a_file_that_cannot_be_decoded_is_a_finding(tmp_path):
    (tmp_path / "flow.py").write_bytes(b"x = '\xff'\n")
    program = read_flows(FileSources(tmp_path), flows=("flow.py",), source_roots=(".",))
    assert [item.code for item in program.findings] == ["syntax-error"]


def test_a_huge_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_BYTES", 10)
    write(tmp_path, "flow.py", "x = 1\n" * 10)
    program = read_flows(FileSources(tmp_path), flows=("flow.py",), source_roots=(".",))
    assert [item.code for item in program.findings] == ["syntax-error"]


def test_modules_of_the_repository_outside_the_project_are_known_not_followed(tmp_path):
    write(tmp_path, "shared/steps.py")
    write(tmp_path, "project/flow.py", "import steps\nfrom keel import flow\n")
    found = FileSources(tmp_path / "project", tmp_path)
    assert found.elsewhere("steps") == "shared/steps.py"
    assert found.elsewhere("flow") is None
    program = read_flows(found, flows=("flow.py",), source_roots=(".",))
    assert [item.code for item in program.findings] == ["unresolved-name"]
