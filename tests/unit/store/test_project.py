"""Finding projects on disk, and every error of their files at once."""

import json
from pathlib import Path

import pytest

from keel.core.finding import InputErrors
from keel.core.model import Transport
from keel.errors import UsageError
from keel.store.project import by_project, find_project, is_project, project_root, projects_below

GOOD = "version: 1\n"


@pytest.fixture
def repo(tmp_path):
    (tmp_path / ".git").mkdir()
    return tmp_path


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def errors(root, **options):
    with pytest.raises(InputErrors) as caught:
        find_project(root, **options)
    return [(item.code, item.location.file, item.location.line) for item in caught.value.findings]


def test_a_whole_project(repo):
    write(
        repo / "app",
        {
            "keel.toml": 'mcp-config = [".mcp.json"]\nlock = "locks/keel.lock"\n',
            "manifests/keel.yaml": GOOD + "servers:\n  gh: {}\n  frozen: {surface: a.json}\n",
            ".mcp.json": json.dumps({"mcpServers": {"gh": {"command": "npx -y gh"}, "other": {"command": "x"}}}),
            "deep/er/flow.py": "",
        },
    )
    for start in (repo / "app", repo / "app/deep/er", repo / "app/deep/er/flow.py"):
        project = find_project(start)
        assert project.root == (repo / "app").resolve()
        assert project.config.file == "keel.toml"
        assert project.manifest.file == "manifests/keel.yaml"
        assert [(server.name, server.transport) for server in project.servers] == [
            ("frozen", Transport.SURFACE),
            ("gh", Transport.STDIO),
        ]
        assert project.lock == (repo / "app/locks/keel.lock").resolve()
        assert [(item.code, item.location.file) for item in project.findings] == [
            ("command-with-spaces", ".mcp.json"),
            ("server-not-granted", ".mcp.json"),
        ]
        assert [client.file for client in project.clients] == [".mcp.json"]


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"keel.toml": ""}, True),
        ({"keel.yaml": GOOD}, True),
        ({"pyproject.toml": "[tool.keel]\n"}, True),
        ({"pyproject.toml": "[project]\nname = 'keel'\n"}, False),
        ({"pyproject.toml": "[tool.ruff]\n"}, False),
        ({"manifests/keel.yaml": GOOD}, False),
        ({}, False),
    ],
)
def test_what_makes_a_project(repo, files, found):
    write(repo, files)
    assert is_project(repo) is found
    assert (project_root(repo / "sub") is not None) is found


def test_the_nearest_ancestor_wins_and_the_git_root_is_the_last(repo):
    write(repo, {"keel.toml": "", "a/keel.yaml": GOOD, "a/b/x": "", "inner/.git/HEAD": "", "inner/c/x": ""})
    assert project_root(repo / "a/b") == (repo / "a").resolve()
    assert project_root(repo / "other") == repo.resolve()
    assert project_root(repo / "inner/c") is None
    with pytest.raises(UsageError, match="not in a keel project"):
        find_project(repo / "inner/c")


def test_a_worktree_marker_file_is_a_git_root_too(repo):
    write(repo, {"keel.toml": "", "tree/.git": "gitdir: elsewhere\n"})
    assert project_root(repo / "tree") is None


def test_nothing_is_read_from_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    write(tmp_path, {"keel.toml": "", "work/x": "", "work/p/keel.yaml": GOOD})
    assert project_root(tmp_path / "work") is None
    assert project_root(tmp_path / "work/p") == (tmp_path / "work/p").resolve()


def test_the_search_ends_at_the_root_of_the_file_system():
    assert project_root(Path(Path.cwd().anchor)) is None


def test_an_unknown_home_folder_is_no_failure(repo, monkeypatch):
    def unknown():
        raise RuntimeError

    monkeypatch.setattr(Path, "home", unknown)
    write(repo, {"keel.toml": ""})
    assert project_root(repo) == repo.resolve()


def test_two_configurations_are_an_error(repo):
    write(repo, {"keel.toml": "", "pyproject.toml": "[tool.keel]\n"})
    assert errors(repo) == [("config-error", "keel.toml", 1)]


def test_two_manifests_are_an_error_unless_one_is_named(repo):
    write(repo, {"keel.toml": "", "keel.yaml": GOOD, "manifests/keel.yaml": GOOD})
    assert errors(repo) == [("config-error", "keel.toml", 0)]
    assert find_project(repo, manifest=Path("keel.yaml")).manifest.file == "keel.yaml"
    write(repo, {"keel.toml": 'manifest = "manifests/keel.yaml"\n'})
    assert find_project(repo).manifest.file == "manifests/keel.yaml"


def test_every_error_of_every_file_comes_at_once(repo):
    write(
        repo,
        {
            "keel.toml": 'nope = 1\nmanifest = "m.yaml"\nmcp-config = ["a.json", "gone.json", "b.json"]\n',
            "m.yaml": "version: 1\ntools:\n  - {tool: a/b, effect: read}\n",
            "a.json": '{"mcpServers": {"x": {}}}',
            "b.json": "{",
        },
    )
    assert errors(repo) == [
        ("config-error", "a.json", 1),
        ("config-error", "b.json", 1),
        ("config-error", "keel.toml", 1),
        ("config-error", "keel.toml", 3),
        ("manifest-error", "m.yaml", 3),
    ]


