"""The servers of a project: allow-list, imports, conflicts between client configurations."""

import json

import pytest

from keel.core.model import Manifest, Policy, Transport
from keel.manifest.clients import parse_client
from keel.manifest.parse import parse_manifest
from keel.manifest.servers import effective_servers

NPX = {"command": "npx", "args": ["gh"], "env": {"A": "1", "B": "2"}}


def client(file, **entries):
    return parse_client(json.dumps({"mcpServers": entries}), file)


def manifest(servers, rest=""):
    return parse_manifest(f"version: 1\n{rest}\nservers: {json.dumps(servers)}\n", "keel.yaml")


def codes(found):
    return [(item.code, item.severity, item.location.file, item.location.key) for item in found]


def test_without_a_servers_section_every_client_server_counts_with_the_defaults():
    granted = parse_manifest("version: 1\ndefaults: {policy: names, timeout_s: 5, primitives: [prompts]}", "keel.yaml")
    servers, found = effective_servers(granted, [client(".mcp.json", b=NPX, a={"url": "https://x", "type": "sse"})])
    assert [(server.name, server.transport) for server in servers] == [("a", Transport.SSE), ("b", Transport.STDIO)]
    assert {(server.policy, server.timeout_s, server.primitives) for server in servers} == {
        (Policy.NAMES, 5, ("prompts",))
    }
    assert found == ()


def test_without_anything_there_is_nothing():
    assert effective_servers(Manifest()) == ((), ())


def test_an_empty_section_allows_none():
    servers, found = effective_servers(manifest({}), [client(".mcp.json", a=NPX)])
    assert servers == ()
    assert codes(found) == [("server-not-granted", "error", ".mcp.json", "a")]


def test_imports_take_the_launch_and_what_the_entry_says_wins():
    granted = manifest(
        {
            "gh": {
                "import": "microsoft/gh",
                "env": {"B": "3", "C": "4"},
                "policy": "off",
                "pass_env": ["P"],
                "cwd": "sub",
            },
            "own": {},
        }
    )
    servers, found = effective_servers(
        granted, [client(".mcp.json", **{"microsoft/gh": NPX, "own": {"url": "https://x"}})]
    )
    gh, own = servers
    assert (gh.name, gh.transport, gh.command) == ("gh", Transport.STDIO, ("npx", "gh"))
    assert gh.env == (("A", "1"), ("B", "3"), ("C", "4"))
    assert (gh.policy, gh.pass_env, gh.cwd, gh.file) == (Policy.OFF, ("P",), "sub", "keel.yaml")
    assert (own.transport, own.url) == (Transport.HTTP, "https://x")
    assert found == ()


def test_an_import_that_nothing_answers():
    servers, found = effective_servers(
        manifest({"github": {}, "x": {"command": ["x"]}}), [client(".mcp.json", githab=NPX)]
    )
    assert [server.name for server in servers] == ["x"]
    assert codes(found) == [
        ("manifest-error", "error", "keel.yaml", "github"),
        ("server-not-granted", "error", ".mcp.json", "githab"),
    ]
    assert found[0].next == "did you mean `githab`?"
    (_, (alone,)) = effective_servers(manifest({"github": {}}))
    assert "mcp-config" in alone.next


def test_equal_launches_in_two_files_are_one_server():
    servers, found = effective_servers(Manifest(), [client("a.json", gh=NPX), client("b.json", gh=NPX)])
    assert [server.file for server in servers] == ["a.json"]
    assert found == ()


@pytest.mark.parametrize(
    "other",
    [
        {"command": "npx", "args": ["gh"]},
        {"url": "https://x"},
        {**NPX, "cwd": "sub"},
        {**NPX, "env": {"A": "1", "B": "secret-2"}},
    ],
)
def test_different_launches_are_an_error_that_names_both(other):
    servers, found = effective_servers(Manifest(), [client("a.json", gh=NPX), client("b.json", gh=other)])
    assert servers == ()
    assert codes(found) == [("config-error", "error", "b.json", "gh")]
    assert "`a.json` line 1 and `b.json` line 1" in found[0].message
    imported, found = effective_servers(manifest({"gh": {}}), [client("a.json", gh=NPX), client("b.json", gh=other)])
    assert (imported, codes(found)) == ((), [("config-error", "error", "b.json", "gh")])


def test_a_conflict_that_the_manifest_settles_is_none():
    servers, found = effective_servers(
        manifest({"gh": {"command": ["x"]}}), [client("a.json", gh=NPX), client("b.json", gh={"url": "https://x"})]
    )
    assert ([server.command for server in servers], found) == ([("x",)], ())


def test_c022_one_name_in_two_sections_with_different_bodies():
    config = parse_client('{"mcpServers": {"a": {"command": "x"}}, "servers": {"a": {"command": "y"}}}', ".mcp.json")
    _, found = effective_servers(Manifest(), [config])
    assert [item.code for item in found] == ["split-client-config", "config-error"]


def test_names_that_keel_cannot_use_are_errors_unless_imported_under_another():
    configs = [client(".mcp.json", **{"Sales Force": NPX, "a": NPX, "A": NPX})]
    servers, found = effective_servers(Manifest(), configs)
    assert codes(found) == [
        ("config-error", "error", ".mcp.json", "Sales Force"),
        ("config-error", "error", ".mcp.json", "a"),
    ]
    assert '`servers: {Sales-Force: {import: "Sales Force"}}`' in found[0].next
    assert [server.name for server in servers] == ["A"]
    _, found = effective_servers(manifest({"sales": {"import": "Sales Force"}, "a": {}, "b": {"import": "A"}}), configs)
    assert found == ()


def test_literal_secrets_are_told_for_servers_that_count():
    secret = {"command": "x", "env": {"API_KEY": "hunter2hunter2"}}
    _, found = effective_servers(
        manifest({"a": {}, "m": {"url": "https://x", "headers": {"Authorization": "Bearer hunter2hunter2"}}}),
        [client(".mcp.json", a=secret)],
    )
    assert [(item.code, item.location.key, item.location.pointer) for item in found] == [
        ("literal-secret", "a", "/env/API_KEY"),
        ("literal-secret", "m", "/headers/Authorization"),
    ]
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["npx -y pkg"], True),
        (["/opt/my tools/run"], False),
        (["/opt/tools/run --stdio"], True),
        (["npx", "-y", "a b"], False),
    ],
)
def test_a_command_line_in_one_word_is_told(command, told):
    _, found = effective_servers(manifest({"m": {"command": command}}))
    assert [item.code for item in found] == (["command-with-spaces"] if told else [])


def test_a_command_line_in_one_word_does_not_show_its_secret():
    line = "srv --api-key hunter2hunter2"
    _, found = effective_servers(
        manifest({"m": {"command": [line]}, "a": {}}), [client(".mcp.json", a={"command": line})]
    )
    assert [item.code for item in found].count("command-with-spaces") == 2
    assert "hunter2" not in repr(found)
