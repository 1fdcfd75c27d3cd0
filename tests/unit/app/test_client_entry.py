"""Entries for clients: each is read back as the launch that it stands for."""

from __future__ import annotations

from pathlib import Path

import pytest

from keel.app.client_entry import CLIENTS, client_entry, gateway_command, gateway_url
from keel.app.runtime import RuntimeOptions
from keel.app.serve import ServeOptions
from keel.core.model import Transport
from keel.errors import UsageError
from keel.manifest.clients import parse_client

ARGV = ("/opt/keel", "serve", "/srv/b.keel", "--secret", "k=env:K")


@pytest.mark.parametrize("client", list(CLIENTS))
def test_an_entry_is_read_back_as_what_it_stands_for(client: str) -> None:
    file, text = client_entry(client, "keel", ARGV)
    (server,) = parse_client(text, file).servers
    assert (server.name, server.transport, server.command) == ("keel", Transport.STDIO, ARGV)


@pytest.mark.parametrize("client", [name for name, client in CLIENTS.items() if client.variable])
def test_an_entry_for_http_names_where_the_token_is_and_never_the_token(client: str) -> None:
    file, text = client_entry(client, "keel", (), "http://127.0.0.1:8765/mcp")
    (server,) = parse_client(text, file).servers
    assert (server.transport, server.url) == (Transport.HTTP, "http://127.0.0.1:8765/mcp")
    ((name, value),) = server.headers
    assert name.lower() == "authorization"
    assert "KEEL_TOKEN" in value


def test_what_cannot_be_written_is_said() -> None:
    with pytest.raises(UsageError, match="token"):
        client_entry("claude-desktop", "keel", (), "http://127.0.0.1:8765/mcp")
    with pytest.raises(UsageError) as caught:
        client_entry("claude-dektop", "keel", ARGV)
    assert "claude-desktop" in caught.value.hint
    with pytest.raises(UsageError, match="fixed port"):
        gateway_url("0")
    assert gateway_url("[::1]:8765") == "http://[::1]:8765/mcp"


def test_the_command_works_from_any_folder_and_keeps_every_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = RuntimeOptions(
        Path("b.keel"), {}, project=Path("p"), signers=(Path("a.pub"),), allow_unsigned=True, min_sequence=3,
        store="s.db", audit="a.jsonl", tenant="t", subject="u", secrets=("k=env:K",), secret_commands=("c=cmd x",),
        tool_urls=("n=https://h/n",),
    )  # fmt: skip
    words = gateway_command(("keel",), options, ServeOptions(elicit=True, max_request_bytes=4096, rate=5))
    at = str(tmp_path)
    assert words == (
        "keel", "serve", f"{at}/b.keel", "--project", f"{at}/p", "--signer", f"{at}/a.pub", "--allow-unsigned",
        "--min-sequence", "3", "--store", f"{at}/s.db", "--audit", f"{at}/a.jsonl", "--tenant", "t", "--subject", "u",
        "--secret", "k=env:K", "--secret-command", "c=cmd x", "--tool-url", "n=https://h/n", "--elicit",
        "--max-request-bytes", "4096", "--rate", "5",
    )  # fmt: skip
    plain = gateway_command(("keel",), RuntimeOptions(Path("b.keel"), {}, store="postgresql://h/d"), ServeOptions())
    assert plain == ("keel", "serve", f"{at}/b.keel", "--project", at, "--store", "postgresql://h/d")