def test_conflicts_between_client_files_are_input_errors(repo):
    write(
        repo,
        {
            "keel.toml": 'mcp-config = ["a.json", "b.json"]\n',
            "a.json": '{"mcpServers": {"x": {"command": "a"}}}',
            "b.json": '{"mcpServers": {"x": {"command": "b"}}}',
        },
    )
    assert errors(repo) == [("config-error", "b.json", 1)]


def test_an_import_that_nothing_answers_is_an_input_error(repo):
    write(repo, {"keel.yaml": GOOD + "servers: {x: {}}\n"})
    assert errors(repo) == [("manifest-error", "keel.yaml", 2)]


@pytest.mark.parametrize("name", ["keel.toml", "keel.yaml", "pyproject.toml"])
def test_files_that_are_not_utf8(repo, name):
    text = {
        "keel.toml": b"# a\n# \xff\n",
        "keel.yaml": b"version: 1\n# \xff\n",
        "pyproject.toml": b"[tool.keel]\n# \xff\n",
    }[name]
    write(repo, {name: text})
    assert [(file, line) for _, file, line in errors(repo)] == [(name, 2)]


def test_byte_order_marks_and_windows_line_ends(repo):
    write(repo, {"keel.toml": "\ufeffprofile = 'strict'\r\n", "keel.yaml": "\ufeffversion: 1\r\ntools: []\r\n"})
    project = find_project(repo)
    assert (project.config.profile, project.manifest.tools) == ("strict", ())


def test_without_a_manifest_nothing_is_constrained(repo):
    write(repo, {"pyproject.toml": "[tool.keel]\n"})
    project = find_project(repo)
    assert not project.manifest.exists
    assert project.config.file == "pyproject.toml"
    assert project.servers == ()


def test_options_override(repo):
    write(repo, {"app/keel.toml": 'manifest = "gone.yaml"\n', "other/m.yaml": GOOD})
    project = find_project(repo, project=Path("app"), manifest=Path("other/m.yaml"), lock=Path("x/keel.lock"))
    assert project.root == (repo / "app").resolve()
    assert project.manifest.file == "../other/m.yaml"
    assert project.lock == (repo / "x/keel.lock").resolve()
    with pytest.raises(UsageError, match="not a folder"):
        find_project(repo, project=Path("nowhere"))
    assert errors(repo, project=Path("app"), manifest=Path("gone.yaml")) == [("config-error", "", 0)]
    assert errors(repo, project=Path("app")) == [("config-error", "keel.toml", 1)]


def test_a_broken_pyproject_that_mentions_keel_is_reported(repo):
    write(repo, {"pyproject.toml": "[tool.keel]\nflows = [\n"})
    assert [code for code, _, _ in errors(repo)] == ["config-error"]


def test_projects_of_a_monorepo(repo):
    write(
        repo,
        {
            "a/keel.toml": "",
            "a/flows/x.py": "",
            "a/sub/keel.yaml": GOOD,
            "b/pyproject.toml": "[tool.keel]\n",
            "node_modules/c/keel.toml": "",
            ".venv/keel.toml": "",
            "plain/x.py": "",
        },
    )
    root = repo.resolve()
    assert projects_below(repo) == (root / "a", root / "a/sub", root / "b")
    assert by_project([repo / "a/flows/x.py", repo / "a", repo / "b"]) == {
        root / "a": (root / "a", root / "a/flows/x.py"),
        root / "b": (root / "b",),
    }
    assert list(by_project([repo])) == [root / "a", root / "a/sub", root / "b"]
    with pytest.raises(UsageError, match="does not exist"):
        by_project([repo / "gone"])
    with pytest.raises(UsageError, match="not in a keel project"):
        by_project([repo / "plain"])
    with pytest.raises(UsageError, match="not in a keel project"):
        by_project([repo / "plain/x.py"])


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that exists and cannot be read")
def test_a_file_that_cannot_be_read_is_an_error_beside_others(repo):
    write(repo, {"keel.toml": "nope = 1\n"})
    (repo / "keel.yaml").symlink_to("/proc/self/mem")
    assert errors(repo) == [("manifest-error", "keel.yaml", 0), ("config-error", "keel.toml", 1)][::-1]


def test_a_suppression_of_a_code_that_does_not_exist_is_an_error(tmp_path):
    entry = 'code = "{}"\nkey = "a/b"\nreason = "known"\nuntil = 2999-01-01\n'
    (tmp_path / "keel.toml").write_text("[[suppress]]\n" + entry.format("fre-path"))
    with pytest.raises(InputErrors) as raised:
        find_project(tmp_path)
    (found,) = raised.value.findings
    assert (found.code, found.location.line, found.next) == ("config-error", 1, "did you mean `free-path`?")
    (tmp_path / "keel.toml").write_text(
        "".join("[[suppress]]\n" + entry.format(code) for code in ("free-path", "unused-grant"))
    )
    assert [item.code for item in find_project(tmp_path).config.suppress] == ["free-path", "unused-grant"]
