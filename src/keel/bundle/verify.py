"""Verification: every member as the index digests it, nothing missing, nothing extra, the lock consistent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keel.bundle.archive import pack, unpack
from keel.bundle.contents import INDEX, LOCK, VERSION
from keel.core.digest import digest_bytes
from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.jsontext import JsonSyntaxError, parse_strict
from keel.core.text import escape
from keel.lockfile.model import Lock
from keel.lockfile.read import read_lock


@dataclass(frozen=True, slots=True)
class Verified:
    """A bundle whose members are all as its index says; empty parts where a finding says otherwise."""

    findings: tuple[Finding, ...] = ()
    index: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, bytes] = field(default_factory=dict)
    lock: Lock | None = None


def verify(data: bytes, file: str) -> Verified:
    """Check a bundle's bytes against its own index; all disagreements are reported at once.

    What a signature would prove, that the index itself is the one that was built, is not checked here.
    """
    members, problems = unpack(data, file)
    if INDEX not in members:
        missing = () if problems else (_invalid(f"`{file}` has no `{INDEX}`", file),)
        return Verified((*problems, *missing))
    index, index_problems = _index(members[INDEX], file)
    findings = [*problems, *index_problems]
    if not index_problems:
        findings.extend(_members(index, members, file))
    lock = None
    if not findings:
        lock, lock_problems = _lock(members, file)
        findings.extend(lock_problems)
    if not findings and pack(members) != data:
        findings.append(_invalid(f"`{file}` holds bytes that belong to no member", file))
    return Verified(tuple(findings), index, members, lock)


def _index(data: bytes, file: str) -> tuple[Mapping[str, Any], list[Finding]]:
    try:
        index = parse_strict(data)
    except JsonSyntaxError as error:
        return {}, [_invalid(f"`{INDEX}` is damaged: {error.message}", file, member=INDEX)]
    if not isinstance(index, dict) or not isinstance(index.get("members"), dict):
        return {}, [_invalid(f"`{INDEX}` is not a bundle index", file, member=INDEX)]
    version = index.get("version")
    if not isinstance(version, int) or version > VERSION:
        message = f"`{file}` has format {escape(str(version))}; this keel reads formats up to {VERSION}"
        return {}, [_invalid(message, file, member=INDEX)]
    return index, []


def _members(index: Mapping[str, Any], members: Mapping[str, bytes], file: str) -> Iterator[Finding]:
    declared = index["members"]
    for name in sorted(declared.keys() - members.keys()):
        yield _invalid(f"member `{escape(name)}` is missing", file, member=name)
    for name in sorted(members.keys() - declared.keys() - {INDEX}):
        yield _invalid(f"member `{escape(name)}` is not in the index", file, member=name)
    for name in sorted(declared.keys() & members.keys()):
        entry = declared[name]
        digest = entry.get("digest") if isinstance(entry, dict) else None
        if digest != digest_bytes(members[name]):
            yield _invalid(f"member `{escape(name)}` was altered", file, member=name)


def _lock(members: Mapping[str, bytes], file: str) -> tuple[Lock | None, list[Finding]]:
    def candidates(name: str) -> Iterator[tuple[str, bytes]]:
        member = f"lock/keel.lock.d/{name}.json"
        if member in members:
            yield member, members[member]

    try:
        return read_lock(members[LOCK].decode(), LOCK, candidates), []
    except KeyError:
        return None, [_invalid(f"`{file}` holds no lock", file, member=LOCK)]
    except (InputErrors, UnicodeDecodeError) as error:
        return None, [_invalid(f"the lock inside `{file}` is inconsistent: {escape(str(error))}", file, member=LOCK)]


def _invalid(message: str, file: str, *, member: str = "") -> Finding:
    return finding("bundle-invalid", message, location=Location(file=file, pointer=escape(member)))
