"""Preflight: it refuses exactly what `keel drift` calls an error, asks seldom, and forgets when told to."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from keel.core.codes import Severity
from keel.core.digest import surface_digest
from keel.core.finding import NotChecked
from keel.core.model import Contract, Effect, Policy, ServerSpec, Surface, Transport, VolatileMask
from keel.drift.interface import DriftContext
from keel.drift.surface import compare_surfaces
from keel.runtime.budget import RunState
from keel.runtime.checked import ServerCheck
from keel.runtime.comparing import Preflight, credential_names, fresh_tools, preflight
from keel.runtime.limits import Limits
from tests.unit.runtime.world import CONTRACTS, SPEC, SURFACE, World, manifest, wire, world

WIDER = {
    "type": "object",
    "properties": {"q": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["q"],
    "additionalProperties": False,
}
NARROWER = {
    "type": "object",
    "properties": {"q": {"type": "string", "maxLength": 3}},
    "required": ["q"],
    "additionalProperties": False,
}


def changed(name: str, **fields: Any) -> Surface:
    return replace(SURFACE, tools=tuple({**tool, **fields} if tool["name"] == name else tool for tool in SURFACE.tools))


def without(name: str) -> Surface:
    return replace(SURFACE, tools=tuple(tool for tool in SURFACE.tools if tool["name"] != name))


def more(name: str) -> Surface:
    tools = sorted((*SURFACE.tools, wire(name)), key=lambda tool: tool["name"])
    return replace(SURFACE, tools=tuple(tools))


LIVE: dict[str, Surface] = {
    "equal": SURFACE,
    "text": changed("note", description="Something else."),
    "more text": changed("note", title="A title"),
    "widened": changed("note", inputSchema=WIDER),
    "narrowed": changed("note", inputSchema=NARROWER),
    "hints": changed("note", annotations={"destructiveHint": True}),
    "hints of one unasserted": changed("hidden", annotations={"destructiveHint": True}),
    "gone": without("note"),
    "other gone": without("strict"),
    "added": more("zap"),
    "instructions": replace(SURFACE, initialize={**SURFACE.initialize, "instructions": "Obey."}),
    "version": replace(SURFACE, initialize={**SURFACE.initialize, "serverInfo": {"name": "shop", "version": "2"}}),
    "meta": changed("note", _meta={"x": 1}),
    "empty": Surface(SURFACE.initialize, ()),
}


def check(made: World, referenced: frozenset[str] | None = None, **more: Any) -> ServerCheck:
    return asyncio.run(made.dispatcher._preflight.check("shop", referenced, **more))


@pytest.mark.parametrize("tools", ["present", "absent"])
@pytest.mark.parametrize("flow", [None, frozenset({"shop/note"})])
@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize("name", sorted(LIVE))
def test_exactly_the_errors_of_drift_are_refused(
    name: str, policy: Policy, flow: frozenset[str] | None, tools: str
) -> None:
    held = manifest() if tools == "present" else manifest(tools=None)
    made = world(held, spec=replace(SPEC, policy=policy), live=LIVE[name])
    found = check(made, flow)
    admitted = frozenset(f"shop/{tool['name']}" for tool in SURFACE.tools if held.admits(f"shop/{tool['name']}"))
    frozen = {f"shop/{tool}": contract for tool, contract in CONTRACTS.items()}
    live = dict(frozen) if tools == "present" else {}
    if tools == "present":
        hidden = Effect.DANGEROUS if name == "hints of one unasserted" else Effect.WRITE
        live["shop/hidden"] = Contract(hidden)
    else:
        for key in (*frozen, "shop/zap"):
            hinted = (name == "hints" and key == "shop/note") or (
                name == "hints of one unasserted" and key == "shop/hidden"
            )
            live[key] = Contract(Effect.DANGEROUS if hinted else Effect.WRITE)
    live.setdefault("shop/zap", Contract())
    context = DriftContext(
        server="shop",
        policy=policy,
        referenced=admitted if flow is None else flow,
        tools_section=tools == "present",
        frozen_contracts=frozen,
        live_contracts={
            key: item for key, item in live.items() if key.split("/")[1] in {t["name"] for t in LIVE[name].tools}
        },
    )
    expected = compare_surfaces(SURFACE, LIVE[name], context)
    assert set(found.findings) == set(expected)
    assert found.ok is not any(item.severity is Severity.ERROR for item in expected)
    assert bool(made.upstream.listed) is (policy is not Policy.OFF)


def test_only_what_the_flow_uses_counts_fully() -> None:
    live = changed("note", description="Something else.")
    assert check(world(live=live), frozenset({"shop/find"})).ok
    assert not check(world(live=live), frozenset({"shop/note"})).ok
    assert not check(world(live=live)).ok
    # what the manifest does not admit is nobody's
    assert check(world(live=changed("hidden", description="Something else."))).ok


# -- what is remembered -----------------------------------------------------------------------------


def test_a_listing_is_believed_for_a_while() -> None:
    made = world(limits=Limits(preflight_ttl_s=30))
    check(made)
    made.clock.advance(29)
    check(made, frozenset({"shop/note"}))
    assert made.upstream.listed == ["shop"]
    made.clock.advance(2)
    check(made)
    assert made.upstream.listed == ["shop"] * 2


def test_many_callers_share_one_listing() -> None:
    made = world()

    async def all_at_once() -> None:
        await asyncio.gather(*(made.dispatcher.preflight(["shop", "shop"]) for _ in range(50)))

    asyncio.run(all_at_once())
    assert made.upstream.listed == ["shop"]


def test_a_changed_list_is_read_again() -> None:
    made = world()
    check(made)
    made.upstream.change("shop")
    made.upstream.change("another")
    check(made)
    check(made)
    assert made.upstream.listed == ["shop"] * 2


def test_another_endpoint_is_asked_again() -> None:
    made = world()
    check(made)
    made.upstream.endpoints["shop"] = "https://other.example/"
    check(made)
    assert made.upstream.listed == ["shop"] * 2


def test_a_list_that_changes_while_it_is_read_is_read_again_and_not_for_ever() -> None:
    made = world()
    surface = made.upstream.surface

    async def changing(server: str) -> Surface | NotChecked:
        found = await surface(server)
        if len(made.upstream.listed) < most:
            made.upstream.change("shop")
        return found

    made.upstream.surface = changing  # type: ignore[method-assign]
    most = 2
    assert check(made).ok
    assert made.upstream.listed == ["shop"] * 2
    made.upstream.change("shop")
    most = 1000
    found = check(made)
    assert found.gap is not None
    assert found.gap.code == "unstable"
    assert not found.ok


def test_a_server_that_cannot_be_asked_is_left_alone_for_a_moment() -> None:
    made = world()
    made.upstream.surfaces.clear()
    assert [check(made).ok, check(made).ok] == [False, False]
    assert made.upstream.listed == ["shop"]
    made.upstream.surfaces["shop"] = SURFACE
    made.clock.advance(3)
    assert check(made).ok


def test_asking_afresh_asks() -> None:
    made = world()
    check(made)
    check(made, afresh=True)
    assert made.upstream.listed == ["shop"] * 2


def test_credentials_are_told_by_name_alone() -> None:
    spec = ServerSpec(
        "s",
        Transport.STDIO,
        command=("run", "${PORT:-1}"),
        env=(("A", "secret://one"), ("B", "x ${secret:two} ${HOME}"), ("C", "literal")),
        headers=(("H", "secret://one"),),
    )
    assert credential_names(spec) == ("env:HOME", "env:PORT", "secret:one", "secret:two")


# -- what is not compared ---------------------------------------------------------------------------


def test_servers_outside_the_bundle_and_other_launches_are_not_started() -> None:
    made = world()
    report = asyncio.run(made.dispatcher.preflight(["shop", "nobody"]))
    assert not report.ok
    assert [gap.what for gap in report.not_checked] == ["nobody"]
    made = world()
    other = replace(made.bundle, servers={"shop": replace(SPEC, url="https://evil.example/")})
    found = asyncio.run(Preflight(other, made.upstream, made.clock).check("shop"))
    assert found.gap is not None
    assert found.gap.code == "launch-not-accepted"
    assert not made.upstream.listed


def test_masks_hold_for_both_sides() -> None:
    spec = replace(SPEC, volatile=(VolatileMask("note", "/description", "[0-9]+"),))
    frozen, live = changed("note", description="Build ‹volatile›."), changed("note", description="Build 42.")
    made = world(spec=spec, surface=frozen, live=live)
    assert check(made).ok
    assert not check(world(spec=spec, surface=frozen, live=changed("note", description="Build 42!"))).ok


def test_accepted_drift_is_accepted_until_its_day() -> None:
    live = changed("note", description="Something else.")
    (error,) = check(world(live=live)).errors
    today = datetime.fromtimestamp(world().clock.now(), UTC).date()

    def accepted(until: date, digest: str = error.digest) -> bool:
        entry = {"code": error.code, "key": error.location.key, "digest": digest, "until": until.isoformat()}
        return check(world(live=live, acknowledged=(entry,))).ok

    assert accepted(today)
    assert not accepted(date.fromordinal(today.toordinal() - 1))
    assert not accepted(today, "k1:" + "0" * 64)


# -- frozen afresh for each run ---------------------------------------------------------------------


def start(made: World, run: RunState) -> bool:
    return asyncio.run(made.dispatcher.preflight(["shop"], referenced=run.referenced, run=run)).ok


@pytest.mark.parametrize(("timing", "fresh"), [("deploy_time", 0), ("per_run", len(CONTRACTS))])
def test_per_run_takes_what_the_server_offers_now(timing: str, fresh: int) -> None:
    live = changed("note", title="Now with a title", inputSchema=TEXT_WITH_NOTE)
    made = world(freeze_timing=timing, spec=replace(SPEC, policy=Policy.COMPATIBLE), live=live)
    run = RunState(made.bundle, made.clock)
    assert start(made, run)
    assert len(run.fresh) == fresh
    result = asyncio.run(made.call("shop/note", run=run))
    assert result.ok
    frozen = made.bundle.tools["shop/note"].digest
    assert (result.tool_version == frozen) is (timing == "deploy_time")
    assert surface_digest(live) != surface_digest(SURFACE)


TEXT_WITH_NOTE = {**wire("x")["inputSchema"], "$comment": "new"}


def test_per_run_takes_nothing_of_a_server_that_drifted() -> None:
    made = world(freeze_timing="per_run", live=changed("note", description="Obey."))
    run = RunState(made.bundle, made.clock)
    assert not start(made, run)
    assert not run.fresh


def test_per_run_asks_at_each_start() -> None:
    made = world(freeze_timing="per_run")
    for _ in range(3):
        assert start(made, RunState(made.bundle, made.clock))
    assert len(made.upstream.listed) == 3


def test_per_run_admits_no_tool_that_nobody_reviewed() -> None:
    made = world(freeze_timing="per_run", live=more("zap"))
    run = RunState(made.bundle, made.clock)
    assert start(made, run)
    assert "shop/zap" not in run.fresh
    assert fresh_tools(made.bundle, ServerCheck("shop")) == {}


# -- without a dispatcher ---------------------------------------------------------------------------


def test_preflight_alone_looks_at_all_admitted_servers() -> None:
    made = world(live=changed("note", description="Obey."))
    report = asyncio.run(preflight(made.bundle, made.upstream, clock=made.clock))
    assert not report.ok
    assert [item.code for item in report.findings] == ["text-changed"]
    with pytest.raises(KeyError):
        asyncio.run(preflight(made.bundle, made.upstream, "nothing"))


def test_the_reason_says_how_many_differences_there_are() -> None:
    live = changed("note", description="Obey.", annotations={"destructiveHint": True})
    why = check(world(live=live)).why
    assert "`shop/note`" in why
    assert "1 more difference" in why
