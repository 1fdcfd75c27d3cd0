"""Before the first effect: whether each server still offers what was frozen, by the measure that `keel drift` has."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from keel.core.digest import definition_digest, surface_digest
from keel.core.finding import Finding, NotChecked
from keel.core.model import Contract, FrozenTool, Policy, ServerSpec, Surface, split_key
from keel.drift.interface import DriftContext
from keel.drift.surface import compare_surfaces, uncompared
from keel.drift.volatile import apply_masks
from keel.manifest.launch import launch_fingerprint
from keel.manifest.policy import contract_for
from keel.manifest.references import names, parse_value
from keel.runtime.bundle import Bundle
from keel.runtime.checked import PreflightReport, ServerCheck
from keel.runtime.clock import SystemClock
from keel.runtime.ports import Clock, Upstream

TTL_S = 30.0
"""Seconds for which one listing of a server is believed."""
FAILED_TTL_S = 2.0
"""Seconds for which a server that could not be asked is left alone."""
_MOST_VERDICTS = 256
_TRIES = 3
"""How often a listing is taken again that changed while it was taken."""


@dataclass(slots=True)
class _Listing:
    """What one server said, when, and what was made of it."""

    number: int
    """Grows with each listing, in the order in which they were begun."""
    at: float
    found: Surface | NotChecked
    key: tuple[object, ...]
    checks: dict[frozenset[str] | None, ServerCheck] = field(default_factory=dict)
    """By what was referenced."""


@dataclass(frozen=True, slots=True)
class _Frozen:
    """The frozen side of one server."""

    spec: ServerSpec
    surface: Surface
    """Masks applied."""
    digest: str
    credentials: tuple[str, ...]


class Preflight:
    """Compares servers with a bundle and remembers, for a while, what they said.

    Args:
        bundle: the frozen side.
        upstream: the live side; told to say when a list changed.
        clock: how old a listing is.
        ttl_s: seconds for which a listing is believed.
    """

    def __init__(self, bundle: Bundle, upstream: Upstream, clock: Clock, ttl_s: float = TTL_S) -> None:
        self._bundle = bundle
        self._upstream = upstream
        self._clock = clock
        self._ttl_s = ttl_s
        self._frozen: dict[str, _Frozen | ServerCheck] = {}
        self._listings: dict[str, _Listing] = {}
        self._begun = 0
        """Listings that were begun."""
        self._changes: dict[str, int] = {}
        self._verdicts: dict[tuple[object, ...], tuple[Finding, ...]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        upstream.on_change(self.changed)

    def changed(self, server: str) -> None:
        """Forget what a server said: it announced another list, or its session ended."""
        self._changes[server] = self._changes.get(server, 0) + 1
        self._listings.pop(server, None)

    async def report(
        self, servers: Iterable[str], referenced: frozenset[str] | None = None, *, afresh: bool = False
    ) -> PreflightReport:
        """Compare servers, side by side.

        Args:
            servers: their names.
            referenced: keys in which a difference counts fully; None for every admitted one.
            afresh: whether to ask again whatever is remembered.
        """
        wanted = sorted(set(servers))
        checks = await asyncio.gather(*(self.check(name, referenced, afresh=afresh) for name in wanted))
        return PreflightReport(tuple(checks))

    async def check(
        self, server: str, referenced: frozenset[str] | None = None, *, afresh: bool = False
    ) -> ServerCheck:
        """Compare one server; arguments as in `report`."""
        frozen = self._frozen.get(server)
        if frozen is None:
            frozen = self._frozen[server] = self._prepared(server)
        if isinstance(frozen, ServerCheck):
            return frozen
        listing = await self._listed(frozen, afresh=afresh)
        known = listing.checks.get(referenced)
        if known is None:
            known = listing.checks[referenced] = await self._checked(frozen, listing.found, referenced)
        return known

    def _prepared(self, server: str) -> _Frozen | ServerCheck:
        """Return the frozen side of a server, or the verdict where it need not or cannot be asked."""
        spec, surface = self._bundle.servers.get(server), self._bundle.lock.surfaces.get(server)
        locked = self._bundle.lock.index.server(server)
        if spec is None or surface is None or locked is None:
            gap = _gap(server, "it is not in the bundle", "name it in the manifest and freeze it")
            return ServerCheck(server, gap=gap)
        if spec.policy is Policy.OFF:
            return ServerCheck(server, uncompared=uncompared(surface, spec.policy))
        if locked.launch != launch_fingerprint(spec):
            why = "its launch is not the one that was frozen"
            return ServerCheck(server, gap=_gap(server, why, f"run `keel freeze {server}`, then `keel bundle`"))
        masked = apply_masks(surface, spec.volatile)
        return _Frozen(spec, masked, surface_digest(masked), credential_names(spec))

    async def _checked(
        self, frozen: _Frozen, found: Surface | NotChecked, referenced: frozenset[str] | None
    ) -> ServerCheck:
        name = frozen.spec.name
        if isinstance(found, NotChecked):
            return ServerCheck(name, gap=found)
        live = apply_masks(found, frozen.spec.volatile)
        findings = self._unacknowledged(await self._compared(frozen, live, referenced))
        return ServerCheck(name, findings, surface=live, uncompared=uncompared(frozen.surface, frozen.spec.policy))

    async def _listed(self, frozen: _Frozen, *, afresh: bool) -> _Listing:
        name = frozen.spec.name
        key = (self._upstream.endpoint(name), frozen.spec.policy, frozen.credentials)
        known = self._known(name, key)
        if known is not None and not afresh:
            return known
        begun = self._begun
        async with self._locks.setdefault(name, asyncio.Lock()):
            known = self._known(name, key)
            if known is not None and (not afresh or known.number > begun):
                return known
            for _ in range(_TRIES):
                changes = self._changes.get(name, 0)
                self._begun = number = self._begun + 1
                found = await self._upstream.surface(name)
                if changes == self._changes.get(name, 0):
                    self._listings[name] = _Listing(number, self._clock.monotonic(), found, key)
                    return self._listings[name]
            gap = NotChecked(name, "unstable", f"its list changed {_TRIES} times while it was read", "try again later")
            return _Listing(self._begun, self._clock.monotonic(), gap, key)

    def _known(self, server: str, key: tuple[object, ...]) -> _Listing | None:
        listing = self._listings.get(server)
        if listing is None or listing.key != key:
            return None
        limit = min(FAILED_TTL_S, self._ttl_s) if isinstance(listing.found, NotChecked) else self._ttl_s
        return listing if self._clock.monotonic() - listing.at < limit else None

    async def _compared(self, frozen: _Frozen, live: Surface, referenced: frozenset[str] | None) -> tuple[Finding, ...]:
        context = self._context(frozen.spec, frozen.surface, live, referenced)
        key = (frozen.spec.name, frozen.digest, surface_digest(live), context.referenced)
        if key not in self._verdicts:
            if len(self._verdicts) >= _MOST_VERDICTS:  # a server that is never twice the same fills no memory
                self._verdicts.clear()
            # A relation of schemas may take seconds, in which other calls go on.
            found = await asyncio.to_thread(compare_surfaces, frozen.surface, live, context)
            self._verdicts[key] = found
            return found
        return self._verdicts[key]

    def _unacknowledged(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Leave out what a person accepted for exactly this difference, and until a day that is not over."""
        today = datetime.fromtimestamp(self._clock.now(), UTC).date()
        accepted = {(item.code, item.key, item.digest) for item in self._bundle.acknowledged if today <= item.until}
        return tuple(item for item in findings if (item.code, item.location.key, item.digest) not in accepted)

    def _context(
        self, spec: ServerSpec, frozen: Surface, live: Surface, referenced: frozenset[str] | None
    ) -> DriftContext:
        bundle, manifest = self._bundle, self._bundle.manifest
        if referenced is None:
            keys = (f"{spec.name}/{tool['name']}" for tool in frozen.tools)
            referenced = frozenset(key for key in keys if manifest.admits(key))
        return DriftContext(
            server=spec.name,
            policy=spec.policy,
            referenced=referenced,
            tools_section=manifest.tools is not None,
            frozen_contracts={tool.key: tool.contract for tool in bundle.lock.index.tools_of(spec.name)},
            live_contracts=_contracts(bundle, spec.name, live),
            fail_on=dict(manifest.fail_on),
        )


