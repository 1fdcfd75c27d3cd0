"""The launch of a server as a value that can be hashed, compared and shown: whole, but without any secret."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from keel.core.digest import digest
from keel.core.jsontext import escape_token
from keel.core.model import Json, ServerSpec, Transport
from keel.core.text import escape, excerpt
from keel.manifest.references import ReferenceSyntaxError, Text, parse_value
from keel.manifest.secretlike import is_secret_name, is_secret_value, looks_secret

MASK = "‹masked›"  # noqa: RUF001 - no client writes it by accident
"""Stands for a literal secret and for the values of a URL's query."""


@dataclass(frozen=True, slots=True)
class LiteralSecret:
    """A secret written out in a launch; what it is stays unsaid."""

    server: str
    pointer: str
    """RFC 6901 pointer into the server's entry: `/env/API_KEY`, `/command/3`."""
    name: str
    """Name of the variable, header, option or parameter that holds it."""
    file: str
    line: int
    column: int


def launch_value(spec: ServerSpec) -> Json:
    """Return the launch of a server as JSON, with secrets masked and references as written.

    It holds the full argument vector, working directory, URL with the names of its query, environment and headers,
    and the variables passed on; for a surface file its path. Rotating a secret behind a reference changes nothing.
    """
    value: dict[str, Json] = {"transport": spec.transport.value}
    if spec.transport is Transport.SURFACE:
        return {**value, "surface": spec.surface}
    if spec.transport is Transport.IMPORT:
        return {**value, "import": spec.imported}
    if spec.transport is Transport.STDIO:
        value["command"] = [shown for _, shown in _arguments(spec.command)]
        value["cwd"] = spec.cwd
        value["env"] = {name: _masked(name, text) for name, text in spec.env}
        value["pass_env"] = list(spec.pass_env)
    else:
        value["url"] = mask_url(spec.url)
        value["headers"] = {name: _masked(name, text) for name, text in spec.headers}
    if spec.client_credentials is not None:
        credentials = spec.client_credentials
        value["client_credentials"] = {
            "client_id": credentials.client_id,
            "client_secret": credentials.client_secret if _is_reference(credentials.client_secret) else MASK,
            "scope": credentials.scope,
            **({} if credentials.issuer is None else {"issuer": credentials.issuer}),
        }
    return value


def masked_command(spec: ServerSpec) -> tuple[str, ...]:
    """Return the command of a launch with its secrets masked, word by word, for whoever may quote it."""
    return tuple(shown for _, shown in _arguments(spec.command))


def words_of_line(program: str) -> tuple[str, ...]:
    """Return the words of a program that is really a whole command line, secrets masked; nothing for a mere path."""
    words = tuple(program.split())
    is_path = "/" in program or "\\" in program
    if len(words) < 2 or (is_path and not any(word.startswith("-") for word in words[1:])):
        return ()
    return tuple(shown for _, shown in _arguments(words))


def launch_fingerprint(spec: ServerSpec) -> str:
    """Return the digest of a launch, `k1:<hex>`; the lock binds a server's definitions to it."""
    return digest(launch_value(spec))


def launch_text(spec: ServerSpec) -> str:
    """Return one line that tells people what is started or reached, without secrets."""
    if spec.transport is Transport.STDIO:
        line = shlex.join(shown for _, shown in _arguments(spec.command))
        return escape(line if spec.cwd in ("", ".") else f"{line} (in {spec.cwd})")
    if spec.transport is Transport.SURFACE:
        return escape(f"surface {spec.surface}")
    if spec.transport is Transport.IMPORT:
        return f"`{excerpt(spec.imported)}` of a client configuration"
    return escape(mask_url(spec.url))


def literal_secrets(spec: ServerSpec) -> tuple[LiteralSecret, ...]:
    """Return every secret that stands in a launch as written, in the order of the entry's keys."""
    return tuple(
        LiteralSecret(spec.name, pointer, name, spec.file, spec.line, spec.column) for pointer, name in _literals(spec)
    )


def _literals(spec: ServerSpec) -> Iterator[tuple[str, str]]:
    previous = ""
    for index, ((argument, shown), _) in enumerate(zip(_arguments(spec.command), spec.command, strict=True)):
        if argument != shown:
            option = argument.partition("=")[0] if "=" in argument else previous
            yield f"/command/{index}", option if option.startswith("-") else "argument"
        previous = argument
    if spec.url and _userinfo_masked(spec.url) != spec.url:
        yield "/url", "password"
    for name, value in _query(spec.url):
        if value and not _is_reference(value) and looks_secret(name, value):
            yield "/url", name
    for section, pairs in (("env", spec.env), ("headers", spec.headers)):
        for name, text in pairs:
            if _masked(name, text) != text:
                yield f"/{section}/{escape_token(name)}", name
    if spec.client_credentials is not None and not _is_reference(spec.client_credentials.client_secret):
        yield "/auth/client_credentials/client_secret", "client_secret"


def _is_reference(text: str) -> bool:
    """Tell whether a value consists of references, blanks and punctuation alone."""
    literal = _literal_text(text)
    return literal != text and not literal.strip(" :,;=")


def _literal_text(text: str) -> str:
    try:
        return "".join(part.text for part in parse_value(text) if isinstance(part, Text))
    except ReferenceSyntaxError:
        return text


def _masked(name: str, text: str) -> str:
    """Return a value as written, or the mask where it is a literal secret."""
    literal = _literal_text(text)
    if literal == text:
        return MASK if looks_secret(name, text) else text
    # Beside a reference the literal part is a scheme or a prefix, unless it has a token's format itself.
    return MASK if is_secret_value(literal) else text


def _arguments(command: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield (argument, argument with secrets masked)."""
    option = ""
    for argument in command:
        name, equals, value = argument.partition("=")
        if equals and _masked(name, value) != value:
            yield argument, f"{name}={MASK}"
        else:
            yield argument, _masked("" if argument.startswith("-") else option, argument)
        option = argument if argument.startswith("-") and not equals and is_secret_name(argument) else ""


_AUTHORITY = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*://)([^/?#]*)@")


def mask_url(url: str) -> str:
    """Return a URL whose password and query values are masked and whose fragment is gone; references stay."""
    base, question, _ = _userinfo_masked(url).partition("#")[0].partition("?")
    pairs = [f"{name}={value if _is_reference(value) else MASK}" if value else name for name, value in _query(url)]
    return f"{base}{question}{'&'.join(pairs)}"


def _userinfo_masked(url: str) -> str:
    match = _AUTHORITY.match(url)
    if match is None or _is_reference(match[2]):
        return url
    user, colon, password = match[2].partition(":")
    if colon and _is_reference(password):
        return url
    shown = f"{user}:{MASK}" if colon else MASK
    return f"{match[1]}{shown}@{url[match.end() :]}"


def _query(url: str) -> list[tuple[str, str]]:
    query = url.partition("#")[0].partition("?")[2]
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return [(name, value) for name, _, value in pairs]
