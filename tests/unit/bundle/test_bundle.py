"""The bundle: the same bytes from the same values, and every alteration found."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest

from keel.bundle.archive import pack
from keel.bundle.contents import Contents, build, plain
from keel.bundle.verify import verify
from keel.core.model import Contract, Grant, Manifest, Policy, Surface
from keel.lockfile.model import Lock, LockIndex
from keel.lockfile.write import locked_server, locked_tool


def contents() -> Contents:
    surface = Surface({}, ({"name": "t", "inputSchema": {"type": "object"}},))
    index = LockIndex(
        (locked_server("s", surface, policy=Policy.PIN, launch="k1:" + "0" * 64),),
        (locked_tool("s/t", surface.tools[0], Contract()),),
    )
    return Contents(
        project="p",
        flows={"m:f": {"nodes": []}},
        sources={"flows.py": b"x = 1\n"},
        lock=Lock(index, {"s": surface}),
        manifest=Manifest(file="keel.yaml", tools=(Grant("s/t"),)),
        gate_report={"findings": []},
    )


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_same_values_give_the_same_bytes() -> None:
    assert build(contents()) == build(contents())
    assert not verify(build(contents()), "b").findings


def test_absent_stays_absent_in_the_manifest() -> None:
    assert "servers" not in plain(contents().manifest)
    assert plain(Manifest(servers=()))["servers"] == []


def _raw(change: Callable[[zipfile.ZipFile], None]) -> bytes:
    data = build(contents())
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as archive:
        change(archive)
    return buffer.getvalue()


def _linked(archive: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = 0o120777 << 16
    archive.writestr(info, "/etc/passwd")


ATTACKS: dict[str, tuple[Callable[[], bytes], str]] = {
    "altered": (lambda: pack({**members(build(contents())), "sources/flows.py": b"x = 2\n"}), "was altered"),
    "missing": (
        lambda: pack({k: v for k, v in members(build(contents())).items() if k != "sources/flows.py"}),
        "is missing",
    ),
    "extra": (lambda: pack({**members(build(contents())), "sources/more.py": b""}), "not in the index"),
    "no index": (lambda: pack({"a": b""}), "has no `bundle.json`"),
    "broken index": (lambda: pack({"bundle.json": b"{"}), "is damaged"),
    "newer": (lambda: pack({"bundle.json": b'{"version":2,"members":{}}'}), "has format 2"),
    "slip": (lambda: _raw(lambda archive: archive.writestr("../../etc/x", b"")), "leaves the archive"),
    "absolute": (lambda: _raw(lambda archive: archive.writestr("/etc/x", b"")), "leaves the archive"),
    "link": (lambda: _raw(_linked), "is not a regular file"),
    "bomb": (
        lambda: _raw(lambda archive: archive.writestr("z", b"0" * 10**6, compress_type=zipfile.ZIP_DEFLATED)),
        "is compressed",
    ),
    "comment": (lambda: _raw(lambda archive: setattr(archive, "comment", b"hello")), "belong to no member"),
    "trailing": (lambda: build(contents()) + b"trailing", "belong to no member"),
    "leading": (lambda: b"#!/bin/sh\n" + build(contents()), "belong to no member"),
    "empty": (lambda: b"", "not a readable archive"),
    "truncated": (lambda: build(contents())[:-40], "not a readable archive"),
}


@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_every_attack_is_found(name: str) -> None:
    make, said = ATTACKS[name]
    found = verify(make(), "b.keel").findings
    assert any(said in item.message for item in found), [item.message for item in found]
    assert all(item.code == "bundle-invalid" for item in found)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_appears_twice_is_found() -> None:
    found = verify(_raw(lambda archive: archive.writestr("sources/flows.py", b"x = 1\n")), "b.keel").findings
    assert any("appears twice" in item.message for item in found)


def test_every_single_byte_counts() -> None:
    data = bytearray(build(contents()))
    for index in range(0, len(data), 7):
        data[index] ^= 0x01
        assert verify(bytes(data), "b.keel").findings, index
        data[index] ^= 0x01
