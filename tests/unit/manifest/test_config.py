"""The project configuration: all keys, and every error at once with its place."""

from datetime import date

import pytest

from keel.core.finding import InputErrors
from keel.manifest.config import (
    TOOL_TABLE,
    ConfigErrors,
    FreezeTiming,
    Profile,
    ProjectConfig,
    SecretSource,
    Suppression,
    holds_config,
    parse_config,
)

WHOLE = """\
flows = ["flows.py", "flows/**/*.py", "pkg.flows"]
source-roots = ["src"]
manifest = "manifests/keel.yaml"
lock = "locks/keel.lock"
python = "/usr/bin/python3"
mcp-config = [".mcp.json", ".vscode/mcp.json"]
targets = ["openai"]
freeze-timing = "per_run"
profile = "strict"

[secrets]
search_key = "SEARCH_KEY"
other = { file = "/run/secrets/other" }

[[suppress]]
code = "tool-added"
key = "search/query"
reason = "reviewed"
until = 2027-01-31

[[suppress]]
code = "text-changed"
key = "search/query"
digest = "k1:0123456789abcdef"
reason = "reviewed"
until = "2027-01-31"
"""


def errors(text, file="keel.toml", table=()):
    with pytest.raises(ConfigErrors) as caught:
        parse_config(text, file, table=table)
    assert all(
        item.code == "config-error" and item.location.file == file and item.next for item in caught.value.findings
    )
    return caught.value.findings


def test_all_keys():
    config = parse_config(WHOLE, "keel.toml")
    assert config.flows == ("flows.py", "flows/**/*.py", "pkg.flows")
    assert (config.source_roots, config.manifest, config.lock) == (("src",), "manifests/keel.yaml", "locks/keel.lock")
    assert (config.python, config.mcp_config, config.targets) == (
        "/usr/bin/python3",
        (".mcp.json", ".vscode/mcp.json"),
        ("openai",),
    )
    assert (config.freeze_timing, config.profile) == (FreezeTiming.PER_RUN, Profile.STRICT)
    assert config.secrets == (
        SecretSource("other", file="/run/secrets/other"),
        SecretSource("search_key", env="SEARCH_KEY"),
    )
    assert config.suppress == (
        Suppression("tool-added", "search/query", "reviewed", date(2027, 1, 31), None, 15, 1),
        Suppression("text-changed", "search/query", "reviewed", date(2027, 1, 31), "k1:0123456789abcdef", 21, 1),
    )
    assert (config.line_of("mcp-config"), config.line_of("mcp-config", 1), config.line_of("gone")) == (6, 6, 0)


def test_defaults_and_absent_flows_differ_from_none():
    assert parse_config("", "keel.toml").flows is None
    assert parse_config("flows = []", "keel.toml").flows == ()
    assert parse_config("", "keel.toml").lock == "keel.lock"
    assert parse_config("[project]\nname = 'x'", "pyproject.toml", table=TOOL_TABLE).source_roots == (".", "src")


def test_the_table_in_pyproject_gives_the_same_values():
    plain = parse_config(WHOLE, "keel.toml")
    nested = "[tool.keel]\n" + WHOLE.replace("[secrets]", "[tool.keel.secrets]").replace(
        "[[suppress]]", "[[tool.keel.suppress]]"
    )
    config = parse_config(nested, "pyproject.toml", table=TOOL_TABLE)
    assert (config.flows, config.secrets, config.lock) == (plain.flows, plain.secrets, plain.lock)
    assert [entry.line for entry in config.suppress] == [16, 22]
    assert config.line_of("mcp-config", 1) == 7


