"""The archive against whoever writes one by hand: what the format allows and a bundle does not."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.bundle.archives import Entry, entries, members, raw
from tests.unit.bundle.test_bundle import contents

from keel.bundle.archive import MAX_MEMBERS, pack, unpack
from keel.bundle.contents import build
from keel.bundle.verify import verify

SOUND = build(contents())
FLOW = b"sources/flows.py"


def test_the_writer_of_these_tests_writes_what_keel_writes() -> None:
    """So that each case below differs from a sound bundle in nothing but its trick."""
    assert raw(entries(SOUND)) == SOUND
    assert verify(raw(entries(SOUND)), "b").findings == ()


def spoilt(change: Callable[[Entry], Entry], name: bytes = FLOW) -> bytes:
    return raw(change(entry) if entry.name == name else entry for entry in entries(SOUND))


def with_more(*more: Entry) -> bytes:
    return raw([*entries(SOUND), *more])


ZIP64 = struct.pack("<HHQQ", 1, 16, 6, 6)
HUGE = struct.pack("<HHQQ", 1, 16, 1 << 62, 1 << 62)
DEFLATED = zlib.compress(bytes(10**6))[2:-4]

TRICKS: dict[str, tuple[Callable[[], bytes], str]] = {
    "re-ordered": (lambda: raw(reversed(entries(SOUND))), "another order"),
    "duplicated": (lambda: with_more(Entry(FLOW, b"x = 1\n")), "appears twice"),
    "duplicated with other bytes": (lambda: with_more(Entry(FLOW, b"evil()\n")), "appears twice"),
    "slip": (lambda: with_more(Entry(b"../../etc/cron.d/x", b"")), "leaves the archive"),
    "slip inside": (lambda: with_more(Entry(b"sources/../../x", b"")), "leaves the archive"),
    "slip of Windows": (lambda: with_more(Entry(b"..\\x", b"")), "leaves the archive"),
    "drive": (lambda: with_more(Entry(b"C:x", b"")), "leaves the archive"),
    "absolute": (lambda: with_more(Entry(b"/etc/x", b"")), "leaves the archive"),
    "empty name": (lambda: with_more(Entry(b"", b"")), "leaves the archive"),
    "folder": (lambda: with_more(Entry(b"sources/", b"", mode=0o040755)), "leaves the archive"),
    "link": (lambda: with_more(Entry(b"zlink", b"/etc/passwd", mode=0o120777)), "is not a regular file"),
    "device": (lambda: with_more(Entry(b"znull", b"", mode=0o020666)), "is not a regular file"),
    "link in place of a source": (lambda: spoilt(lambda e: replace(e, mode=0o120777)), "is not a regular file"),
    "set-uid": (lambda: spoilt(lambda e: replace(e, mode=0o104755)), "belong to no member"),
    "deflated": (
        lambda: with_more(Entry(b"z", DEFLATED, size=10**6, packed=len(DEFLATED), method=8)),
        "is compressed",
    ),
    "unknown method": (lambda: spoilt(lambda e: replace(e, method=97)), "is compressed"),
    "encrypted": (lambda: spoilt(lambda e: replace(e, flags=1)), "is encrypted"),
    "sizes to come": (lambda: spoilt(lambda e: replace(e, flags=8)), "belong to no member"),
    "declared larger": (lambda: spoilt(lambda e: replace(e, size=1 << 31)), "larger together than the file"),
    "declared larger than packed": (lambda: spoilt(lambda e: replace(e, size=100, packed=6)), "is compressed"),
    "declared smaller": (lambda: spoilt(lambda e: replace(e, size=2)), "not a readable archive"),
    "other name inside": (lambda: spoilt(lambda e: replace(e, central=b"sources/other.py")), "not a readable archive"),
    "zero byte": (lambda: with_more(Entry(b"zz\0.py", b"")), "zero byte"),
    "name in another encoding": (lambda: with_more(Entry(b"z\xff", b"")), "not in the index"),
    "extra field": (lambda: spoilt(lambda e: replace(e, extra=b"\xfe\xca\x00\x00")), "belong to no member"),
    "zip64 for a small member": (lambda: spoilt(lambda e: replace(e, extra=ZIP64)), "belong to no member"),
    "zip64 with a huge size": (
        lambda: spoilt(lambda e: replace(e, extra=HUGE, size=0xFFFFFFFF, packed=0xFFFFFFFF)),
        "larger together than the file",
    ),
    "broken extra field": (lambda: spoilt(lambda e: replace(e, extra=b"\x01\x00\xff\xff")), "not a readable archive"),
    "comment of a member": (lambda: spoilt(lambda e: replace(e, comment=b"hi")), "belong to no member"),
    "comment": (lambda: raw(entries(SOUND), comment=b"hi"), "belong to no member"),
    "needs a newer reader": (lambda: spoilt(lambda e: replace(e, version=45)), "belong to no member"),
    "bytes before": (lambda: b"#!/bin/sh\nevil\n" + SOUND, "belong to no member"),
    "bytes between": (lambda: raw(entries(SOUND), before=b"hidden"), "belong to no member"),
    "bytes after": (lambda: SOUND + b"hidden", "belong to no member"),
    "another archive after": (lambda: SOUND + pack({"a": b""}), "has no `bundle.json`"),
    "another archive before": (lambda: pack({"a": b""}) + SOUND, "belong to no member"),
    "member of nobody": (
        lambda: raw([*entries(SOUND)[:-1], Entry(b"x", b"hid"), entries(SOUND)[-1]]),
        "not in the index",
    ),
    "wrong count": (lambda: raw(entries(SOUND), count=1), "belong to no member"),
    "offset into nowhere": (lambda: spoilt(lambda e: replace(e, offset=0xFFFFFFF0)), "not a readable archive"),
}


@pytest.mark.parametrize("name", TRICKS)
def test_every_trick_is_refused(name: str) -> None:
    make, said = TRICKS[name]
    found = verify(make(), "b.keel").findings
    assert any(said in item.message for item in found), [item.message for item in found]
    assert {item.code for item in found} == {"bundle-invalid"}


def test_members_that_share_their_bytes_are_not_read() -> None:
    """The bomb that compresses nothing: many names for one large body (https://www.bamsoftware.com/hacks/zipbomb/)."""
    body = bytes(1 << 20)
    first = Entry(b"a", body)
    data = raw([first, *(Entry(b"a", b"", size=len(body), offset=0) for _ in range(200))])
    tracemalloc.start()
    try:
        _, problems = unpack(data, "b.keel")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [item.message for item in problems] == ["`b.keel` declares members that are larger together than the file"]
    assert peak < 3 * len(data)


def test_a_directory_of_too_many_members_is_not_even_read() -> None:
    data = b"PK\x01\x02" * (MAX_MEMBERS + 1) + SOUND
    tracemalloc.start()
    try:
        _, problems = unpack(data, "b.keel")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [item.message for item in problems] == ["`b.keel` has more than 100,000 members"]
    assert peak < len(data)


names = st.from_regex(r"[a-z]{1,4}(/[a-z]{1,4}){0,2}(\.json)?", fullmatch=True)


@given(st.dictionaries(names, st.binary(max_size=50), max_size=6))
def test_what_is_packed_is_unpacked(held: dict[str, bytes]) -> None:
    data = pack(held)
    assert unpack(data, "b") == (dict(sorted(held.items())), ())
    assert pack(dict(reversed(held.items()))) == data
    assert members(data) == held


@given(st.lists(st.tuples(st.integers(0, len(SOUND) - 1), st.integers(1, 255)), min_size=1, max_size=6))
def test_no_change_of_bytes_passes_or_breaks_the_reader(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SOUND)
    for position, bits in changes:
        data[position] ^= bits
    assert bool(verify(bytes(data), "b").findings) == (bytes(data) != SOUND)


DIRECTORY = SOUND.index(b"PK\x01\x02")


@given(
    st.lists(
        st.tuples(st.integers(DIRECTORY, len(SOUND) - 1), st.binary(min_size=1, max_size=9)), min_size=1, max_size=4
    )
)
def test_no_directory_breaks_the_reader(changes: list[tuple[int, bytes]]) -> None:
    data = bytearray(SOUND)
    for position, replaced in changes:
        data[position : position + len(replaced)] = replaced
    assert bool(verify(bytes(data), "b").findings) == (bytes(data) != SOUND)


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    assert verify(data, "b").findings
    assert verify(SOUND[:DIRECTORY] + data, "b").findings
