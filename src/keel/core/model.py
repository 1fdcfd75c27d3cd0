"""The values that every layer speaks of: tools, contracts, surfaces, grants, launches, the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

Json = Any
"""A JSON value."""


class Effect(StrEnum):
    """What a call does to the world, from harmless to worst."""

    READ = "read"
    WRITE = "write"
    EXTERNAL = "external"
    DANGEROUS = "dangerous"

    @property
    def rank(self) -> int:
        """0 is harmless."""
        return list(Effect).index(self)


EFFECT_ALIASES: Mapping[str, Effect] = {
    "none": Effect.READ,
    "write_reversible": Effect.WRITE,
    "write_irreversible": Effect.DANGEROUS,
    "external_communication": Effect.EXTERNAL,
}
"""Other spellings of effects that the manifest and `@tool` understand."""


class Idempotency(StrEnum):
    """What repeating a call does."""

    NONE = "none"
    BEST_EFFORT = "best_effort"
    NATIVE = "native"
    """Naturally repeatable."""
    REQUIRED = "required"
    """The server honours an idempotency key."""

    @property
    def repeatable(self) -> bool:
        """Whether the same call may be sent again."""
        return self in (Idempotency.NATIVE, Idempotency.REQUIRED)


class DataClass(StrEnum):
    """How confidential data is, from open to most restricted."""

    PUBLIC = "public"
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    RESTRICTED = "restricted"

    @property
    def rank(self) -> int:
        """0 is open."""
        return list(DataClass).index(self)


class Trust(StrEnum):
    """Whether what a tool returns may steer a call."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class Policy(StrEnum):
    """How strictly drift compares a server with the lock."""

    PIN = "pin"
    COMPATIBLE = "compatible"
    NAMES = "names"
    OFF = "off"


class Transport(StrEnum):
    """How a server is reached."""

    STDIO = "stdio"
    HTTP = "http"
    SURFACE = "surface"
    SSE = "sse"
    """The transport that streamable HTTP replaced; reported as `transport-unsupported`, never contacted."""
    IMPORT = "import"
    """The launch stands in a client configuration and has not been looked up yet."""


NATIVE = ""
"""The server part of a native tool's key."""


def split_key(key: str) -> tuple[str, str]:
    """Split a tool key into (server, tool); the server of a native tool is empty."""
    server, slash, tool = key.partition("/")
    return (server, tool) if slash else (NATIVE, key)


@dataclass(frozen=True, slots=True)
class Contract:
    """Effect and idempotency of a tool, and who says so."""

    effect: Effect = Effect.WRITE
    idempotency: Idempotency = Idempotency.NONE
    asserted: bool = False
    """A person asserted it: the manifest for MCP tools, the manifest or `@tool` for native ones."""

    @property
    def raceable(self) -> bool:
        """Whether a call may be cancelled at an unknown point or doubled without harm."""
        if not self.asserted or self.effect is Effect.DANGEROUS:
            return False
        return self.effect is Effect.READ or self.idempotency.repeatable

    @property
    def retryable(self) -> bool:
        """Whether the same call may be sent again after its answer was lost."""
        return self.asserted and (self.effect is Effect.READ or self.idempotency.repeatable)


@dataclass(frozen=True, slots=True)
class Grant:
    """One entry of the manifest's `tools`; `server/*` grants have no contract."""

    tool: str
    """Tool key, or `server/*`."""
    effect: Effect | None = None
    idempotency: Idempotency | None = None
    approval: bool = False
    max_calls: int | None = None
    returns: Trust | None = None
    """None follows `defaults.returns`."""
    data_class: DataClass | None = None
    key: tuple[str, ...] = ()
    """Arguments that identify the resource."""
    owner: str | None = None
    permission: str | None = None
    timeout_s: float | None = None
    max_attempts: int | None = None
    confirmation: str | None = None
    reason: str | None = None
    line: int = 0
    column: int = 0

    @property
    def is_wildcard(self) -> bool:
        """Whether this grants every tool of a server."""
        return self.tool.endswith("/*")


