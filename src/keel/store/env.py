"""The environment of child processes, and launches with every reference resolved; secrets are read nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from keel.core.finding import NotChecked
from keel.core.launch import Failure, Launch
from keel.core.model import ClientCredentials, ServerSpec, Transport
from keel.core.text import escape
from keel.manifest.references import MissingReferences, names, parse_value, resolve
from keel.store.secrets import CommandSecret, Source, read_secret

BASE_VARIABLES = tuple(
    """
    APPDATA COMSPEC HOME LOCALAPPDATA LOGNAME PATH PATHEXT PROGRAMDATA PROGRAMFILES
    SYSTEMDRIVE SYSTEMROOT TEMP TMP TMPDIR USER USERNAME USERPROFILE
    LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME
    ALL_PROXY HTTPS_PROXY HTTP_PROXY NO_PROXY all_proxy http_proxy https_proxy no_proxy
    CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS PIP_CERT REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE
    NPM_CONFIG_CACHE NPM_CONFIG_REGISTRY NPM_CONFIG_USERCONFIG npm_config_cache npm_config_registry
    PIP_CACHE_DIR PIP_CONFIG_FILE PIP_EXTRA_INDEX_URL PIP_INDEX_URL
    UV_CACHE_DIR UV_CONFIG_FILE UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_INDEX UV_INDEX_URL
    UV_NATIVE_TLS UV_PYTHON_INSTALL_DIR UV_TOOL_DIR
    XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
    """.split()  # noqa: SIM905 - one variable a line would be a page
)
"""The variables that every child process gets when they are set; all others need `pass_env` or `env`.

By line: where things are, locale, proxies, certificate authorities, caches and registries of the usual launchers.
"""

_SECRET_NAME = re.compile(
    r"token|secret|passw|pwd|(api|access|private)[_-]?key|credential|authorization|cookie", re.IGNORECASE
)
_SHORTEST_GUESS = 8
"""Shorter values are not taken for secrets because of their name alone."""
_USERINFO = re.compile(r"[a-z][a-z0-9+.-]*://[^/@\s:]*:([^/@\s]+)@", re.IGNORECASE)


def child_environment(environ: Mapping[str, str], pass_env: Iterable[str], env: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of a child process: `BASE_VARIABLES`, those passed on, and those set.

    Args:
        environ: keel's own environment.
        pass_env: names of further variables to pass on; those not set are left out.
        env: resolved values, which win.
    """
    passed = {name: environ[name] for name in (*BASE_VARIABLES, *pass_env) if name in environ}
    return {**passed, **env}


def resolve_launch(
    spec: ServerSpec,
    *,
    root: Path,
    environ: Mapping[str, str],
    secrets: Iterable[Source] = (),
    timeout_override: float | None = None,
    login: Callable[[str], None] | None = None,
    shortest: int = 0,
) -> Launch | Failure:
    """Resolve the launch of one server; nothing is contacted.

    Args:
        spec: the server as configured.
        root: the project's folder, from which paths count.
        environ: keel's environment.
        secrets: sources of the secrets; only those that the launch refers to are read.
        timeout_override: seconds per phase in place of the server's own.
        login: shows a login page to the person at the keyboard; without it `attended` servers are left alone.
        shortest: shorter values, in characters, are refused as secrets.

    Returns:
        The launch, or why there is none: `missing-variable` or `secret-too-short`, with every field and variable, or
        `attended`.

    Raises:
        ReferenceSyntaxError: if a value's references cannot be read.
    """
    if spec.attended and login is None:
        why = f"`{escape(spec.name)}` is marked `attended`: it needs a person to log in"
        return Failure(spec.name, NotChecked(spec.name, "attended", why, f"run `keel freeze {spec.name} --login`"))
    reader = _Reader(root, environ, {source.name: source for source in secrets}, shortest)
    argv = tuple(reader.read(f"command[{index}]", word) for index, word in enumerate(spec.command))
    url = reader.read("url", spec.url)
    env = {name: reader.read(f"env.{name}", value) for name, value in spec.env}
    headers = {name: reader.read(f"headers.{name}", value) for name, value in spec.headers}
    credentials = _credentials(spec.client_credentials, reader)
    gap = _gap(spec.name, reader)
    if gap is not None:
        return Failure(spec.name, gap)
    passed = {name: environ[name] for name in (*BASE_VARIABLES, *spec.pass_env) if name in environ}
    return Launch(
        name=spec.name,
        transport=spec.transport,
        argv=argv,
        env=child_environment(environ, spec.pass_env, env) if spec.transport is Transport.STDIO else {},
        cwd=root / _at_home(spec.cwd, environ) if spec.transport is Transport.STDIO else None,
        url=url,
        headers=headers,
        timeout_s=spec.timeout_s if timeout_override is None else timeout_override,
        primitives=spec.primitives,
        secrets=tuple(sorted({*reader.secrets, *_guessed({**passed, **env, **headers, "url": url})})),
        client_credentials=credentials,
        login=login if spec.attended else None,
        surface=root / spec.surface if spec.surface else None,
        volatile=spec.volatile,
    )