def test_all_errors_come_at_once_with_their_places():
    found = errors(
        """\
flows = "flow.py"
source_roots = []
profile = "strit"
secrets = {a = "A B", c = {}}
[[suppress]]
code = "X"
until = 2026-01-01T00:00:00
"""
    )
    assert [(item.location.line, item.location.pointer) for item in found] == [
        (1, "/flows"),
        (2, "/source_roots"),
        (3, "/profile"),
        (4, "/secrets/a/env"),
        (4, "/secrets/c"),
        (5, "/suppress/0"),
        (5, "/suppress/0"),
        (6, "/suppress/0/code"),
        (7, "/suppress/0/until"),
    ]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ('flows = "a b"', "`flows` must be a list, not the text `a b`", 'write `["a", "b"]`'),
        ('lok = "x"', "`lok` is not a key of the document", "did you mean `lock`?"),
        (
            'profile = "strit"',
            "`profile` must be `default` or `strict`, not the text `strit`",
            "did you mean `strict`?",
        ),
        (
            'lock = "/abs"',
            "`lock`: `/abs` is not a relative path",
            "write a path relative to the project, with `/` between its parts",
        ),
        ("source-roots = []", "`source-roots` is empty", "name at least one, or remove the key"),
        ('mcp-config = ["~/x.json"]', "`~/x.json` is not a relative path", None),
        ('secrets = {a = {env = "A", file = "b"}}', "secret `a` needs exactly one of `env` and `file`", "keep one"),
        ("[[suppress]]\ncode = 'a'\nkey = 'b'\nuntil = 2027-01-01", "`reason` is missing", "add `reason`"),
        ("[[suppress]]\ncode = 'a'\nkey = 'b'\nuntil = 2027-01-01\nreason = ' '", "`reason`: the text is blank", None),
        (
            "[[suppress]]\ncode = 'a'\nkey = 'b'\nreason = 'c'\nuntil = 'soon'",
            "`until`: `soon` is not a date",
            "write `YYYY-MM-DD`",
        ),
        ("[[suppress]]\nrule = 'a'", "`rule` is not a key of a suppression", "did you mean `code`?"),
        ("[suppress]\ncode = 'a'", "`suppress` must be a list, not a mapping", None),
        ("[tool.keel]\nflows = []", "the settings of `keel.toml` stand in no table", None),
        ("a = ", "not TOML: Invalid value", None),
        ("suppress = [1]", "entry 1 of `suppress` must be a mapping, not `1`", None),
    ],
)
def test_each_error(text, message, hint):
    found = [item for item in errors(text) if item.message == message]
    assert found, [item.message for item in errors(text)]
    assert hint is None or found[0].next == hint


def test_a_repeated_suppression():
    one = "[[suppress]]\ncode = 'a'\nkey = 'b'\nreason = 'c'\nuntil = 2027-01-01\n"
    assert [(item.location.line, item.message) for item in errors(one + one)] == [
        (6, "the suppression repeats the one in line 1")
    ]


def test_pointers_of_pyproject_are_those_of_the_file():
    (item,) = errors("[tool.keel]\nlok = 1\n", "pyproject.toml", TOOL_TABLE)
    assert (item.location.line, item.location.pointer) == (2, "/tool/keel/lok")
    (item,) = errors("[tool]\nkeel = 3\n", "pyproject.toml", TOOL_TABLE)
    assert item.message == "the document must be a mapping, not `3`"


def test_what_is_right_survives_beside_errors():
    with pytest.raises(ConfigErrors) as caught:
        parse_config('manifest = "m.yaml"\nmcp-config = ["a.json"]\nprofile = 1\nnope = 2\n', "keel.toml")
    assert (caught.value.partial.manifest, caught.value.partial.mcp_config) == ("m.yaml", ("a.json",))
    with pytest.raises(InputErrors) as broken:
        parse_config("manifest = ", "keel.toml")
    assert broken.value.partial == ProjectConfig(file="keel.toml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("[tool.keel]", True),
        ("[tool]\nkeel.lock = 'x'", True),
        ("[project]\ndependencies = ['keel-toolchain']", False),
        ("keel = [", True),
        ("tool = 'keel'", False),
    ],
)
def test_which_pyproject_holds_a_configuration(text, expected):
    assert holds_config(text) is expected
