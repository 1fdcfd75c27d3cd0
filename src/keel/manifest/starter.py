"""The starter files of a project: a commented manifest and configuration from MCP client configurations, no secret."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from keel.core.model import ServerSpec, Transport
from keel.core.text import excerpt
from keel.manifest import words
from keel.manifest.launch import launch_text, literal_secrets
from keel.manifest.references import names, parse_value
from keel.manifest.scalars import scalar
from keel.manifest.servers import ClientConfig
from keel.manifest.unsecret import NewSecret, variable_for, without_secrets

SCHEMA_FILE = "keel.schema.json"
"""The manifest's JSON Schema, which lies beside it for editors."""

_HEAD = f"""\
# yaml-language-server: $schema={SCHEMA_FILE}
# What the agents of this project may call. In every section: absent allows anything, empty allows nothing.
version: 1

# What holds where nobody said anything yet: a tool may do anything, and what it returns must not steer other calls.
defaults:
  unasserted_effect: dangerous
  returns: untrusted

"""
_SERVERS = """\
# The servers that may be used, and no others. `import` takes the launch from a client configuration of `keel.toml`.
servers:
"""
_NO_SERVERS = """\
# The servers that may be used: none yet. For example:
#   search:
#     command: [uvx, "search-mcp==2.3.1"]
#     env: {API_KEY: "secret://search_api_key"}
#   tickets:
#     url: https://tickets.example/mcp
servers: {}
"""
_TOOLS = """\

# The tools that may be called. Until this section stands any tool of these servers may be; with it, no other.
# After `keel freeze`, `keel show --grants` prints a line for each tool. Review each line before it stands here:
# tools:
#   - {tool: search/query, effect: read, idempotency: native}
#   - {tool: billing/refund, effect: dangerous, idempotency: none, approval: true}
"""
_CALLED = """\

# The tools that may be called: those that the flows of this project name, and no others. Nobody vouches for them yet,
# so that each counts as dangerous. After `keel freeze`, `keel show --grants` prints a line with effect and idempotency
# for each: review it, and put it in place of the plain name.
tools:
"""
_PROPOSED = """\

# Proposed from what the frozen tools hint, to be reviewed line by line: a hint may be wrong, or a lie.
"""
_CONFIG_HEAD = "# Settings of this keel project; `keel schema config` prints them all.\n"


@dataclass(frozen=True, slots=True)
class Source:
    """One client configuration that servers are taken from."""

    client: ClientConfig
    importable: bool
    """Whether the configuration names it, or may, so that launches can stay there."""


@dataclass(frozen=True, slots=True)
class Starter:
    """The text of the starter files, and what is to be said about them."""

    manifest: str
    config: str
    imports: tuple[str, ...] = ()
    """The client configurations that `mcp-config` must name."""
    servers: tuple[str, ...] = ()
    """Names in the manifest."""
    secrets: tuple[NewSecret, ...] = ()
    """Literal secrets that were not copied."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Secret to the environment variable that `secrets` must name."""
    notes: tuple[str, ...] = ()
    """What a person should look at."""


@dataclass(slots=True)
class _Entry:
    """One server on its way into the manifest."""

    name: str
    spec: ServerSpec
    """Without literal secrets."""
    given: ServerSpec
    written_out: bool
    others: list[str] = field(default_factory=list)
    """Client configurations with another launch under the same name."""
    repeats: list[str] = field(default_factory=list)
    """All further client configurations that have the name."""
    secrets: list[NewSecret] = field(default_factory=list)


