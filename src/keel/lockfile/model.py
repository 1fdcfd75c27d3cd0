"""What the lock holds: an index that people review, and one surface file per server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from keel.core.model import Contract, Effect, FrozenTool, Idempotency, Json, Policy, Surface, split_key

VERSION = 1
"""Format of the index; a newer one is refused."""

NATIVE_SURFACE = "_native"
"""File name, without suffix, of the surface that holds the project's own tools; no server name begins with `_`."""


@dataclass(frozen=True, slots=True)
class LockedServer:
    """What the index says of one server."""

    name: str
    identity: str
    """`serverInfo` name and version."""
    protocol: str
    """Negotiated protocol revision."""
    capabilities: tuple[str, ...]
    """Sorted names of the server's capabilities."""
    instructions: str
    """Digest of the instructions; empty when there are none."""
    surface: str
    """Digest of the whole surface file."""
    policy: Policy
    launch: str
    """Fingerprint of the launch that gave the surface."""


@dataclass(frozen=True, slots=True)
class LockedTool:
    """What the index says of one tool, on one line."""

    key: str
    effect: Effect
    idempotency: Idempotency
    asserted: bool
    definition: str
    """Definition digest."""
    source: str = ""
    """Native tools: fingerprint of the interface in the source."""
    body: str = ""
    """Native tools: fingerprint of the body."""

    @property
    def contract(self) -> Contract:
        """The contract as frozen."""
        return Contract(self.effect, self.idempotency, self.asserted)

    @property
    def surface(self) -> str:
        """Name of the surface file that holds the definition."""
        return split_key(self.key)[0] or NATIVE_SURFACE


@dataclass(frozen=True, slots=True)
class LockIndex:
    """The reviewed index, `keel.lock`."""

    servers: tuple[LockedServer, ...] = ()
    tools: tuple[LockedTool, ...] = ()

    def server(self, name: str) -> LockedServer | None:
        """Return one server's entry."""
        return next((server for server in self.servers if server.name == name), None)

    def tools_of(self, surface: str) -> tuple[LockedTool, ...]:
        """Return the tools whose definitions one surface file holds."""
        return tuple(tool for tool in self.tools if tool.surface == surface)


@dataclass(frozen=True)
class Lock:
    """A verified lock: every digest of the index matches its surface file."""

    index: LockIndex = field(default_factory=LockIndex)
    surfaces: Mapping[str, Surface] = field(default_factory=dict)
    """By server name; `_native` holds the project's own tools."""

    def frozen_tools(self) -> dict[str, FrozenTool]:
        """Return every frozen tool by key."""
        return dict(self._frozen_tools)

    def wires(self) -> dict[str, Mapping[str, Json]]:
        """Return every frozen definition by tool key."""
        return {key: tool.wire for key, tool in self._frozen_tools.items()}

    @cached_property
    def _frozen_tools(self) -> dict[str, FrozenTool]:
        wires: dict[str, Mapping[str, Json]] = {}
        for name, surface in self.surfaces.items():
            prefix = "" if name == NATIVE_SURFACE else f"{name}/"
            wires.update((f"{prefix}{tool.get('name')}", tool) for tool in surface.tools)
        return {
            locked.key: FrozenTool(locked.key, wires[locked.key], locked.definition, locked.contract)
            for locked in self.index.tools
        }


def identity_of(surface: Surface) -> str:
    """Return `name version` of a server as it calls itself, or an empty string."""
    info = surface.initialize.get("serverInfo")
    if not isinstance(info, Mapping):
        return ""
    parts = (info.get("name"), info.get("version"))
    return " ".join(part for part in parts if isinstance(part, str) and part)


def protocol_of(surface: Surface) -> str:
    """Return the protocol revision that a surface was captured under, or an empty string."""
    value = surface.initialize.get("protocolVersion")
    return value if isinstance(value, str) else ""


def capabilities_of(surface: Surface) -> tuple[str, ...]:
    """Return the sorted names of a server's capabilities."""
    value = surface.initialize.get("capabilities")
    return tuple(sorted(value)) if isinstance(value, Mapping) else ()
