"""Launches as values: what changes the fingerprint, what does not, and that no secret is in it."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.core.model import ClientCredentials, Policy, ServerSpec, Transport
from keel.manifest.launch import MASK, launch_fingerprint, launch_text, launch_value, literal_secrets, mask_url

STDIO = ServerSpec(
    "s",
    Transport.STDIO,
    command=("uvx", "search-mcp==2.3.1"),
    env=(("A", "1"), ("KEY", "secret://k")),
    pass_env=("HTTPS_PROXY",),
)
HTTP = ServerSpec("h", Transport.HTTP, url="https://x.example/mcp?q=1", headers=(("X-A", "b"),))


def test_values():
    assert launch_value(STDIO) == {
        "transport": "stdio",
        "command": ["uvx", "search-mcp==2.3.1"],
        "cwd": ".",
        "env": {"A": "1", "KEY": "secret://k"},
        "pass_env": ["HTTPS_PROXY"],
    }
    assert launch_value(HTTP) == {
        "transport": "http",
        "url": f"https://x.example/mcp?q={MASK}",
        "headers": {"X-A": "b"},
    }
    assert launch_value(ServerSpec("f", Transport.SURFACE, surface="a.json")) == {
        "transport": "surface",
        "surface": "a.json",
    }
    assert launch_value(ServerSpec("i", Transport.IMPORT, imported="x")) == {"transport": "import", "import": "x"}
    assert launch_fingerprint(STDIO).startswith("k1:")


@pytest.mark.parametrize(
    "changed",
    [
        replace(STDIO, command=("uvx", "search-mcp==2.3.2")),
        replace(STDIO, command=("uvx", "search-mcp==2.3.1", "")),
        replace(STDIO, cwd="sub"),
        replace(STDIO, env=(("A", "2"), ("KEY", "secret://k"))),
        replace(STDIO, env=(("A", "1"), ("KEY", "secret://other"))),
        replace(STDIO, env=(("A", "1"), ("KEY", "${K}"))),
        replace(STDIO, pass_env=()),
        replace(HTTP, url="https://y.example/mcp?q=1"),
        replace(HTTP, url="https://x.example/mcp?r=1"),
        replace(HTTP, url="https://x.example/mcp?q=1&r=2"),
        replace(HTTP, headers=(("X-A", "c"),)),
        replace(HTTP, transport=Transport.SSE),
        replace(HTTP, client_credentials=ClientCredentials("secret://a", "secret://b")),
    ],
)
def test_what_changes_the_fingerprint(changed):
    assert launch_fingerprint(changed) not in (launch_fingerprint(STDIO), launch_fingerprint(HTTP))


@pytest.mark.parametrize(
    ("spec", "same"),
    [
        (STDIO, replace(STDIO, name="other", policy=Policy.OFF, timeout_s=1, line=9, file="x", version=">1", own=True)),
        (HTTP, replace(HTTP, url="https://x.example/mcp?q=2#fragment")),
        (
            replace(STDIO, env=(("API_KEY", "old-secret-value"),)),
            replace(STDIO, env=(("API_KEY", "new-secret-value"),)),
        ),
    ],
)
def test_what_does_not(spec, same):
    assert launch_fingerprint(spec) == launch_fingerprint(same)


SECRETS = [
    replace(STDIO, command=("npx", "pkg", "--api-key", "hunter2hunter2")),
    replace(STDIO, command=("npx", "pkg", "--token=hunter2hunter2")),
    replace(STDIO, command=("npx", "https://u:hunter2hunter2@host/x")),
    replace(STDIO, command=("npx", "https://host/x?api_key=hunter2hunter2")),
    replace(STDIO, command=("docker", "run", "-e", "GITHUB_TOKEN=hunter2hunter2")),
    replace(STDIO, command=("sh", "-c", "curl -H 'Authorization: Bearer hunter2hunter2'")),
    replace(STDIO, env=(("API_KEY", "hunter2hunter2"),)),
    replace(STDIO, env=(("apiKey", "hunter2hunter2"),)),
    replace(STDIO, env=(("ANY", "ghp_hunter2hunter2hunter2hunter2hunter2hunter2"),)),
    replace(STDIO, env=(("ANY", "Bearer hunter2hunter2"),)),
    replace(STDIO, env=(("DATABASE", "postgres://u:hunter2hunter2@db/x"),)),
    replace(HTTP, headers=(("Authorization", "hunter2hunter2"),)),
    replace(HTTP, headers=(("X-Api-Key", "hunter2hunter2"),)),
    replace(HTTP, url="https://user:hunter2hunter2@x.example/mcp"),
    replace(HTTP, url="https://hunter2hunter2@x.example/mcp"),
    replace(HTTP, url="https://x.example/mcp?key=hunter2hunter2&v=1"),
    replace(HTTP, client_credentials=ClientCredentials("id", "hunter2hunter2")),
]


@pytest.mark.parametrize("spec", SECRETS)
def test_literal_secrets_are_masked_and_reported(spec):
    shown = json.dumps(launch_value(spec)) + launch_text(spec) + repr(literal_secrets(spec))
    assert "hunter2" not in shown
    assert len(literal_secrets(spec)) == 1


@pytest.mark.parametrize(
    "spec",
    [
        STDIO,
        HTTP,
        replace(STDIO, command=("npx", "pkg", "--api-key", "${KEY}", "--token=secret://t", "--token", "${secret:t}")),
        replace(STDIO, command=("npx", "--key", "--verbose", "--max-tokens", "100", "x=y", "keel://a")),
        replace(STDIO, env=(("API_KEY", "${secret:k}"), ("AUTH", "Bearer ${secret:k}"), ("TOKEN_FILE", "/run/t"))),
        replace(
            STDIO, env=(("DEBUG_TOKEN", "true"), ("KEY", ""), ("API_KEY", "<your key>"), ("MODE", "monkey-business"))
        ),
        replace(
            HTTP,
            headers=(("Authorization", "Bearer ${T}"), ("X-Api-Key", "secret://k")),
            url="https://${U}:${P}@h/?key=${K}",
        ),
        replace(HTTP, client_credentials=ClientCredentials("id", "secret://s")),
    ],
)
def test_references_and_settings_are_no_secrets(spec):
    assert literal_secrets(spec) == ()
    assert MASK not in json.dumps(launch_value(replace(spec, url=spec.url.partition("?")[0])), ensure_ascii=False)


def test_the_line_for_people():
    assert launch_text(STDIO) == "uvx search-mcp==2.3.1"
    assert launch_text(replace(STDIO, command=("a b", "c"), cwd="sub")) == "'a b' c (in sub)"
    assert launch_text(HTTP) == f"https://x.example/mcp?q={MASK}"
    assert launch_text(ServerSpec("f", Transport.SURFACE, surface="a.json")) == "surface a.json"
    assert launch_text(replace(STDIO, command=("a\x1b[31m\u202e",))).isprintable()
    assert "import" not in launch_text(ServerSpec("i", Transport.IMPORT, imported="x"))


def test_values_whose_references_cannot_be_read_count_as_literal():
    assert launch_value(replace(STDIO, env=(("API_KEY", "${broken hunter2"),)))["env"] == {"API_KEY": MASK}
    assert launch_value(replace(STDIO, env=(("MODE", "${broken"),)))["env"] == {"MODE": "${broken"}


def test_urls_keep_names_and_references():
    assert mask_url("https://h/p?a=1&b&c=${X}&d=#f") == f"https://h/p?a={MASK}&b&c=${{X}}&d"
    assert mask_url("https://h/p") == "https://h/p"
    assert mask_url("https://user:${P}@h/p") == "https://user:${P}@h/p"


@given(
    st.text(max_size=30),
    st.lists(st.text(max_size=20), max_size=4),
    st.dictionaries(st.text(max_size=8), st.text(max_size=20), max_size=3),
)
def test_any_launch_has_a_fingerprint_and_a_line(url, command, pairs):
    pairs = tuple(sorted(pairs.items()))
    for spec in (
        ServerSpec("s", Transport.STDIO, command=tuple(command), env=pairs),
        ServerSpec("s", Transport.HTTP, url=url, headers=pairs),
    ):
        assert launch_fingerprint(spec) == launch_fingerprint(spec)
        assert launch_text(spec).isprintable()
        literal_secrets(spec)
