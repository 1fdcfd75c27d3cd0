"""The servers of a project: what the manifest lists, with launches from client configurations where it imports them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from keel.core.finding import Finding, Location, finding
from keel.core.jsontext import escape_token
from keel.core.model import Defaults, Manifest, ServerSpec, Transport
from keel.core.text import did_you_mean, excerpt
from keel.manifest import words
from keel.manifest.launch import literal_secrets, words_of_line


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """The servers that one client configuration names; `clients` reads it."""

    file: str
    """Path relative to the project."""
    servers: tuple[ServerSpec, ...] = ()
    """In the order of the file; one name may stand in two sections. Disabled servers are left out."""
    findings: tuple[Finding, ...] = ()
    """Remarks; none of them is an error."""


def effective_servers(
    manifest: Manifest, clients: Iterable[ClientConfig] = ()
) -> tuple[tuple[ServerSpec, ...], tuple[Finding, ...]]:
    """Return the servers of a project, sorted by name, and what is wrong or noteworthy about them.

    Without a `servers` section every server of every client configuration counts, with the manifest's defaults. With
    one, it is an allow-list: a server that it omits is `server-not-granted`, and an entry without a launch takes the
    one that a client configuration has under its `import`, or its own name.

    Args:
        manifest: the capability manifest, possibly absent.
        clients: the client configurations, in the order in which the project names them.

    Returns:
        (servers, findings). Findings of severity error mean that a server is missing from the result or must not be
        used; one name with different launches in two places, and an import that nothing answers, are such.
    """
    configs = tuple(clients)
    pool = _pool(configs)
    findings = [remark for config in configs for remark in config.findings]
    if manifest.servers is None:
        servers = tuple(_unlisted(pool, manifest.defaults, findings))
    else:
        servers = tuple(_listed(manifest.servers, pool, findings))
        findings.extend(_omitted(manifest.servers, pool))
    findings.extend(_secrets(servers))
    findings.extend(_spaced(manifest.servers or ()))
    return tuple(sorted(servers, key=lambda server: server.name)), tuple(findings)


def _pool(configs: tuple[ClientConfig, ...]) -> dict[str, list[ServerSpec]]:
    """Return the different launches that client configurations have under each name."""
    pool: dict[str, list[ServerSpec]] = {}
    for config in configs:
        for server in config.servers:
            same = pool.setdefault(server.name, [])
            if all(_launch(server) != _launch(other) for other in same):
                same.append(server)
    return pool


def _launch(server: ServerSpec) -> tuple[object, ...]:
    """Return what makes two launches different; unlike the fingerprint it masks nothing."""
    spec = server
    return (spec.transport, spec.command, spec.url, spec.env, spec.headers, spec.pass_env, spec.cwd)


def _at(server: ServerSpec, pointer: str = "") -> Location:
    return Location(server.file, server.line, server.column, server.name, pointer)


def _conflict(same: list[ServerSpec]) -> Finding:
    first, second = same[0], same[1]
    return finding(
        "config-error",
        f"server `{excerpt(first.name, 60)}` has different launches in `{first.file}` line {first.line}"
        f" and `{second.file}` line {second.line}",
        location=_at(second),
        next="make the launches equal, or give the server its launch in the manifest's `servers`",
    )


def _unlisted(
    pool: Mapping[str, list[ServerSpec]], defaults: Defaults, findings: list[Finding]
) -> Iterator[ServerSpec]:
    folded: dict[str, str] = {}
    for name, same in sorted(pool.items()):
        server = same[0]
        twin = folded.setdefault(name.casefold(), name)
        if len(same) > 1:
            findings.append(_conflict(same))
        elif not re.fullmatch(words.SERVER_NAME, name):
            message = f"`{excerpt(name, 60)}` cannot be a server's name in keel"
            short = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:63] or "server"
            hint = f'list it in the manifest: `servers: {{{short}: {{import: "{excerpt(name, 60)}"}}}}`'
            findings.append(finding("config-error", message, location=_at(server), next=hint))
        elif twin != name:
            message = f"servers `{excerpt(twin, 60)}` and `{excerpt(name, 60)}` differ only in case"
            findings.append(finding("config-error", message, location=_at(server), next="rename one of them"))
        else:
            yield replace(server, policy=defaults.policy, timeout_s=defaults.timeout_s, primitives=defaults.primitives)


def _listed(
    listed: tuple[ServerSpec, ...], pool: Mapping[str, list[ServerSpec]], findings: list[Finding]
) -> Iterator[ServerSpec]:
    for server in listed:
        if server.transport is not Transport.IMPORT:
            yield server
            continue
        same = pool.get(server.imported, [])
        if len(same) == 1:
            yield _imported(server, same[0])
        else:
            findings.append(_conflict(same) if same else _unanswered(server, pool))


def _imported(server: ServerSpec, client: ServerSpec) -> ServerSpec:
    """Return an entry with the launch of a client configuration; what the entry itself says wins."""
    return replace(
        server,
        transport=client.transport,
        command=client.command,
        url=client.url,
        env=tuple(sorted({**dict(client.env), **dict(server.env)}.items())),
        headers=tuple(sorted({**dict(client.headers), **dict(server.headers)}.items())),
        pass_env=tuple(sorted({*client.pass_env, *server.pass_env})),
        cwd=client.cwd if server.cwd == "." else server.cwd,
    )


def _unanswered(server: ServerSpec, pool: Mapping[str, list[ServerSpec]]) -> Finding:
    name = excerpt(server.imported, 60)
    known = f"; they have {', '.join(f'`{excerpt(other, 40)}`' for other in sorted(pool)[:8])}" if pool else ""
    return finding(
        "manifest-error",
        f"server `{server.name}` has no launch, and no client configuration has a server `{name}`{known}",
        location=_at(server, f"/servers/{escape_token(server.name)}"),
        next=did_you_mean(server.imported, pool)
        or "give it a `command`, `url` or `surface`, or name the file that has it under `mcp-config`",
    )


def _omitted(listed: tuple[ServerSpec, ...], pool: Mapping[str, list[ServerSpec]]) -> Iterator[Finding]:
    used = {server.imported for server in listed} | {server.name for server in listed}
    for name, same in sorted(pool.items()):
        if name not in used:
            shown = excerpt(name, 60)
            yield finding(
                "server-not-granted",
                f"server `{shown}` stands in `{same[0].file}`, but not in the manifest's `servers`",
                location=_at(same[0]),
                next=f"add `{shown}` to `servers` after review, or remove it from the client configuration",
            )


def _secrets(servers: Iterable[ServerSpec]) -> Iterator[Finding]:
    for server in servers:
        for secret in literal_secrets(server):
            yield finding(
                "literal-secret",
                f"server `{server.name}`: `{excerpt(secret.name, 60)}` holds a secret as written",
                location=_at(server, secret.pointer),
            )


def _spaced(listed: Iterable[ServerSpec]) -> Iterator[Finding]:
    """Yield a remark for each launch of the manifest whose program is a whole command line."""
    for server in listed:
        words = words_of_line(server.command[0]) if server.command else ()
        if words:
            yield finding(
                "command-with-spaces",
                f"`command` of server `{server.name}` holds a whole line: `{excerpt(' '.join(words), 60)}`",
                location=_at(server, "/command/0"),
                next=f"write each word on its own: `command: [{', '.join(excerpt(word, 40) for word in words)}]`",
            )
