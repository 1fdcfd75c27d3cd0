"""A launch with every literal secret replaced by a reference, and the variables that then have to be set."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from keel.core.jsontext import escape_token
from keel.core.model import ServerSpec
from keel.manifest.launch import MASK as MASKED
from keel.manifest.launch import LiteralSecret, launch_value, literal_secrets
from keel.manifest.secretlike import is_secret_value, looks_secret

_SCHEME = re.compile(r"(Bearer|Basic|Token)\s+\S+", re.IGNORECASE)
_PASSWORD = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@:]*:)?)[^/?#]*@")


@dataclass(frozen=True, slots=True)
class NewSecret:
    """A secret that stood in a launch as written; its value is not kept."""

    name: str
    """The name that references use."""
    variable: str
    """The environment variable to set."""
    server: str
    held_by: str
    """The variable, header, option or parameter that holds it."""
    file: str


def without_secrets(spec: ServerSpec, server: str, taken: Collection[str] = ()) -> tuple[ServerSpec, list[NewSecret]]:
    """Return a launch that holds references where it held literal secrets.

    Args:
        spec: the launch as a client configuration has it.
        server: the server's name in the manifest, from which names of secrets are made.
        taken: names of secrets that mean something else already.

    Returns:
        (launch, secrets in the order of the launch's parts). One value under one name is one secret.
    """
    found: dict[str, NewSecret] = {}
    for literal in literal_secrets(spec):
        name = _name(server, literal.name, {*taken, *found})
        changed = _replaced(spec, literal, name)
        if changed != spec:
            spec = changed
            found[name] = NewSecret(name, variable_for(name), server, literal.name, spec.file)
    return spec, list(found.values())


def variable_for(secret: str) -> str:
    """Return the environment variable that a secret of this name is read from unless the project says otherwise."""
    return re.sub(r"[^A-Z0-9_]", "_", secret.upper())


def _name(server: str, held_by: str, taken: Collection[str]) -> str:
    """Return a name such as `search_api_key`, distinct from those that are taken."""
    owner, own = _slug(server), _slug(held_by)
    name = own if owner in own.split("_") or own.startswith(f"{owner}_") else f"{owner}_{own}"
    name = name[:100] if name[:1].isalpha() else f"secret_{name[:90]}"
    return next(each for each in (name, *(f"{name}_{count}" for count in range(2, 1000))) if each not in taken)


def _slug(text: str) -> str:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    return re.sub(r"[^a-z0-9]+", "_", snake.lower()).strip("_") or "value"


def _replaced(spec: ServerSpec, literal: LiteralSecret, name: str) -> ServerSpec:
    section, _, rest = literal.pointer.removeprefix("/").partition("/")
    reference = f"${{secret:{name}}}"
    if section == "command":
        index = int(rest)
        shown = str(launch_value(spec)["command"][index])
        text = f"secret://{name}" if shown == MASKED else shown.replace(MASKED, reference)
        return replace(spec, command=(*spec.command[:index], text, *spec.command[index + 1 :]))
    if section == "url":
        return replace(spec, url=_url(spec.url, literal.name, reference))
    if section == "env":
        return replace(spec, env=_pairs(spec.env, rest, lambda _: f"secret://{name}"))
    if section == "headers":
        return replace(spec, headers=_pairs(spec.headers, rest, lambda text: _header(text, name)))
    return spec


def _pairs(pairs: tuple[tuple[str, str], ...], token: str, value: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    return tuple((key, value(text) if escape_token(key) == token else text) for key, text in pairs)


def _header(text: str, name: str) -> str:
    """Return a header's value; of `Bearer …` the scheme stays readable."""
    scheme = _SCHEME.fullmatch(text.strip())
    return f"{scheme[1]} ${{secret:{name}}}" if scheme else f"secret://{name}"


def _url(url: str, held_by: str, reference: str) -> str:
    base, mark, query = url.partition("#")[0].partition("?")
    if held_by == "password" and _PASSWORD.match(base):
        return _PASSWORD.sub(lambda match: f"{match[1]}{reference}@", url, count=1)
    pairs = [_parameter(pair, held_by, reference) for pair in query.split("&")]
    return f"{base}{mark}{'&'.join(pairs)}"


def _parameter(pair: str, held_by: str, reference: str) -> str:
    name, equals, value = pair.partition("=")
    secret = name == held_by and (looks_secret(name, value) or is_secret_value(value)) and "${" not in value
    return f"{name}{equals}{reference}" if secret else pair
