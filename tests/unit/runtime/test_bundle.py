"""Opening a bundle: everything in it comes back, and whatever is wrong is told at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keel.bundle.archive import pack, unpack
from keel.bundle.contents import INDEX
from keel.core.digest import digest_bytes
from keel.core.finding import InputErrors
from keel.core.model import SecretSource
from keel.runtime.bundle import Bundle
from tests.unit.runtime.projects import make
from tests.unit.runtime.world import SPEC, bundle_bytes, manifest, world

FLOWS = """
helper = Agent(name="helper", model="m:x", instructions="help", tools=[note, gated(pay)])

@flow
async def all_of(items: list[str]) -> None:
    listed = ", ".join(items)
    await human_gate(f"pay 1 to each of {listed}?")
    for item in items:
        await pay(payee=item, amount=1)

@flow
async def one(payee: str) -> None:
    await human_gate(f"pay 1 to {payee}?")
    await pay(payee=payee, amount=1)

@flow
async def asks() -> None:
    await helper("hello")

@flow(entry=False)
def inner(ticket: str) -> dict[str, int]:
    return look(ticket)
"""


def altered(data: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """Return a bundle whose index fits its changed members, as an attacker without a key would make it."""
    members, _ = unpack(data, "b")
    change(members)
    index = json.loads(members.pop(INDEX))
    index["members"] = {name: {"digest": digest_bytes(item), "size": len(item)} for name, item in members.items()}
    members[INDEX] = (json.dumps(index, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
    return pack(members)


def test_a_bundle_comes_back_as_it_was_built(tmp_path: Path) -> None:
    data = bundle_bytes(
        manifest(network=("a.example",)),
        spec=replace(SPEC, headers=(("X", "secret://key"),)),
        secrets={"key": {"env": "KEY"}, "other": {"file": "o.txt"}},
        native={"lookup": {"module": "flows", "function": "lookup", "file": "flows.py"}},
        sequence=7,
    )
    file = tmp_path / "p.keel"
    file.write_bytes(data)
    for source in (file, data):
        found = Bundle.open(source, allow_unsigned=True, min_sequence=7)
        assert (found.project, found.sequence, found.digest) == ("p", 7, digest_bytes(data))
        assert found.manifest == manifest(network=("a.example",))
        assert found.servers["shop"].headers == (("X", "secret://key"),)
        assert found.secrets == {"key": SecretSource("key", env="KEY"), "other": SecretSource("other", file="o.txt")}
        assert found.natives["lookup"].function == "lookup"
        assert found.admits("shop/find")
        assert not found.admits("shop/hidden")
        assert not found.admits("shop/nothing")
        assert "lookup" in found.admitted
        grant = found.grant("shop/find")
        assert grant is not None
        assert grant.max_calls == 1000


def test_a_server_that_the_manifest_leaves_out_is_not_admitted() -> None:
    assert not world(manifest(servers=())).bundle.admits("shop/find")
    assert world(manifest(servers=())).bundle.admits("lookup")
    assert world(manifest(servers=(SPEC,))).bundle.admits("shop/find")
    assert world(manifest(tools=None)).bundle.admits("shop/hidden")


def test_what_the_project_says_of_its_flows_comes_along(tmp_path: Path) -> None:
    found = make(tmp_path / "p", FLOWS).bundle
    assert set(found.flows) == {"all_of", "one", "asks", "inner"}
    assert found.flows["asks"].tools == ("bank/note", "bank/pay")
    assert found.flows["asks"].servers == ("bank",)
    assert found.flows["inner"].servers == ()
    assert (found.flows["inner"].entry, found.flows["one"].entry, found.flows["one"].is_async) == (False, True, True)
    covers = {name: found.flows[name].graph["covers"] for name in ("all_of", "one")}
    (each,), (once,) = (cover[0]["sites"] for cover in covers.values())
    assert (each["each"], once["each"]) == (True, False)
    assert once["arguments"] == ["amount", "payee"]
    assert found.natives["look"].module == "flows"
    assert found.sources["flows.py"] == (tmp_path / "p" / "flows.py").read_bytes()
    assert found.servers["bank"].surface == "bank.json"


def test_the_same_project_gives_the_same_bytes(tmp_path: Path) -> None:
    assert make(tmp_path / "a" / "p", FLOWS).data == make(tmp_path / "b" / "p", FLOWS).data


def test_a_secret_in_a_source_keeps_the_bundle_from_being_built(tmp_path: Path) -> None:
    token = "ghp_" + "Zx8Qw3Er5Ty7" * 3
    with pytest.raises(AssertionError, match="secret-literal"):
        make(tmp_path / "p", f'{FLOWS}\nTOKEN = "{token}"\n')


WRONG: dict[str, tuple[str, Callable[[dict[str, bytes]], None], str]] = {
    "no runtime": ("runtime.json", lambda held: held.__delitem__("runtime.json"), "is missing"),
    "no manifest": ("manifest.json", lambda held: held.__delitem__("manifest.json"), "is missing"),
    "unknown key": ("manifest.json", lambda held: held.update({"manifest.json": b'{"tolls": []}'}), "/tolls"),
    "wrong type": ("manifest.json", lambda held: held.update({"manifest.json": b'{"tools": 1}'}), "/tools"),
    "no json": ("runtime.json", lambda held: held.update({"runtime.json": b"{"}), "is damaged"),
    "no roots": (
        "runtime.json",
        lambda held: held.update({"runtime.json": held["runtime.json"].replace(b'"source_roots"', b'"roots"')}),
        "lacks 'source_roots'",
    ),
    "not an object": ("runtime.json", lambda held: held.update({"runtime.json": b"[]"}), "another shape"),
    "twice": ("runtime.json", lambda held: held.update({"runtime.json": b'{"servers": [], "servers": []}'}), "damaged"),
    "bad flow": ("flows/f.json", lambda held: held.update({"flows/f.json": b'{"flow": "f"}'}), "lacks"),
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_members_that_fit_the_index_and_cannot_be_read_are_refused(name: str) -> None:
    member, change, said = WRONG[name]
    with pytest.raises(InputErrors) as caught:
        Bundle.open(altered(bundle_bytes(), change), allow_unsigned=True)
    assert [item.location.pointer for item in caught.value.findings] == [member]
    assert said in caught.value.findings[0].message


def test_every_fault_is_told_at_once() -> None:
    def change(held: dict[str, bytes]) -> None:
        held.update({"manifest.json": b"{", "runtime.json": b"[]"})

    with pytest.raises(InputErrors) as caught:
        Bundle.open(altered(bundle_bytes(), change), allow_unsigned=True)
    assert len(caught.value.findings) == 2


@pytest.mark.parametrize(
    ("more", "code"),
    [({}, "bundle-unsigned"), ({"allow_unsigned": True, "min_sequence": 1}, "bundle-outdated")],
)
def test_unsigned_and_older_bundles_are_refused(more: dict[str, Any], code: str) -> None:
    with pytest.raises(InputErrors) as caught:
        Bundle.open(bundle_bytes(), **more)
    assert [item.code for item in caught.value.findings] == [code]


def test_damaged_bytes_are_refused() -> None:
    with pytest.raises(InputErrors):
        Bundle.open(b"PK", allow_unsigned=True)
    with pytest.raises(OSError, match="nowhere"):
        Bundle.open(Path("nowhere"), allow_unsigned=True)