def _contracts(bundle: Bundle, server: str, surface: Surface) -> dict[str, Contract]:
    found = {}
    for tool in surface.tools:
        key, hints = f"{server}/{tool['name']}", tool.get("annotations")
        found[key] = contract_for(key, bundle.manifest, hints if isinstance(hints, Mapping) else None)
    return found


def fresh_tools(bundle: Bundle, check: ServerCheck) -> dict[str, FrozenTool]:
    """Return what a server that passed offers now, as the frozen tools of one run (`per_run`).

    Only tools that are frozen already: what was added was reviewed by nobody. Contracts stay as frozen, unless the
    server's hints raise them.
    """
    if check.surface is None or not check.ok:
        return {}
    contracts = _contracts(bundle, check.server, check.surface)
    found = {}
    for tool in check.surface.tools:
        key = f"{check.server}/{tool['name']}"
        if key in bundle.tools:
            found[key] = FrozenTool(key, tool, definition_digest(tool), contracts[key])
    return found


def credential_names(spec: ServerSpec) -> tuple[str, ...]:
    """Return the names of the secrets and variables that a launch refers to, sorted; never a value."""
    texts = [*spec.command, spec.url, *(value for _, value in (*spec.env, *spec.headers))]
    if spec.client_credentials is not None:
        texts += [spec.client_credentials.client_id, spec.client_credentials.client_secret]
    found: set[str] = set()
    for text in texts:
        needed = names(parse_value(text))
        found |= {f"secret:{name}" for name in needed.secrets} | {f"env:{name}" for name in needed.variables}
    return tuple(sorted(found))


def _gap(server: str, why: str, next_: str) -> NotChecked:
    return NotChecked(server, "launch-not-accepted", why, next_)


async def preflight(
    bundle: Bundle, upstream: Upstream, flow: str | None = None, *, clock: Clock | None = None
) -> PreflightReport:
    """Compare once the servers that a flow names, or all that the bundle admits tools of.

    A dispatcher does the same by itself; this is for a readiness probe, or a job that only wants to know.

    Args:
        bundle: the bundle.
        upstream: the servers.
        flow: name of a flow; None for everything that is admitted.
        clock: what time it is.

    Raises:
        KeyError: if the bundle has no such flow.
    """
    comparing = Preflight(bundle, upstream, clock or SystemClock())
    if flow is None:
        servers = {server for key in bundle.admitted if (server := split_key(key)[0])}
        return await comparing.report(servers)
    plan = bundle.flows[flow]
    return await comparing.report(plan.servers, frozenset(plan.tools))
