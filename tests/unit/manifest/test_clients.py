"""MCP client configurations: every spelling that clients use, and what is said about the rest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.core.finding import InputErrors
from keel.core.model import Transport
from keel.manifest.clients import parse_client


def servers(entries, section="mcpServers", file=".mcp.json"):
    return parse_client(json.dumps({section: entries}), file)


def one(entry):
    config = servers({"s": entry})
    (server,) = config.servers
    return server, [(item.code, item.location.pointer, item.next) for item in config.findings]


def errors(text, file=".mcp.json"):
    with pytest.raises(InputErrors) as caught:
        parse_client(text, file)
    assert all(item.code == "config-error" and item.location.line for item in caught.value.findings)
    return [(item.location.line, item.location.column, item.message) for item in caught.value.findings]


@pytest.mark.parametrize(
    ("entry", "transport", "command", "url"),
    [
        ({"command": "npx", "args": ["-y", "pkg"]}, Transport.STDIO, ("npx", "-y", "pkg"), ""),
        ({"type": "stdio", "command": "x"}, Transport.STDIO, ("x",), ""),
        ({"url": "https://x/y"}, Transport.HTTP, (), "https://x/y"),
        ({"type": "http", "url": "https://x/y"}, Transport.HTTP, (), "https://x/y"),
        ({"type": "streamable-http", "url": "https://x/y"}, Transport.HTTP, (), "https://x/y"),
        ({"type": "streamableHttp", "url": "https://x/y"}, Transport.HTTP, (), "https://x/y"),
        ({"httpUrl": "https://x/y"}, Transport.HTTP, (), "https://x/y"),
        ({"type": "sse", "url": "https://x/y"}, Transport.SSE, (), "https://x/y"),
    ],
)
def test_launches(entry, transport, command, url):
    server, remarks = one(entry)
    assert (server.transport, server.command, server.url, remarks) == (transport, command, url, [])


def test_environment_headers_and_place():
    config = parse_client(
        '{\n "servers": {\n  "a": {"command": "x", "env": {"B": "1", "A": "${env:A:-d}"}, "cwd": "sub"},\n  "b": {"url": "https://x", "headers": {"X": "${T}"}}}}',
        "x.json",
    )
    first, second = config.servers
    assert (first.env, first.cwd, first.file, first.line, first.column) == (
        (("A", "${A:-d}"), ("B", "1")),
        "sub",
        "x.json",
        3,
        3,
    )
    assert second.headers == (("X", "${T}"),)


def test_codex():
    config = parse_client(
        '[mcp_servers.local]\ncommand = "uvx"\nargs = ["a"]\nenv_vars = ["B", "A"]\nstartup_timeout_sec = 3\n'
        '[mcp_servers.remote]\nurl = "https://x/y"\nbearer_token_env_var = "T"\nhttp_headers = { X = "1" }\nenv_http_headers = { Y = "V" }\n'
        '[mcp_servers.off]\ncommand = "x"\nenabled = false\n',
        ".codex/config.toml",
    )
    local, remote = config.servers
    assert (local.command, local.pass_env, local.line) == (("uvx", "a"), ("A", "B"), 1)
    assert remote.headers == (("Authorization", "Bearer ${T}"), ("X", "1"), ("Y", "${V}"))
    assert config.findings == ()


def test_c022_two_sections_are_one_list_with_a_remark():
    config = parse_client('{"mcpServers": {"a": {"command": "x"}}, "servers": {"b": {"command": "y"}}}', ".mcp.json")
    assert [server.name for server in config.servers] == ["a", "b"]
    assert [(item.code, item.severity, item.location.pointer) for item in config.findings] == [
        ("split-client-config", "info", "/servers")
    ]


def test_c023_comments_and_trailing_commas_pass_and_broken_json_does_not():
    assert len(parse_client('{// c\n"mcpServers": {"a": {"command": "x",},},}', ".mcp.json").servers) == 1
    assert errors('{"mcpServers": {"a": {"command": "x"}}') == [
        (1, 39, "not JSON: expected `,` or `}`, but the file ends")
    ]
    assert errors("") == [(1, 1, "not JSON: expected a value, but the file ends")]


def test_c025_variables_of_clients():
    server, remarks = one(
        {
            "command": "${workspaceFolder}/run.sh",
            "args": ["${env:A}", "${A}", "${A:-d}", "$A", "${input:key}", "${workspaceFolder}"],
        }
    )
    assert server.command == ("./run.sh", "${A}", "${A}", "${A:-d}", "$A", "${secret:key}", ".")
    assert [(code, pointer) for code, pointer, _ in remarks] == [
        ("client-variable", "/mcpServers/s/args/3"),
        ("client-variable", "/mcpServers/s/args/4"),
    ]
    assert '`secrets = {key = "VARIABLE"}`' in remarks[1][2]


@pytest.mark.parametrize("text", ["${command:pick}", "Bearer secret://t", "${A", "${/}"])
def test_variables_that_no_one_can_fill_in(text):
    assert len(errors(json.dumps({"mcpServers": {"s": {"command": "x", "args": [text]}}}))) == 1


def test_variables_that_editors_fill_in():
    _, remarks = one({"command": "${userHome}/x", "args": ["${pathSeparator}", "${userId}"]})
    assert [(code, pointer) for code, pointer, _ in remarks] == [
        ("client-variable", "/mcpServers/s/command"),
        ("client-variable", "/mcpServers/s/args/0"),
    ]


def test_the_workspace_is_not_the_working_directory_elsewhere():
    assert len(errors('{"mcpServers": {"s": {"command": "${workspaceFolder:x}/x"}}}')) == 1
    server, _ = one({"command": "${workspaceFolder}/x", "cwd": "${workspaceFolder}"})
    assert (server.command, server.cwd) == (("./x",), ".")
    server, remarks = one({"command": "${workspaceFolder}/x", "cwd": "sub"})
    assert [code for code, _, _ in remarks] == ["client-variable"]
    assert server.command == ("${workspaceFolder}/x",)


def test_c027_keys_that_clients_ignore():
    server, remarks = one(
        {
            "command": "x",
            "transport": "stdio",
            "environment": {"A": "b"},
            "evn": {},
            "autoApprove": ["*"],
            "timeout": None,
        }
    )
    assert server.transport is Transport.STDIO
    assert remarks == [
        ("unknown-key", "/mcpServers/s/transport", "did you mean `type`?"),
        ("unknown-key", "/mcpServers/s/environment", "did you mean `env`?"),
        ("unknown-key", "/mcpServers/s/evn", "did you mean `env`?"),
    ]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("npx -y pkg", True),
        ("npx pkg", True),
        ("/opt/my tools/run", False),
        ("/bin/x -v", True),
        ("~/tools/run.sh", False),
        ("C:\\Program Files\\x.exe", False),
    ],
)
def test_c013_commands_with_spaces(command, told):
    server, remarks = one({"command": command})
    assert server.command == (command,)
    assert [code for code, _, _ in remarks] == (["command-with-spaces"] if told else [])
    assert command != "npx -y pkg" or remarks[0][2] == 'write `"command": "npx", "args": ["-y", "pkg"]`'


def test_disabled_servers_are_left_out():
    assert (
        servers({"a": {"command": "x", "disabled": True}, "b": {"command": "x", "disabled": False}}).servers[0].name
        == "b"
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "server `s` has no launch"),
        ({"command": "x", "url": "https://y"}, "server `s` has several launches: `command`, `url`"),
        ({"url": "https://y", "httpUrl": "https://y"}, "server `s` has several launches: `url`, `httpUrl`"),
        ({"command": "x", "type": "http"}, "server `s` has `type: http` beside `command`"),
        ({"url": "https://x", "type": "websocket"}, "server `s` has `type: websocket` beside `url`"),
        ({"command": ["x"]}, "`command` must be text, not a list"),
        ({"command": "x", "args": "y z"}, "`args` must be a list, not the text `y z`"),
        ({"command": "x", "args": [1]}, "entry 1 of `args` must be text, not `1`"),
        ({"command": "x", "env": {"A": 1}}, "`A` must be text, not `1`"),
        ({"command": " "}, "`command` of server `s` is empty"),
        ({"url": "ftp://x"}, "server `s`: the URL is not one of http or https with a host"),
        ("npx", "server `s` must be a mapping"),
        ([], "server `s` must be a mapping"),
    ],
)
def test_errors(entry, message):
    assert message in [text for _, _, text in errors(json.dumps({"mcpServers": {"s": entry}}))]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "3",
        '{"mcpservers": {}}',
        '{"mcp": {}}',
        "{}",
        '{"mcpServers": []}',
        '{"mcpServers": {"a": {"command": "x"}, "a": {"command": "x"}}}',
    ],
)
def test_files_without_servers_are_errors(text):
    assert len(errors(text)) == 1


def test_all_errors_of_a_file_come_at_once():
    assert len(errors(json.dumps({"mcpServers": {"a": {}, "b": {"command": 1}, "c": {"url": "x"}}}))) == 3


def test_one_bad_server_does_not_silence_remarks_into_errors():
    config = servers({"ok": {"command": "a b"}, "fine": {"command": "x"}})
    assert [server.name for server in config.servers] == ["ok", "fine"]


KEYS = st.sampled_from(
    ["command", "args", "env", "url", "httpUrl", "type", "headers", "cwd", "x", "disabled", "transport"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 2)
    | st.sampled_from(["x", "${A}", "${", "https://x", "sse", "stdio", "secret://a", "a b"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["mcpServers", "servers", "a"]),
        VALUES | st.dictionaries(st.text(max_size=3), st.dictionaries(KEYS, VALUES)),
        max_size=3,
    )
)
def test_any_shape_is_read_or_refused(value):
    try:
        config = parse_client(json.dumps(value), "x.json")
    except InputErrors as error:
        assert all(item.location.line == 1 for item in error.findings)  # noqa: PT017 - either outcome is right
    else:
        assert all(server.command or server.url for server in config.servers)
