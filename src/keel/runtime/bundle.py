"""A bundle as the run time holds it: opened only when every byte is as its index says, and read into values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from keel.bundle.contents import MANIFEST, RUNTIME
from keel.bundle.interface import Verifier
from keel.bundle.reading import UnreadableError, read_plain
from keel.bundle.verify import Demands, verify
from keel.core.digest import digest_bytes
from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.jsontext import JsonSyntaxError, parse_strict
from keel.core.model import FrozenTool, Grant, Manifest, SecretSource, ServerSpec, split_key
from keel.core.text import escape
from keel.lockfile.model import Lock

T = TypeVar("T")
_MOST_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """One flow as it was checked."""

    name: str
    """What it is called by: short, or `module:flow`."""
    module: str
    function: str
    file: str
    entry: bool
    """Whether it can be started alone."""
    is_async: bool
    parameters: tuple[str, ...]
    tools: tuple[str, ...]
    """Keys that the flow, its sub-flows and its agents may call, sorted."""
    servers: tuple[str, ...]
    """Servers of these tools, sorted: what preflight looks at."""
    graph: Mapping[str, Any] = field(repr=False)
    """As `bundle.graphs.bound_graph` made it: `nodes`, `edges`, `covers`."""


@dataclass(frozen=True, slots=True)
class NativePlace:
    """Where a native tool is defined."""

    module: str
    function: str
    """Qualified name within the module."""
    file: str = ""
    """Relative to the project."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """One difference from the lock that a person accepted."""

    code: str
    key: str
    digest: str
    until: date
    """Last day, in UTC, on which it is accepted."""


@dataclass(frozen=True)
class Bundle:
    """Everything that may be called, and on what conditions; frozen."""

    project: str
    digest: str
    """`sha256:<hex>` of the whole file."""
    manifest: Manifest
    lock: Lock
    servers: Mapping[str, ServerSpec]
    """Launches looked up and references unresolved, by name."""
    secrets: Mapping[str, SecretSource]
    tools: Mapping[str, FrozenTool]
    """Every frozen tool by key; only those that `admits` are callable."""
    flows: Mapping[str, FlowPlan]
    natives: Mapping[str, NativePlace]
    sources: Mapping[str, bytes] = field(repr=False)
    """Path relative to the project to the bytes that were checked."""
    source_roots: tuple[str, ...] = (".", "src")
    """Folders of the project from which module names count, in the order in which they are searched."""
    acknowledged: tuple[Acknowledged, ...] = ()
    freeze_timing: str = "deploy_time"
    sequence: int = 0

    @classmethod
    def open(
        cls,
        source: Path | bytes,
        *,
        verifier: Verifier | None = None,
        allow_unsigned: bool = False,
        min_sequence: int | None = None,
    ) -> Bundle:
        """Open a bundle, or refuse it with every reason.

        Args:
            source: the file, or its bytes.
            verifier: knows the signers that are accepted.
            allow_unsigned: whether a bundle without a signature is opened; without `verifier`, one that anybody signed
                too.
            min_sequence: the lowest `sequence` that is accepted.

        Raises:
            InputErrors: `bundle-invalid` for everything that is missing, extra, altered or cannot be read,
                `bundle-unsigned`, `bundle-signer-unknown`, `bundle-signature-invalid`, `bundle-outdated`.
            OSError: if the file cannot be read.
        """
        data, file = (source, "bundle") if isinstance(source, bytes) else (_bytes(source), source.name)
        verified = verify(data, file, Demands(verifier, allow_unsigned, min_sequence))
        if verified.findings or verified.lock is None:
            raise InputErrors(verified.findings)
        return _read(verified.index, verified.members, verified.lock, file, digest_bytes(data))

    def grant(self, key: str) -> Grant | None:
        """Return the manifest's grant that decides for a tool."""
        return self.manifest.grant_for(key)

    def admits(self, key: str) -> bool:
        """Tell whether a tool may be called at all: frozen, granted, and of a server that may be reached."""
        return key in self._admitted

    @property
    def admitted(self) -> tuple[str, ...]:
        """Keys of all callable tools, sorted."""
        return tuple(self._admitted)

    @cached_property
    def _admitted(self) -> Mapping[str, None]:
        return dict.fromkeys(key for key in sorted(self.tools) if self._allows(key))

    def _allows(self, key: str) -> bool:
        server, _ = split_key(key)
        listed = self.manifest.servers
        reachable = not server or (
            server in self.servers and (listed is None or any(spec.name == server for spec in listed))
        )
        return reachable and self.manifest.admits(key)


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def _read(index: Mapping[str, Any], members: Mapping[str, bytes], lock: Lock, file: str, digest: str) -> Bundle:
    reader = _Reader(members, file)
    manifest = reader.value(MANIFEST, lambda held: read_plain(Manifest, held)) or Manifest()
    runtime = reader.value(RUNTIME, _Runtime.of) or _Runtime()
    plans = [
        reader.value(name, _plan) for name in sorted(members) if name.startswith("flows/") and name.endswith(".json")
    ]
    if reader.findings:
        raise InputErrors(reader.findings)
    return Bundle(
        project=str(index.get("project", "")),
        digest=digest,
        manifest=manifest,
        lock=lock,
        servers=MappingProxyType({spec.name: spec for spec in runtime.servers}),
        secrets=MappingProxyType({source.name: source for source in runtime.secrets}),
        tools=MappingProxyType(lock.frozen_tools()),
        flows=MappingProxyType({plan.name: plan for plan in plans if plan is not None}),
        natives=MappingProxyType(dict(runtime.natives)),
        sources=MappingProxyType(
            {name.removeprefix("sources/"): data for name, data in members.items() if name.startswith("sources/")}
        ),
        source_roots=runtime.source_roots,
        acknowledged=runtime.acknowledged,
        freeze_timing=str(index.get("freeze_timing", "deploy_time")),
        sequence=int(index.get("sequence", 0)),
    )


