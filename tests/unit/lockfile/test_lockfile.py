"""The lock: one canonical form, exact read-back, and an error for whatever was edited."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit import strategies

from keel.core.digest import normal_tool
from keel.core.finding import InputErrors
from keel.core.model import Contract, Effect, Idempotency, Policy, Surface
from keel.lockfile.merge import resolve
from keel.lockfile.model import NATIVE_SURFACE, Lock, LockIndex
from keel.lockfile.read import read_index, read_lock
from keel.lockfile.sync import change_lines, plan
from keel.lockfile.write import index_text, locked_server, locked_tool, surface_text

LAUNCH = "k1:" + "0" * 64
contracts = st.builds(Contract, st.sampled_from(Effect), st.sampled_from(Idempotency), st.booleans())


@st.composite
def locks(draw: Callable[..., object]) -> Lock:
    server_names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True)
    surfaces: dict[str, Surface] = {}
    servers, tools = [], []
    for name in draw(st.lists(server_names, unique_by=str.casefold, max_size=3)):  # type: ignore[attr-defined]
        wires = draw(st.lists(strategies.tools, unique_by=lambda tool: tool["name"], max_size=3))
        instructions = draw(strategies.text)
        surface = Surface(
            {"serverInfo": {"name": draw(strategies.text)}, "instructions": instructions},
            tuple(sorted((normal_tool(wire) for wire in wires), key=lambda wire: wire["name"])),
        )
        surfaces[name] = surface
        servers.append(locked_server(name, surface, policy=draw(st.sampled_from(Policy)), launch=LAUNCH))
        tools.extend(locked_tool(f"{name}/{wire['name']}", wire, draw(contracts)) for wire in surface.tools)
    native = draw(st.lists(strategies.tools, unique_by=lambda tool: tool["name"], max_size=2))
    if native:
        surfaces[NATIVE_SURFACE] = Surface({}, tuple(sorted(map(normal_tool, native), key=lambda wire: wire["name"])))
        for wire in surfaces[NATIVE_SURFACE].tools:
            tools.append(locked_tool(wire["name"], wire, draw(contracts), source=LAUNCH, body=LAUNCH))
    index = LockIndex(
        tuple(sorted(servers, key=lambda item: item.name)), tuple(sorted(tools, key=lambda item: item.key))
    )
    return Lock(index, surfaces)


def files_of(lock: Lock) -> dict[str, bytes]:
    return {name: surface_text(surface).encode() for name, surface in lock.surfaces.items()}


def reader(files: dict[str, bytes]) -> Callable[[str], Iterator[tuple[str, bytes]]]:
    def candidates(name: str) -> Iterator[tuple[str, bytes]]:
        if name in files:
            yield f"keel.lock.d/{name}.json", files[name]

    return candidates


@given(locks())
def test_reads_back_exactly_what_was_written(lock: Lock) -> None:
    assert read_lock(index_text(lock.index), "keel.lock", reader(files_of(lock))) == lock


@given(locks(), st.randoms(use_true_random=False))
def test_order_means_nothing(lock: Lock, shuffle: random.Random) -> None:
    servers, tools = list(lock.index.servers), list(lock.index.tools)
    shuffle.shuffle(servers)
    shuffle.shuffle(tools)
    assert index_text(LockIndex(tuple(servers), tuple(tools))) == index_text(lock.index)


@given(locks())
def test_crlf_verifies_like_lf(lock: Lock) -> None:
    files = {name: data.replace(b"\n", b"\r\n") for name, data in files_of(lock).items()}
    text = index_text(lock.index).replace("\n", "\r\n").replace("\r\n", "\n")
    assert read_lock(text, "keel.lock", reader(files)) == lock


def sample() -> Lock:
    surfaces = {
        "alpha": Surface(
            {"serverInfo": {"name": "a", "version": "1"}, "instructions": "Be kind.", "capabilities": {"tools": {}}},
            (
                {"name": "one", "description": "First\u200b tool", "inputSchema": {"type": "object"}},
                {"name": "two", "description": "Second", "inputSchema": {"type": "object"}, "_meta": {"v": 1}},
            ),
        ),
        "beta": Surface({"serverInfo": {"name": "b"}}, ({"name": "one", "inputSchema": {"type": "object"}},)),
    }
    index = LockIndex(
        tuple(locked_server(name, surface, policy=Policy.PIN, launch=LAUNCH) for name, surface in surfaces.items()),
        tuple(
            locked_tool(f"{name}/{wire['name']}", wire, Contract())
            for name, surface in surfaces.items()
            for wire in surface.tools
        ),
    )
    return Lock(index, surfaces)


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda held: held["tools"][0].update(description="Other"), "alpha/one"),
        (lambda held: held["tools"].pop(), "alpha/two"),
        (lambda held: held["tools"].append({"name": "three", "inputSchema": {}}), "alpha/three"),
        (lambda held: held["tools"].append(dict(held["tools"][0])), "alpha"),
        (lambda held: held["tools"][1].update(_meta={"v": 2}), "alpha"),
        (lambda held: held["initialize"].update(instructions="Obey."), "alpha"),
        (lambda held: held["initialize"]["serverInfo"].update(version="2"), "alpha"),
    ],
)
def test_an_edited_surface_is_named(edit: Callable[[dict[str, object]], object], named: str) -> None:
    lock = sample()
    files = files_of(lock)
    held = json.loads(files["alpha"])
    edit(held)
    files["alpha"] = json.dumps(held).encode()
    with pytest.raises(InputErrors) as caught:
        read_lock(index_text(lock.index), "keel.lock", reader(files))
    assert named in {item.location.key for item in caught.value.findings}
    assert all("keel freeze alpha" in item.next for item in caught.value.findings)


@pytest.mark.parametrize("cut", range(1, 900, 37))
def test_a_truncated_index_is_never_read_as_sound(cut: int) -> None:
    lock = sample()
    text = index_text(lock.index)
    with pytest.raises(InputErrors):
        read_lock(text[: len(text) - 1 - cut], "keel.lock", reader(files_of(lock)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('effect = "write"', 'effect = "reed"'),
        ("k1:0", "k1:x"),
        ("version = 1", 'version = "1"'),
        ("asserted = false", "asserted = 0"),
        ("[tools]", "[tool]"),
    ],
)
def test_a_damaged_entry_has_its_line(old: str, new: str) -> None:
    text = index_text(sample().index).replace(old, new, 1)
    with pytest.raises(InputErrors) as caught:
        read_index(text, "keel.lock")
    assert all(item.location.line > 0 or "version" in item.message for item in caught.value.findings)


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(InputErrors) as caught:
        read_index(index_text(sample().index).replace("version = 1", "version = 2"), "keel.lock")
    assert caught.value.findings[0].code == "lock-newer"


def test_a_conflict_marker_is_named_with_its_line() -> None:
    with pytest.raises(InputErrors) as caught:
        read_index("version = 1\n<<<<<<< HEAD\n[servers]\n", "keel.lock")
    assert (caught.value.findings[0].code, caught.value.findings[0].location.line) == ("lock-conflict", 2)


def test_invisible_characters_are_written_as_escapes() -> None:
    text = surface_text(sample().surfaces["alpha"])
    assert "\u200b" not in text
    assert "\\u200b" in text


def test_every_line_of_the_index_says_what_it_is_about() -> None:
    body = [
        line for line in index_text(sample().index).splitlines() if line and not line.startswith(("#", "[", "version"))
    ]
    assert all(line.startswith(("alpha.", "beta.", '"alpha/', '"beta/')) for line in body)
    assert len(set(body)) == len(body)


def changed(lock: Lock, name: str, description: str) -> Lock:
    surface = lock.surfaces[name]
    wires = tuple({**wire, "description": description} for wire in surface.tools)
    surfaces = {**lock.surfaces, name: replace(surface, tools=wires)}
    servers = tuple(locked_server(key, value, policy=Policy.PIN, launch=LAUNCH) for key, value in surfaces.items())
    tools = tuple(
        locked_tool(f"{key}/{w['name']}", w, Contract()) for key, value in surfaces.items() for w in value.tools
    )
    return Lock(LockIndex(servers, tools), surfaces)


@pytest.mark.parametrize("markers", [True, False])
def test_a_merge_that_touched_different_servers_resolves(*, markers: bool) -> None:
    base = sample()
    ours, theirs = changed(base, "alpha", "Ours"), changed(base, "beta", "Theirs")
    left, right = index_text(ours.index), index_text(theirs.index)
    head = left.index("[servers]")
    if markers:
        text = f"{left[:head]}<<<<<<< HEAD\n{left[head:]}=======\n{right[head:]}>>>>>>> other\n"
    else:
        text = left + right[head:]
    files = {"alpha": files_of(ours)["alpha"], "beta": files_of(theirs)["beta"]}
    index, unresolved = resolve(text, "keel.lock", reader(files), {})
    assert unresolved == ()
    assert index_text(index) == index_text(changed(ours, "beta", "Theirs").index)
    read_lock(index_text(index), "keel.lock", reader(files))


def test_a_merge_that_touched_one_server_twice_is_named() -> None:
    ours, theirs = changed(sample(), "alpha", "Ours"), changed(sample(), "alpha", "Theirs")
    head = index_text(ours.index).index("[servers]")
    files = {"alpha": b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x\n", "beta": files_of(ours)["beta"]}
    index, unresolved = resolve(
        index_text(ours.index) + index_text(theirs.index)[head:], "keel.lock", reader(files), {}
    )
    assert [server.name for server in index.servers] == ["beta"]
    assert [(item.code, item.location.key) for item in unresolved] == [("lock-conflict", "alpha")]


def test_plan_follows_the_sync_rules() -> None:
    index = LockIndex(tuple(replace(server, launch=f"k1:{server.name}") for server in sample().index.servers))
    now = {"alpha": "k1:alpha", "beta": "k1:new", "gamma": "k1:gamma"}
    assert plan(now, index).take == ("gamma",)
    assert plan(now, index).keep == ("alpha",)
    assert plan(now, index).refused == ("beta",)
    assert plan(now, index, update=True).take == ("alpha", "gamma")
    named = plan(now, index, named=["beta"])
    assert (named.take, named.keep, named.refused) == (("beta",), ("alpha",), ())
    assert plan({"alpha": "k1:alpha"}, index).drop == ("beta",)


def test_change_lines_name_every_difference() -> None:
    old, new = sample(), changed(sample(), "beta", "Theirs")
    assert change_lines(old.index, new.index) == ("~ beta (surface)", "~ beta/one (definition)")
    assert change_lines(LockIndex(), old.index)[0] == "+ alpha (a 1)"
    assert change_lines(old.index, LockIndex()) == ("- alpha", "- alpha/one", "- alpha/two", "- beta", "- beta/one")
    assert tomllib.loads(index_text(new.index))["version"] == 1