def _gap(server: str, reader: _Reader) -> NotChecked | None:
    """Return what the values of a launch lack, or None if they are all there."""
    if reader.missing:
        return NotChecked(server, "missing-variable", f"`{escape(server)}`: {'; '.join(reader.missing)}", _SET)
    if reader.short:
        which = ", ".join(f"`{name}`" for name in sorted(reader.short))
        why = f"`{escape(server)}`: secret {which} has fewer than {reader.shortest} characters"
        return NotChecked(server, "secret-too-short", why, _LONGER)
    return None


_SET = "set the variable, or name the secret's source under `secrets` in the project configuration"
_LONGER = "use a longer value: one this short cannot be told from innocent text, so it could not be kept out of logs"


def _credentials(given: ClientCredentials | None, reader: _Reader) -> ClientCredentials | None:
    if given is None:
        return None
    at = "auth.client_credentials"
    client_id = reader.read(f"{at}.client_id", given.client_id)
    client_secret = reader.read(f"{at}.client_secret", given.client_secret)
    reader.secrets.add(client_secret)
    scope = None if given.scope is None else reader.read(f"{at}.scope", given.scope)
    issuer = None if given.issuer is None else reader.read(f"{at}.issuer", given.issuer)
    return ClientCredentials(client_id, client_secret, scope, issuer)


@dataclass
class _Reader:
    """Resolves values and remembers what was secret and what was missing."""

    root: Path
    environ: Mapping[str, str]
    sources: Mapping[str, Source]
    shortest: int = 0
    short: set[str] = field(default_factory=set)
    """Names of secrets whose values are too short."""
    secrets: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)

    def read(self, place: str, text: str) -> str:
        """Return a value with its references resolved; empty when something is missing, which is then noted."""
        needed = names(parse_value(text))
        values = {name: self._secret(name) for name in needed.secrets}
        known = {name: value for name, value in values.items() if value is not None}
        try:
            resolved = resolve(text, variables=self.environ, secrets=known)
        except MissingReferences as error:
            for name in error.variables:
                self.missing.append(f"`{place}` needs environment variable `{name}`, which is not set")
            for name in error.secrets:
                self.missing.append(f"`{place}` needs secret `{name}`, {self._lacks(name)}")
            return ""
        self.secrets.update(known.values())
        self.secrets.update(_guessed({name: self.environ.get(name, "") for name in needed.variables}))
        return resolved

    def _secret(self, name: str) -> str | None:
        source = self.sources.get(name)
        value = None if source is None else read_secret(source, self.root, self.environ)
        if value is not None and len(value) < self.shortest:
            self.short.add(name)
        return value

    def _lacks(self, name: str) -> str:
        source = self.sources.get(name)
        if source is None:
            return "which has no source under `secrets`"
        if isinstance(source, CommandSecret):
            return f"which the command `{escape(source.argv[0])}` is to print, and it failed or printed nothing"
        if source.env:
            return f"which is read from environment variable `{source.env}`, which is not set"
        return f"which is read from file `{escape(source.file)}`, which is missing, empty or not text"


def _guessed(values: Mapping[str, str]) -> Iterator[str]:
    """Yield what is secret by the look of it: by its name, or as a password inside a URL."""
    for name, value in values.items():
        yield from _USERINFO.findall(value)
        if _SECRET_NAME.search(name):
            # `Authorization: Bearer …`: the scheme is no part of the secret.
            secret = value.rpartition(" ")[2]
            if len(secret) >= _SHORTEST_GUESS and not secret.isdigit():
                yield secret


def _at_home(path: str, environ: Mapping[str, str]) -> str:
    home = environ.get("HOME")
    return f"{home}{path[1:]}" if home and (path == "~" or path.startswith("~/")) else path
