"""The entry that a person pastes into an MCP client's configuration to have it use the gateway."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from keel.app.runtime import RuntimeOptions, here
from keel.app.serve import ServeOptions
from keel.core.text import did_you_mean, escape
from keel.errors import UsageError
from keel.gateway.http import PATH

TOKEN_VARIABLE = "KEEL_TOKEN"  # noqa: S105 - the name of a variable
"""Where the entries look for the bearer token; it never stands in them."""


@dataclass(frozen=True, slots=True)
class Client:
    """How one client writes its servers down."""

    file: str
    """Where its configuration is."""
    section: str
    """Under which key servers stand."""
    url: str = "url"
    """Key of an HTTP endpoint."""
    kind: bool = False
    """Whether each server names its transport under `type`."""
    variable: str = ""
    """How a value refers to an environment variable; empty if it cannot, so that there is no entry for HTTP."""
    toml: bool = False


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(".mcp.json", "mcpServers", kind=True, variable="${%s}"),
    "claude-desktop": Client("claude_desktop_config.json", "mcpServers"),
    "codex": Client("~/.codex/config.toml", "mcp_servers", variable="%s", toml=True),
    "cursor": Client(".cursor/mcp.json", "mcpServers", variable="${env:%s}"),
    "gemini": Client(".gemini/settings.json", "mcpServers", url="httpUrl", variable="${%s}"),
    "vscode": Client(".vscode/mcp.json", "servers", kind=True, variable="${env:%s}"),
}
"""By name, as each client documents it."""


def client_entry(client: str, name: str, argv: tuple[str, ...], url: str = "") -> tuple[str, str]:
    """Return (file, text) of the entry for a client.

    Args:
        client: a key of `CLIENTS`.
        name: name of the gateway in the client.
        argv: the command that starts the gateway; empty for HTTP.
        url: the gateway's endpoint; empty for standard input and output.

    Raises:
        UsageError: if the client is not known, or knows no HTTP with a token that is kept elsewhere.
    """
    known = CLIENTS.get(client)
    if known is None:
        hint = did_you_mean(client, CLIENTS) or f"known: {', '.join(CLIENTS)}"
        raise UsageError(f"client `{escape(client)}` is not known", hint=hint)
    if url and not known.variable:
        raise UsageError(f"`{client}` reaches no local HTTP endpoint with a token", hint="leave `--http` out")
    entry = _http(known, url) if url else _stdio(known, argv)
    value = {known.section: {name: entry}}
    text = tomli_w.dumps(value) if known.toml else json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return known.file, text


def _stdio(client: Client, argv: tuple[str, ...]) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "stdio"} if client.kind else {}
    return {**entry, "command": argv[0], "args": list(argv[1:])}


def _http(client: Client, url: str) -> dict[str, Any]:
    if client.toml:
        return {"url": url, "bearer_token_env_var": TOKEN_VARIABLE}
    entry: dict[str, Any] = {"type": "http"} if client.kind else {}
    return {**entry, client.url: url, "headers": {"Authorization": f"Bearer {client.variable % TOKEN_VARIABLE}"}}


def gateway_command(program: tuple[str, ...], options: RuntimeOptions, asked: ServeOptions) -> tuple[str, ...]:
    """Return the command that starts the gateway from any working directory, with the options given now.

    Args:
        program: the words that start keel.
        options: what the operator says about the run.
        asked: what the operator says about the gateway.
    """
    words = [*program, "serve", str(options.bundle.resolve()), "--project", str(here(options))]
    for signer in options.signers:
        words += ["--signer", str(signer.resolve())]
    words += ["--allow-unsigned"] if options.allow_unsigned else []
    words += ["--min-sequence", str(options.min_sequence)] if options.min_sequence is not None else []
    named = {
        "--store": options.store if "://" in options.store or not options.store else str(Path(options.store).resolve()),
        "--audit": str(Path(options.audit).resolve()) if options.audit else "",
        "--tenant": options.tenant if options.tenant != "local" else "",
        "--subject": options.subject if options.subject != "local" else "",
    }
    for option, value in named.items():
        words += [option, value] if value else []
    repeated = (
        ("--secret", options.secrets),
        ("--secret-command", options.secret_commands),
        ("--tool-url", options.tool_urls),
    )
    for option, values in repeated:
        for value in values:
            words += [option, value]
    default = ServeOptions()
    words += ["--elicit"] if asked.elicit else []
    if asked.max_request_bytes != default.max_request_bytes:
        words += ["--max-request-bytes", str(asked.max_request_bytes)]
    words += ["--rate", f"{asked.rate:g}"] if asked.rate != default.rate else []
    return tuple(words)


def gateway_url(place: str) -> str:
    """Return the endpoint of a gateway that listens on `[HOST:]PORT`.

    Raises:
        UsageError: if no fixed port is named.
    """
    host, _, port = place.rpartition(":")
    if not port.isascii() or not port.isdigit() or port == "0":
        raise UsageError("an entry for HTTP needs a fixed port", hint="write `--http 8765`")
    return f"http://{host or '127.0.0.1'}:{port}{PATH}"
