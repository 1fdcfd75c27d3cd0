"""Archives as nobody should write them: every trick of the format that a bundle must not carry."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One member, and what each of its two headers says; None takes what is true."""

    name: bytes
    data: bytes = b""
    central: bytes | None = None
    """The name in the central directory."""
    size: int | None = None
    packed: int | None = None
    method: int = 0
    flags: int = 0
    extra: bytes = b""
    comment: bytes = b""
    mode: int = 0o100644
    offset: int | None = None
    """Where the central directory says that the member begins."""
    version: int = 20


def raw(entries: Iterable[Entry], *, comment: bytes = b"", before: bytes = b"", count: int | None = None) -> bytes:
    """Return an archive written field by field (APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16)."""
    body, directory, number = bytearray(before), bytearray(), 0
    for entry in entries:
        size = len(entry.data) if entry.size is None else entry.size
        packed = size if entry.packed is None else entry.packed
        crc, at = zlib.crc32(entry.data), len(body)
        shared = struct.pack("<HHHHIII", entry.flags, entry.method, 0, 33, crc, packed, size)
        body += b"PK\x03\x04" + struct.pack("<H", entry.version) + shared + struct.pack("<HH", len(entry.name), 0)
        body += entry.name + entry.data
        name = entry.name if entry.central is None else entry.central
        directory += b"PK\x01\x02" + struct.pack("<HH", 3 << 8 | 20, entry.version) + shared
        directory += struct.pack("<HHHHHI", len(name), len(entry.extra), len(entry.comment), 0, 0, entry.mode << 16)
        directory += struct.pack("<I", at if entry.offset is None else entry.offset)
        directory += name + entry.extra + entry.comment
        number += 1
    number = number if count is None else count
    end = struct.pack("<HHHHIIH", 0, 0, number, number, len(directory), len(body), len(comment))
    return bytes(body + directory + b"PK\x05\x06" + end + comment)


def members(data: bytes) -> dict[str, bytes]:
    """Return the members of an archive, in its order."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def entries(data: bytes) -> list[Entry]:
    """Return the members of a sound archive as entries to be spoilt."""
    return [Entry(name.encode(), body) for name, body in members(data).items()]