def start(sources: Sequence[Source], *, called: Sequence[str] = (), proposed: Sequence[str] = ()) -> Starter:
    """Return the starter files for servers of client configurations.

    Launches stay in client configurations that lie in the project, under `import`; one that holds a secret outside
    `env` and `headers`, or that two files give differently, is written out with references instead.

    Args:
        sources: the client configurations.
        called: keys of the tools that flows call; with any, no other tool may be called.
        proposed: manifest lines for frozen tools, which become comments.
    """
    entries = list(_entries(sources))
    imports = _imports(entries, sources)
    for entry in entries:
        entry.written_out = entry.written_out or entry.spec.file not in imports
    notes = [_conflict(entry) for entry in entries if entry.others]
    notes.extend(note for entry in entries if entry.written_out for note in _trim(entry))
    kept = [entry for entry in entries if not literal_secrets(entry.spec)]
    notes.extend(
        f"server `{entry.name}` of `{entry.spec.file}` is left out: its secret could not be told from its launch"
        for entry in entries
        if entry not in kept
    )
    needed = dict(sorted(_needed(kept).items()))
    return Starter(
        manifest=_manifest(kept) + _tools(called, proposed),
        config=_config(imports, needed),
        imports=imports,
        servers=tuple(entry.name for entry in kept),
        secrets=tuple(secret for entry in kept for secret in entry.secrets if secret.name in needed),
        sources=needed,
        notes=tuple(notes),
    )


def _entries(sources: Iterable[Source]) -> Iterator[_Entry]:
    by_name: dict[str, _Entry] = {}
    taken: set[str] = set()
    secrets: set[str] = set()
    for source in sources:
        for given in source.client.servers:
            known = by_name.get(given.name)
            if known is not None:
                known.repeats.append(given.file)
                if _launch(known.given) != _launch(given):
                    known.written_out = True
                    known.others.append(given.file)
                continue
            name = _short(given.name, taken)
            taken.add(name.casefold())
            spec, found = without_secrets(given, name, secrets)
            secrets.update(secret.name for secret in found)
            stays = source.importable and _can_stay(given, spec)
            entry = _Entry(name, spec, given, written_out=not stays, secrets=found)
            by_name[given.name] = entry
            yield entry


def _launch(spec: ServerSpec) -> tuple[object, ...]:
    return (spec.transport, spec.command, spec.url, spec.env, spec.headers, spec.pass_env, spec.cwd)


def _can_stay(given: ServerSpec, spec: ServerSpec) -> bool:
    """Tell whether an `import`, with `env` and `headers` beside it, can say what the launch without secrets is."""
    changed = {name for name, _ in {*spec.env} - {*given.env}}
    sayable = all(re.fullmatch(words.VARIABLE, name) for name in changed)
    same = (spec.command, spec.url) == (given.command, given.url)
    return same and sayable and re.fullmatch(words.PLAIN, given.name) is not None


def _trim(entry: _Entry) -> Iterator[str]:
    """Leave out what a manifest cannot say, and say so."""
    spec = entry.spec
    passed = tuple(name for name in spec.pass_env if re.fullmatch(words.VARIABLE, name))
    env = tuple(pair for pair in spec.env if re.fullmatch(words.VARIABLE, pair[0]))
    headers = tuple(pair for pair in spec.headers if re.fullmatch(words.PLAIN, pair[0]))
    for name, _ in sorted({*spec.env, *spec.headers} - {*env, *headers}):
        yield f"`{excerpt(name, 60)}` of server `{entry.name}` is left out: no variable or header is named so"
    entry.spec = replace(spec, env=env, headers=headers, pass_env=passed)


def _short(name: str, taken: Collection[str]) -> str:
    """Return a server's name in keel: its own, or the last part of a gallery name; distinct whatever the case."""
    short = name if re.fullmatch(words.SERVER_NAME, name) else name.rstrip("/").rpartition("/")[2]
    short = re.sub(r"[^A-Za-z0-9._-]+", "-", short).strip("-._")[:55]
    if not re.fullmatch(words.SERVER_NAME, short):
        short = "server"
    return next(
        each for each in (short, *(f"{short}-{count}" for count in range(2, 10_000))) if each.casefold() not in taken
    )


