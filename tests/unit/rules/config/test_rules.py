import pytest

from keel.core.model import Surface
from keel.rules.config.registry import lint_config
from tests.unit.rules.config.project import context, launching


def confusable(*command):
    found = [item for item in lint_config(launching(*command)) if item.code == "confusable-package"]
    return [item.severity.value for item in found]


@pytest.mark.parametrize(
    ("command", "severity"),
    [
        (("npx", "@modelcontextprotoco1/server-filesystem"), "error"),
        (("npx", "@rnodelcontextprotocol/server-filesystem"), "error"),
        (("npx", "@modelcontextprotocols/anything"), "warning"),
        (("npx", "rncp-remote"), "error"),
        (("npx", "m\u0441p-remote"), "error"),
        (("npx", "modelcontextprotocol-server-filesystem"), "warning"),
        (("uvx", "mcp-server-fetchh"), "warning"),
        (("uvx", "mcp-server-g1t"), "warning"),
        (("uvx", "mcp-server-tirne"), "error"),
        (("docker", "run", "ghcr.io/g1thub/github-mcp-server"), "warning"),
        (("n\u0440x", "-y", "pkg"), "error"),
    ],
)
def test_imitations(command, severity):
    assert confusable(*command) == [severity]


@pytest.mark.parametrize(
    "command",
    [
        ("npx", "-y", "@modelcontextprotocol/server-filesystem@1.0.0"),
        ("npx", "@modelcontextprotocol/server-filesystems"),
        ("npx", "@playwright/mcp"),
        ("npx", "@acme/mcp"),
        ("npx", "@acme/mcp-remote"),
        ("npx", "exa-mcp-server"),
        ("uvx", "mcp_server_git"),
        ("uvx", "MCP-Server-Time"),
        ("uvx", "mcp"),
        ("uvx", "mcpo"),
        ("docker", "run", "docker.io/mcp/fetch"),
        ("pnpx", "tool"),
        ("uv", "run", "server.py"),
        ("n\u00f8de", "x"),
    ],
)
def test_no_imitations(command):
    assert confusable(*command) == []


def test_servers_of_one_project_imitating_each_other():
    servers = {
        name: {"command": "uvx", "args": [package]} for name, package in (("a", "acme-tools"), ("b", "acrne-tools"))
    }
    found = [item for item in lint_config(context({"mcpServers": servers})) if item.code == "confusable-package"]
    assert [item.location.key for item in found] == ["a", "b"]


def dead(manifest, **rest):
    found = lint_config(context(manifest={"version": 1, **manifest}, **rest))
    return [(item.location.key, item.location.pointer) for item in found if item.code == "dead-entry"]


SERVERS = {"a": {"url": "https://a.example/mcp"}, "b": {"url": "https://b.example/mcp"}}


def test_servers_that_nothing_may_use():
    assert dead({"servers": SERVERS}) == []
    assert dead({"servers": SERVERS, "tools": ["a/*"]}) == [("b", "")]
    assert dead({"servers": SERVERS, "tools": ["a/x"]}, referenced=frozenset({"b/y"})) == []


def test_secrets_that_no_launch_names():
    auth = {"client_credentials": {"client_id": "secret://cid", "client_secret": "secret://cs"}}
    servers = {
        "a": {"url": "https://a.example/mcp", "auth": auth},
        "b": {"command": ["srv", "--key=${secret:arg}"], "env": {"K": "secret://env"}},
    }
    config = {"secrets": {name: name.upper() for name in ("cid", "cs", "arg", "env", "left")}}
    (found,) = [
        item
        for item in lint_config(context(manifest={"version": 1, "servers": servers}, config=config))
        if item.code == "dead-entry"
    ]
    assert (found.location.file, found.location.key) == ("keel.toml", "left")
    assert found.location.line == 6


@pytest.mark.parametrize(
    ("mask", "told"),
    [
        ({"tool": "convert", "pointer": "/description", "match": "'[A-Za-z_/]+'"}, False),
        ({"tool": "convert", "pointer": "/title", "match": "[a-z]+"}, False),
        ({"tool": "convert", "pointer": "/description", "match": "[0-9]+"}, True),
        ({"tool": "convert", "pointer": "/nowhere", "match": "[0-9]+"}, True),
        ({"tool": "gone", "pointer": "/description", "match": "[0-9]+"}, True),
        ({"pointer": "/instructions", "match": "[0-9]{4}"}, False),
    ],
)
def test_masks_that_hide_nothing(mask, told):
    tool = {"name": "convert", "description": "Uses \u2039volatile\u203a.", "title": "zone"}
    tool["description"] = tool["description"] if mask["match"].startswith("'") else "Uses a zone."
    surface = Surface({"instructions": "It is 2026."}, (tool,))
    servers = {"a": {"url": "https://a.example/mcp", "volatile": [mask]}}
    assert bool(dead({"servers": servers}, surfaces={"a": surface})) is told
    assert dead({"servers": servers}) == []


def test_strict_raises_what_is_only_a_remark():
    (found,) = lint_config(launching("npx", "pkg@1.2.3", config={"profile": "strict"}))
    assert (found.code, found.severity.value) == ("unpinned-tree", "warning")