@dataclass(frozen=True, slots=True)
class VolatileMask:
    """Text of a definition that legitimately differs by machine."""

    tool: str
    """Tool name; empty for the server's instructions."""
    pointer: str
    match: str
    """A linear regular expression."""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class SecretSource:
    """Where a secret's value comes from: exactly one of `env` and `file` is not empty."""

    name: str
    env: str = ""
    """Environment variable."""
    file: str = ""
    """Path, relative to the project or absolute."""


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """OAuth client-credentials grant (RFC 6749 section 4.4); values may be references."""

    client_id: str
    client_secret: str
    scope: str | None = None
    issuer: str | None = None
    """The authorization server that gave the credentials; None lets the MCP server's metadata name one."""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How one server is reached, compared and trusted; values as written, references unresolved."""

    name: str
    transport: Transport
    command: tuple[str, ...] = ()
    url: str = ""
    surface: str = ""
    imported: str = ""
    """Name in the client configuration that the launch is taken from; empty when the manifest gives the launch."""
    env: tuple[tuple[str, str], ...] = ()
    """Sorted (name, value as written)."""
    headers: tuple[tuple[str, str], ...] = ()
    pass_env: tuple[str, ...] = ()
    cwd: str = "."
    client_credentials: ClientCredentials | None = None
    attended: bool = False
    version: str | None = None
    """PEP 440 range on serverInfo.version."""
    policy: Policy = Policy.PIN
    own: bool = False
    publisher: str | None = None
    artifact_digest: str | None = None
    reviewed_at: date | None = None
    review_expires_at: date | None = None
    primitives: tuple[str, ...] = ("tools",)
    volatile: tuple[VolatileMask, ...] = ()
    max_data_class: DataClass | None = None
    timeout_s: float = 60.0
    """Seconds per phase: spawn, first reply, list."""
    file: str = ""
    """Project file that configures it: the manifest or a client configuration."""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the manifest says where a server or a grant says nothing."""

    unasserted_effect: Effect = Effect.WRITE
    returns: Trust = Trust.TRUSTED
    policy: Policy = Policy.PIN
    timeout_s: float = 60.0
    primitives: tuple[str, ...] = ("tools",)


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of one run; None is unbounded."""

    cost_usd: float | None = None
    tokens: int | None = None
    wall_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The capability manifest as values. In each section None is absent (unconstrained) and empty allows nothing."""

    file: str = ""
    """Path relative to the project; empty when there is no manifest."""
    defaults: Defaults = field(default_factory=Defaults)
    servers: tuple[ServerSpec, ...] | None = None
    tools: tuple[Grant, ...] | None = None
    reasoners: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    scopes: tuple[str, ...] | None = None
    network: tuple[str, ...] | None = None
    budget: Budget | None = None
    fail_on: tuple[tuple[str, str], ...] = ()
    """Sorted (drift kind, severity or never)."""
    lines: tuple[tuple[str, int], ...] = ()
    """Sorted (RFC 6901 pointer, 1-based line) of sections and list entries, for locating findings."""

    @property
    def exists(self) -> bool:
        """Whether a manifest file was read."""
        return bool(self.file)

    def grant_for(self, key: str) -> Grant | None:
        """Return the grant that decides for a tool key; an exact one wins over `server/*`."""
        wildcard = None
        server, _ = split_key(key)
        for grant in self.tools or ():
            if grant.tool == key:
                return grant
            if server and grant.tool == f"{server}/*":
                wildcard = grant
        return wildcard

    def admits(self, key: str) -> bool:
        """Tell whether the `tools` section allows a tool key."""
        return self.tools is None or self.grant_for(key) is not None


@dataclass(frozen=True, slots=True)
class NativeDeclaration:
    """What `@tool` says of a native tool."""

    effect: Effect = Effect.WRITE
    idempotent: bool = False


@dataclass(frozen=True, slots=True)
class FrozenTool:
    """One tool as the lock holds it."""

    key: str
    wire: Mapping[str, Json]
    """The whole definition in `k1` normal form: `name`, `description`, `inputSchema`, `outputSchema`, …"""
    digest: str
    """Definition digest, `k1:<hex>`."""
    contract: Contract

    @property
    def input_schema(self) -> Json:
        """The frozen input schema, or None when the server sent none."""
        return self.wire.get("inputSchema")

    @property
    def output_schema(self) -> Json:
        """The frozen output schema, or None."""
        return self.wire.get("outputSchema")


@dataclass(frozen=True, slots=True)
class Surface:
    """What one server says of itself: a surface file as values, tools sorted by name, in `k1` normal form."""

    initialize: Mapping[str, Json] = field(default_factory=dict)
    """`protocolVersion`, `serverInfo`, `capabilities`, `instructions`."""
    tools: tuple[Mapping[str, Json], ...] = ()
    prompts: tuple[Mapping[str, Json], ...] | None = None
    resources: tuple[Mapping[str, Json], ...] | None = None
    resource_templates: tuple[Mapping[str, Json], ...] | None = None

    @property
    def instructions(self) -> str | None:
        """The server's instructions to the model."""
        value = self.initialize.get("instructions")
        return value if isinstance(value, str) else None

    @property
    def server_version(self) -> str:
        """`serverInfo.version`, or an empty string."""
        info = self.initialize.get("serverInfo")
        version = info.get("version") if isinstance(info, Mapping) else None
        return version if isinstance(version, str) else ""
