"""Rules of the manifest that span fields; they judge the raw document, so that they speak beside every other error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keel.core.text import did_you_mean, excerpt
from keel.manifest import severities, words
from keel.manifest.masks import mask_problem
from keel.manifest.problems import Document, Path, Problem
from keel.manifest.references import ReferenceSyntaxError, parse_value


def check_manifest(document: Document) -> Iterator[Problem]:
    """Yield every problem of a manifest that no single field shows."""
    root = document.value if isinstance(document.value, dict) else {}
    yield from _servers(root.get("servers"))
    yield from _tools(root.get("tools"), document)
    yield from _fail_on(root.get("fail_on"))
    for section in ("reasoners", "models", "scopes", "network"):
        yield from _repeated(root.get(section), (section,), document)


def _servers(servers: Any) -> Iterator[Problem]:
    folded: dict[str, str] = {}
    for name, server in _members(servers):
        path: Path = ("servers", name)
        twin = folded.setdefault(name.casefold(), name)
        if twin != name:
            message = f"servers `{excerpt(twin, 60)}` and `{excerpt(name, 60)}` differ only in case"
            yield Problem(path, message, "rename one of them; server names become file names", on_key=True)
        if isinstance(server, dict):
            yield from _launch(path, server)
            yield from _values(path, server)
            yield from _review(path, server)
            yield from _masks(path, server)


def _launch(path: Path, server: Mapping[str, Any]) -> Iterator[Problem]:
    given = [key for key in words.LAUNCHES if key in server]
    if len(given) > 1:
        message = f"the server has several launches: {', '.join(f'`{key}`' for key in given)}"
        second = sorted(given, key=list(server).index)[1]
        yield Problem((*path, second), message, "keep one of them", on_key=True)
        return
    for launch, useless, hint in (
        ("command", ("headers", "auth"), "a command takes `env`; `headers` and `auth` belong to a `url`"),
        ("url", ("env", "pass_env", "cwd"), "a URL takes `headers`; `env`, `pass_env` and `cwd` belong to a `command`"),
    ):
        for key in useless:
            if given == [launch] and key in server:
                message = f"`{key}` has no effect on a server that is reached by `{launch}`"
                yield Problem((*path, key), message, hint, on_key=True)


def _values(path: Path, server: Mapping[str, Any]) -> Iterator[Problem]:
    for where, text in _launch_values(server):
        try:
            parse_value(text)
        except ReferenceSyntaxError as error:
            yield Problem((*path, *where), error.message, error.hint)
    program = server.get("command")
    if isinstance(program, list) and program and isinstance(program[0], str) and not program[0].strip():
        yield Problem((*path, "command", 0), "the program's name is empty", "name the program first")


def _launch_values(server: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield (path in the server, text) for every value that may hold references."""
    command = server.get("command")
    for index, item in enumerate(command if isinstance(command, list) else ()):
        if isinstance(item, str):
            yield ("command", index), item
    if isinstance(server.get("url"), str):
        yield ("url",), server["url"]
    for section in ("env", "headers"):
        for name, value in _members(server.get(section)):
            if isinstance(value, str):
                yield (section, name), value
    auth = server.get("auth")
    credentials = auth.get("client_credentials") if isinstance(auth, dict) else None
    for name, value in _members(credentials):
        if isinstance(value, str):
            yield ("auth", "client_credentials", name), value


def _review(path: Path, server: Mapping[str, Any]) -> Iterator[Problem]:
    first, last = server.get("reviewed_at"), server.get("review_expires_at")
    # Both forms are YYYY-MM-DD or refused elsewhere, so text order is date order.
    if isinstance(first, str) and isinstance(last, str) and last < first:
        yield Problem((*path, "review_expires_at"), "the review expires before it was made", "correct one of the dates")
    auth = server.get("auth")
    if isinstance(auth, dict) and len(set(auth) & {"client_credentials", "attended"}) != 1:
        yield Problem((*path, "auth"), "`auth` needs exactly one of `client_credentials` and `attended`", "keep one")


def _masks(path: Path, server: Mapping[str, Any]) -> Iterator[Problem]:
    masks = server.get("volatile")
    for index, mask in enumerate(masks if isinstance(masks, list) else ()):
        pattern = mask.get("match") if isinstance(mask, dict) else None
        fault = mask_problem(pattern) if isinstance(pattern, str) else None
        if fault:
            hint = "write a plain expression for the text that differs, such as `'[A-Za-z_/]+'`"
            yield Problem((*path, "volatile", index, "match"), f"`match` {excerpt(fault, 160)}", hint)


def _tools(tools: Any, document: Document) -> Iterator[Problem]:
    seen: dict[str, Path] = {}
    for index, entry in enumerate(tools if isinstance(tools, list) else ()):
        path: Path = ("tools", index)
        grant = {"tool": entry} if isinstance(entry, str) else entry
        if not isinstance(grant, dict):
            continue
        key = grant.get("tool")
        if isinstance(key, str):
            first = seen.setdefault(key, path)
            if first != path:
                line = document.value_at(first).line
                message = f"`{excerpt(key, 80)}` is granted twice; it stands already in line {line}"
                yield Problem(path, message, "keep one of the grants")
            if key.endswith("/*"):
                yield from _wildcard(path, key, grant)
        yield from _pair(path, grant)


def _pair(path: Path, grant: Mapping[str, Any]) -> Iterator[Problem]:
    for given, absent in (("effect", "idempotency"), ("idempotency", "effect")):
        if given in grant and absent not in grant:
            message = f"`{given}` without `{absent}`: a contract is asserted whole or not at all"
            yield Problem((*path, given), message, f"add `{absent}`", on_key=True)


def _wildcard(path: Path, key: str, grant: Mapping[str, Any]) -> Iterator[Problem]:
    for name in grant:
        if name not in words.WILDCARD_KEYS:
            message = (
                f"`{excerpt(key, 80)}` cannot carry `{excerpt(name, 40)}`: it also grants tools that do not exist yet"
            )
            yield Problem(
                (*path, name), message, "write it on an exact grant, which wins over the wildcard", on_key=True
            )


def _fail_on(section: Any) -> Iterator[Problem]:
    for kind, severity in _members(section):
        path: Path = ("fail_on", kind)
        if kind not in severities.kinds():
            hint = did_you_mean(kind, severities.kinds()) or f"known groups are {', '.join(severities.GROUPS)}"
            yield Problem(path, f"`{excerpt(kind, 60)}` is not a kind of drift", hint, on_key=True)
        elif severities.is_floored(kind) and severity in ("info", "never"):
            message = f"`{kind}` cannot be lowered to `{severity}`: what a pull request can edit must not switch it off"
            yield Problem(path, message, "write `warning` or `error`")


def _repeated(entries: Any, path: Path, document: Document) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, str) and seen.setdefault(entry, index) != index:
            line = document.value_at((*path, seen[entry])).line
            message = f"`{excerpt(entry, 60)}` is listed twice; it stands already in line {line}"
            yield Problem((*path, index), message, "keep one of them")


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
