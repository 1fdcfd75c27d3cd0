"""The archive format: a stored zip whose bytes follow from its members alone."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Iterator, Mapping

from keel.core.finding import Finding, Location, finding
from keel.core.text import escape

_EPOCH = (1980, 1, 1, 0, 0, 0)
_MODE = (stat.S_IFREG | 0o644) << 16
MAX_MEMBERS = 100_000
"""Limit of members read from a bundle."""
MAX_BYTES = 1 << 30
"""Limit of a bundle's size in bytes."""
_ENTRY = b"PK\x01\x02"
"""Begins each entry of the central directory (APPNOTE 6.3.10, 4.3.12)."""
_UNREADABLE = (
    *(zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, RuntimeError, OSError),
    *(OverflowError, struct.error),
)
"""What `zipfile` raises for archives that are damaged, or made to confuse."""


def pack(members: Mapping[str, bytes]) -> bytes:
    """Return a zip of the members: sorted, stored, without times, owners or comments (APPNOTE 6.3.10, method 0)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system = 3
            info.external_attr = _MODE
            archive.writestr(info, members[name])
    return buffer.getvalue()


def unpack(data: bytes, file: str) -> tuple[dict[str, bytes], tuple[Finding, ...]]:
    """Read every member of a zip and report whatever a bundle may not hold.

    Duplicate members, links, folders, encrypted or compressed members, members that share bytes, and names that leave
    the archive are reported and not read: what is read never exceeds the size of the file. Nothing is written anywhere.
    Whatever else is unlike what `pack` writes shows when the members are packed again and compared.
    """
    if len(data) > MAX_BYTES:
        return {}, (_invalid(f"`{file}` is larger than {MAX_BYTES:,} bytes", file),)
    if data.count(_ENTRY) > MAX_MEMBERS:
        # Before the directory is read, which takes far more memory than its bytes.
        return {}, (_invalid(f"`{file}` has more than {MAX_MEMBERS:,} members", file),)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _members(archive, file, len(data))
    except _UNREADABLE as error:
        return {}, (_invalid(f"`{file}` is not a readable archive: {escape(str(error))}", file),)


def _members(archive: zipfile.ZipFile, file: str, size: int) -> tuple[dict[str, bytes], tuple[Finding, ...]]:
    members: dict[str, bytes] = {}
    problems: list[Finding] = []
    infos = archive.infolist()
    if sum(info.file_size for info in infos if info.compress_type == zipfile.ZIP_STORED) > size:
        return {}, (_invalid(f"`{file}` declares members that are larger together than the file", file),)
    for info in infos:
        reasons = list(_objections(info, members))
        if reasons:
            message = f"member `{escape(info.filename)}` {', '.join(reasons)}"
            problems.append(_invalid(message, file, member=info.filename))
            continue
        members[info.filename] = archive.read(info)
    return members, tuple(problems)


def _objections(info: zipfile.ZipInfo, members: Mapping[str, bytes]) -> Iterator[str]:
    name = info.filename
    if name in members:
        yield "appears twice"
    if "\0" in info.orig_filename:
        yield "has a name with a zero byte"
    if name.startswith("/") or "\\" in name or ":" in name or any(part in ("", ".", "..") for part in name.split("/")):
        yield "has a name that leaves the archive"
    mode = info.external_attr >> 16
    if mode and not stat.S_ISREG(mode):
        yield "is not a regular file"
    if info.flag_bits & 0x1:
        yield "is encrypted"
    if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
        yield "is compressed"


def _invalid(message: str, file: str, *, member: str = "") -> Finding:
    return finding("bundle-invalid", message, location=Location(file=file, pointer=escape(member)))