@dataclass(frozen=True, slots=True)
class _SourceRoots:
    source_roots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Runtime:
    servers: tuple[ServerSpec, ...] = ()
    secrets: tuple[SecretSource, ...] = ()
    source_roots: tuple[str, ...] = ()
    natives: tuple[tuple[str, NativePlace], ...] = ()
    acknowledged: tuple[Acknowledged, ...] = ()

    @classmethod
    def of(cls, held: Any) -> _Runtime:
        return cls(
            tuple(read_plain(ServerSpec, item, f"/servers/{i}") for i, item in enumerate(held["servers"])),
            tuple(read_plain(SecretSource, {"name": name, **item}) for name, item in sorted(held["secrets"].items())),
            read_plain(_SourceRoots, {"source_roots": held["source_roots"]}).source_roots,
            tuple((key, read_plain(NativePlace, item)) for key, item in sorted(held["native"].items())),
            tuple(read_plain(Acknowledged, item, f"/acknowledged/{i}") for i, item in enumerate(held["acknowledged"])),
        )


def _plan(held: Any) -> FlowPlan:
    graph = held["graph"]
    return FlowPlan(
        name=held["flow"],
        module=graph["module"],
        function=graph["name"],
        file=graph["file"],
        entry=graph["entry"],
        is_async=graph["async"],
        parameters=tuple(graph["parameters"]),
        tools=tuple(graph["tools"]),
        servers=tuple(graph["servers"]),
        graph=graph,
    )


@dataclass
class _Reader:
    """Reads members and keeps what is wrong with them."""

    members: Mapping[str, bytes]
    file: str
    findings: list[Finding] = field(default_factory=list)

    def value(self, name: str, read: Callable[[Any], T]) -> T | None:
        """Return what a member holds, or None if it cannot be read, which is then noted."""
        try:
            return read(parse_strict(self.members[name]))
        except KeyError as error:
            missing = name not in self.members
            what = "is missing" if missing else f"lacks {error}"
            self._note(name, f"{what}; it was made by an older keel")
        except UnreadableError as error:
            self._note(name, f"cannot be read: {error}")
        except JsonSyntaxError as error:
            self._note(name, f"is damaged: {error.message}")
        except (TypeError, AttributeError, ValueError) as error:
            self._note(name, f"has another shape: {error}")
        return None

    def _note(self, name: str, what: str) -> None:
        message = f"member `{escape(name)}` of `{escape(self.file)}` {escape(what)}"
        at = Location(file=self.file, pointer=escape(name))
        self.findings.append(finding("bundle-invalid", message, location=at, next="run `keel bundle` again"))