def _imports(entries: Collection[_Entry], sources: Iterable[Source]) -> tuple[str, ...]:
    """Return the client configurations that launches stay in.

    A file whose server is written out under another name is not among them: keel would miss that server in `servers`.
    What else stands in such a file is then written out too, which may rename servers of further files.
    """
    left: set[str] = set()
    while True:
        written = [entry for entry in entries if entry.written_out or entry.given.file in left]
        renamed = {
            file for entry in written if entry.name != entry.given.name for file in (entry.given.file, *entry.repeats)
        }
        if renamed <= left:
            break
        left |= renamed
    files = {entry.given.file for entry in entries if not entry.written_out} - left
    return tuple(source.client.file for source in sources if source.client.file in files)


def _conflict(entry: _Entry) -> str:
    shown = " and ".join(f"`{file}`" for file in dict.fromkeys(entry.others))
    return f"server `{entry.name}` has another launch in {shown}; the manifest has that of `{entry.given.file}`"


def _needed(entries: Iterable[_Entry]) -> dict[str, str]:
    """Return every secret that launches refer to, with the variable it is read from."""
    return {
        name: variable_for(name)
        for entry in entries
        for text in (*entry.spec.command, entry.spec.url, *(text for _, text in (*entry.spec.env, *entry.spec.headers)))
        for name in names(parse_value(text)).secrets
    }


def _manifest(entries: Sequence[_Entry]) -> str:
    if not entries:
        return f"{_HEAD}{_NO_SERVERS}"
    lines = "".join(f"{line}\n" for entry in entries for line in _server(entry))
    return f"{_HEAD}{_SERVERS}{lines}"


def _tools(called: Sequence[str], proposed: Sequence[str]) -> str:
    sayable = [key for key in called if re.fullmatch(words.TOOL_KEY, key)]
    grants = "".join(f"  - {scalar(key)}\n" for key in sayable)
    comments = "".join(f"#   {line}\n" for line in proposed)
    section = f"{_CALLED}{grants}" if grants else _TOOLS
    return f"{section}{_PROPOSED}{comments}" if comments else section


def _server(entry: _Entry) -> Iterator[str]:
    spec = entry.spec
    yield f"  # {spec.file}: {launch_text(spec)}"
    yield f"  {scalar(entry.name)}:"
    if not entry.written_out:
        yield f"    import: {scalar(entry.given.name)}"
        yield from _table("env", [pair for pair in spec.env if pair not in entry.given.env])
        yield from _table("headers", [pair for pair in spec.headers if pair not in entry.given.headers])
        return
    if spec.transport is Transport.STDIO:
        yield f"    command: [{', '.join(scalar(text) for text in spec.command)}]"
        yield from _table("env", spec.env)
        if spec.pass_env:
            yield f"    pass_env: [{', '.join(map(scalar, spec.pass_env))}]"
        if spec.cwd != "." and re.fullmatch(words.RELATIVE, spec.cwd):
            yield f"    cwd: {scalar(spec.cwd)}"
    else:
        yield f"    url: {scalar(spec.url)}"
        yield from _table("headers", spec.headers)


def _table(key: str, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    if pairs:
        yield f"    {key}:"
        yield from (f"      {scalar(name)}: {scalar(text)}" for name, text in pairs)


def _config(imports: Sequence[str], secrets: Mapping[str, str]) -> str:
    parts = [_CONFIG_HEAD]
    if imports:
        files = ", ".join(_toml(file) for file in imports)
        parts.append(f"\n# Client configurations that the manifest imports launches from.\nmcp-config = [{files}]\n")
    parts.append('\n# Model providers whose limits on tool definitions are checked too.\n# targets = ["anthropic"]\n')
    if secrets:
        parts.append("\n# Secrets by name, and the environment variable that each is read from.\n[secrets]\n")
        parts.extend(f"{_bare(name)} = {_toml(variable)}\n" for name, variable in secrets.items())
    return "".join(parts)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _bare(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)
