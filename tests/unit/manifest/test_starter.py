"""Starter files: valid by keel's own parser and schema, complete, and without any secret."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from keel.core.finding import InputErrors
from keel.core.model import ServerSpec, Transport, Trust
from keel.manifest.clients import parse_client
from keel.manifest.config import parse_config
from keel.manifest.jsonschema import config_schema, manifest_schema
from keel.manifest.launch import literal_secrets
from keel.manifest.parse import parse_manifest
from keel.manifest.policy import paste_line
from keel.manifest.servers import effective_servers
from keel.manifest.starter import Source, Starter, start

TOKEN = "ghp_" + "a1B2" * 9
MCP, VSCODE = ".mcp.json", ".vscode/mcp.json"


@cache
def validators() -> tuple[jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft202012Validator]:
    return jsonschema_rs.Draft202012Validator(manifest_schema()), jsonschema_rs.Draft202012Validator(config_schema())


def sources(importable: bool = True, **files: dict[str, Any]) -> list[Source]:
    names = {"mcp": MCP, "vscode": VSCODE}
    return [
        Source(parse_client(json.dumps({"mcpServers": servers}), names[name]), importable)
        for name, servers in files.items()
    ]


def proved(
    given: list[Source], called: Sequence[str] = (), proposed: Sequence[str] = ()
) -> tuple[Starter, dict[str, ServerSpec]]:
    """Return a starter and the servers that keel reads out of it."""
    import tomllib

    made = start(given, called=called, proposed=proposed)
    manifest, config = parse_manifest(made.manifest, "keel.yaml"), parse_config(made.config, "keel.toml")
    of_manifest, of_config = validators()
    of_manifest.validate(YAML(typ="safe", pure=True).load(io.StringIO(made.manifest)))
    of_config.validate(tomllib.loads(made.config))
    assert manifest.defaults.unasserted_effect.value == "dangerous"
    assert manifest.defaults.returns is Trust.UNTRUSTED
    clients = [source.client for source in given if source.client.file in config.mcp_config]
    servers, found = effective_servers(manifest, clients)
    assert not [
        item
        for item in found
        if item.code in ("manifest-error", "config-error", "server-not-granted", "literal-secret")
    ]
    assert {source.name for source in config.secrets} == set(made.sources)
    return made, {server.name: server for server in servers}


def test_without_any_server_nothing_is_allowed() -> None:
    made, servers = proved([])
    assert servers == {}
    assert parse_manifest(made.manifest, "keel.yaml").servers == ()
    assert made.manifest.startswith("# yaml-language-server: $schema=keel.schema.json\n")


def test_launches_stay_in_client_configurations() -> None:
    made, servers = proved(sources(mcp={"search": {"command": "uvx", "args": ["search-mcp==2.3.1"]}}))
    assert "    import: search\n" in made.manifest
    assert made.imports == (MCP,)
    assert servers["search"].command == ("uvx", "search-mcp==2.3.1")


def test_gallery_names_become_imports() -> None:
    made, servers = proved(
        sources(
            mcp={
                "microsoft/search-mcp": {"command": "a"},
                "acme/Search-MCP": {"command": "b"},
                "human_gate": {"command": "c"},
                "./": {"command": "d"},
            }
        )
    )
    assert list(made.servers) == ["search-mcp", "Search-MCP-2", "server", "server-2"]
    assert [server.command[0] for server in servers.values()] == ["b", "a", "c", "d"]
    assert "import: microsoft/search-mcp\n" in made.manifest


@pytest.mark.parametrize(
    ("entry", "left", "held_by"),
    [
        ({"command": "a", "env": {"API_KEY": TOKEN}}, {"env": (("API_KEY", "secret://s_api_key"),)}, "API_KEY"),
        ({"command": "a", "args": ["--token", TOKEN]}, {"command": ("a", "--token", "secret://s_token")}, "--token"),
        ({"command": "a", "args": [f"--token={TOKEN}"]}, {"command": ("a", "--token=${secret:s_token}")}, "--token"),
        (
            {"url": "https://x.example/m", "headers": {"Authorization": f"Bearer {TOKEN}"}},
            {"headers": (("Authorization", "Bearer ${secret:s_authorization}"),)},
            "Authorization",
        ),
        (
            {"url": "https://x.example/m", "headers": {"X-Api-Key": TOKEN}},
            {"headers": (("X-Api-Key", "secret://s_x_api_key"),)},
            "X-Api-Key",
        ),
        (
            {"url": f"https://x.example/m?v=1&apiKey={TOKEN}"},
            {"url": "https://x.example/m?v=1&apiKey=${secret:s_api_key}"},
            "apiKey",
        ),
    ],
)
def test_a_literal_secret_becomes_a_reference(entry: dict[str, Any], left: dict[str, Any], held_by: str) -> None:
    for importable in (True, False):
        made, servers = proved(sources(importable, mcp={"s": entry}))
        assert {name: getattr(servers["s"], name) for name in left} == left
        assert [(secret.held_by, secret.file) for secret in made.secrets] == [(held_by, MCP)]
        assert TOKEN not in made.manifest + made.config + repr(made.secrets)
        assert list(made.sources.values()) == [secret.variable for secret in made.secrets]


def test_a_server_name_in_a_variable_is_not_repeated() -> None:
    made, _ = proved(sources(mcp={"github": {"command": "a", "env": {"GITHUB_TOKEN": TOKEN}}}))
    assert made.sources == {"github_token": "GITHUB_TOKEN"}


def test_secrets_that_a_client_asks_for_need_a_source() -> None:
    made, _ = proved(sources(mcp={"s": {"command": "a", "env": {"K": "${input:my-key}", "H": "${env:HOME}"}}}))
    assert made.sources == {"my-key": "MY_KEY"}
    assert made.secrets == ()


def test_equal_launches_are_one_server_and_different_ones_are_said() -> None:
    same = {"command": "a"}
    made, _ = proved(sources(mcp={"s": same}, vscode={"s": same}))
    assert made.notes == ()
    made, servers = proved(sources(mcp={"s": same, "t": same}, vscode={"s": {"command": "b"}}))
    assert made.notes == ("server `s` has another launch in `.vscode/mcp.json`; the manifest has that of `.mcp.json`",)
    assert servers["s"].command == ("a",)
    assert "    command: [a]\n" in made.manifest


def test_a_file_outside_the_project_is_written_out() -> None:
    made, servers = proved(
        sources(importable=False, mcp={"a/s": {"command": "c", "args": ["#x: y", "é\u200b", '"'], "env": {"M": "no"}}})
    )
    assert made.imports == ()
    assert servers["s"].command == ("c", "#x: y", "é\u200b", '"')
    assert "\u200b" not in made.manifest


def test_flows_make_the_tools_section_and_a_lock_its_proposals() -> None:
    hint = paste_line("s/pay", {"destructiveHint": True})
    made, _ = proved(sources(mcp={"s": {"command": "a"}}), ["lookup", "s/pay", "s/a b", "_no"], [hint])
    granted = parse_manifest(made.manifest, "keel.yaml").tools
    assert granted is not None
    assert [(grant.tool, grant.effect) for grant in granted] == [("lookup", None), ("s/pay", None), ("s/a b", None)]
    assert (
        "#   - {tool: s/pay, effect: dangerous, idempotency: none}  # the server says destructiveHint: true\n"
        in made.manifest
    )


_texts = st.text(st.characters(codec="utf-8", exclude_characters="$"), max_size=12) | st.sampled_from(
    [TOKEN, f"Bearer {TOKEN}", "no", "1e3", "# x", "- a", "{a: b}", "'", "~", "${V}", "${V:-d}", "x\ny"]
)
_keys = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True) | st.sampled_from(
    ["API_KEY", "TOKEN", "Authorization", "on"]
)
_stdio = st.fixed_dictionaries(
    {"command": _texts.filter(str.strip)},
    optional={
        "args": st.lists(_texts | st.just("--api-key"), max_size=3),
        "env": st.dictionaries(_keys, _texts, max_size=3),
    },
)
_http = st.fixed_dictionaries(
    {
        "url": st.sampled_from(
            [
                "https://x.example/m",
                f"https://x.example/m?token={TOKEN}&a=b",
                f"https://u:{TOKEN}@x.example/m",
                f"https://{TOKEN}@x.example/",
                "https://x.example/#f",
            ]
        )
    },
    optional={"headers": st.dictionaries(_keys, _texts, max_size=2)},
)
_names = st.text(max_size=10) | st.sampled_from(["search", "Search", "acme/search", "true", "1"])
_servers = st.dictionaries(_names, _stdio | _http, max_size=4)


def test_a_file_that_repeats_a_renamed_server_is_not_imported() -> None:
    renamed = {"acme/search": {"url": f"https://u:{TOKEN}@x.example/m"}}
    made, servers = proved(sources(mcp=renamed, vscode={"other": {"url": "https://x.example/m"}, **renamed}))
    assert made.imports == ()
    assert set(servers) == {"search", "other"}
    plain = {"acme/search": {"url": "https://x.example/m"}}
    made, servers = proved(
        sources(
            mcp={"": {"url": "https://y.example/m"}, **plain}, vscode={"other": {"url": "https://z.example/m"}, **plain}
        )
    )
    assert made.imports == ()
    assert set(servers) == {"server", "search", "other"}


@given(_servers, _servers, st.booleans())
def test_whatever_clients_say_the_starter_is_valid_and_holds_no_secret(
    first: dict[str, Any], second: dict[str, Any], importable: bool
) -> None:
    try:
        read = sources(importable, mcp=first, vscode=second)
        start(read)
    except InputErrors:
        assume(False)
    made, servers = proved(read)
    assert TOKEN not in made.manifest + made.config
    assert not any(literal_secrets(server) for server in servers.values())
    assert all(server.transport in (Transport.STDIO, Transport.HTTP) for server in servers.values())
