"""Verification: signed by someone accepted, every member as digested, nothing missing, nothing extra."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keel.bundle.archive import pack, unpack
from keel.bundle.contents import ENVELOPE, INDEX, LOCK, SURFACES, VERSION
from keel.bundle.envelope import Envelope, EnvelopeError, read_envelope
from keel.bundle.interface import Verifier
from keel.bundle.statement import StatementError, disagreements, statement_of
from keel.core.digest import digest_bytes
from keel.core.finding import Finding, InputErrors, Location, finding
from keel.core.jsontext import JsonSyntaxError, parse_strict
from keel.core.text import escape, excerpt
from keel.lockfile.model import Lock
from keel.lockfile.read import read_lock

_SHOWN = 3
"""How many of a statement's disagreements one message holds."""


@dataclass(frozen=True, slots=True)
class Demands:
    """What whoever opens a bundle asks of it; none of it comes from the bundle."""

    verifier: Verifier | None = None
    """Knows the accepted signers."""
    allow_unsigned: bool = False
    """Whether a bundle without a signature will do, or without `verifier` one by anybody."""
    min_sequence: int | None = None
    """The lowest `sequence` accepted, so that no older bundle takes the place of a newer one."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found out about a bundle; empty parts where a finding says why."""

    findings: tuple[Finding, ...] = ()
    index: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, bytes] = field(default_factory=dict)
    lock: Lock | None = None
    envelope: Envelope | None = None
    """Present in signed bundles."""
    signers: tuple[str, ...] = ()
    """Names of the accepted keys that signed."""


def verify(data: bytes, file: str, demands: Demands | None = None) -> Verified:
    """Check a bundle's bytes; all disagreements are reported at once.

    The signature comes first: what nobody accepted has signed is not interpreted. The payload is looked into only when
    its signature is known to be good.

    Args:
        data: the whole file.
        file: its name, for messages.
        demands: what is asked beyond the bundle agreeing with itself; nothing when absent.

    Returns:
        The members, which may be used if and only if there is no finding.
    """
    members, problems = unpack(data, file)
    envelope, faults = _envelope(members, file)
    findings = [*problems, *faults]
    signers: tuple[str, ...] = ()
    if envelope is not None and demands is not None and demands.verifier is not None:
        signers = envelope.signers(demands.verifier)
        refused = list(_signature_findings(envelope, signers, demands.verifier, file))
        if refused:
            return Verified((*findings, *refused), envelope=envelope, signers=signers)
    if INDEX not in members:
        missing = () if problems else (_invalid(f"`{file}` has no `{INDEX}`", file),)
        return Verified((*findings, *missing), envelope=envelope, signers=signers)
    index, index_problems = _index(members[INDEX], file)
    findings.extend(index_problems)
    if not index_problems:
        findings.extend(_members(index, members, file))
    lock = None
    if not findings:
        lock, lock_problems = _lock(members, file)
        findings.extend(lock_problems)
    if not findings:
        findings.extend(_written(members, data, file))
    if not findings:
        findings.extend(_statement(envelope, members, file))
    if demands is not None and not findings:
        findings.extend(_demanded(demands, envelope, index["sequence"], file))
    return Verified(tuple(findings), index, members, lock, envelope, signers)


def _envelope(members: Mapping[str, bytes], file: str) -> tuple[Envelope | None, list[Finding]]:
    if ENVELOPE not in members:
        return None, []
    try:
        return read_envelope(members[ENVELOPE]), []
    except EnvelopeError as error:
        return None, [_invalid(f"the envelope of `{file}` {error}", file, member=ENVELOPE)]


def _signature_findings(
    envelope: Envelope, signers: tuple[str, ...], verifier: Verifier, file: str
) -> Iterator[Finding]:
    claimed = {item.key_id for item in envelope.signatures}
    at = Location(file=file, pointer=ENVELOPE)
    false = sorted((claimed & verifier.key_ids) - set(signers))
    for key_id in false:
        message = f"the signature of `{key_id}` in `{file}` does not fit the statement"
        yield finding("bundle-signature-invalid", message, location=at)
    if not signers and not false:
        message = f"`{file}` is signed by {_listed(envelope)}, and not by a signer who is accepted here"
        yield finding("bundle-signer-unknown", message, location=at)


def _demanded(demands: Demands, envelope: Envelope | None, sequence: int, file: str) -> Iterator[Finding]:
    if not demands.allow_unsigned:
        if envelope is None:
            yield finding("bundle-unsigned", f"`{file}` carries no signature", location=Location(file=file))
        elif demands.verifier is None:
            message = f"`{file}` is signed by {_listed(envelope)}, and nobody is accepted as signer here"
            yield finding("bundle-signer-unknown", message, location=Location(file=file, pointer=ENVELOPE))
    if demands.min_sequence is not None and sequence < demands.min_sequence:
        message = f"`{file}` has sequence {sequence}, and at least {demands.min_sequence} is asked for"
        yield finding("bundle-outdated", message, location=Location(file=file, pointer=INDEX))


def _listed(envelope: Envelope) -> str:
    names = [f"`{excerpt(item.key_id)}`" if item.key_id else "a key without a name" for item in envelope.signatures]
    return ", ".join(names)


def _index(data: bytes, file: str) -> tuple[Mapping[str, Any], list[Finding]]:
    try:
        index = parse_strict(data)
    except JsonSyntaxError as error:
        return {}, [_invalid(f"`{INDEX}` is damaged: {error.message}", file, member=INDEX)]
    version = index.get("version") if isinstance(index, dict) else None
    if type(version) is int and version > VERSION:
        message = f"`{file}` has format {version}; this keel reads formats up to {VERSION}"
        return {}, [_invalid(message, file, member=INDEX)]
    if not _is_index(index):
        return {}, [_invalid(f"`{INDEX}` is not a bundle index", file, member=INDEX)]
    return index, []


def _is_index(index: Any) -> bool:
    """Tell whether a value is as `contents.index_schema` says."""
    if not isinstance(index, dict) or index.keys() != _INDEX_FIELDS.keys():
        return False
    if any(type(index[name]) is not kind for name, kind in _INDEX_FIELDS.items()):
        return False
    return (
        index["version"] == VERSION
        and index["sequence"] >= 0
        and index["freeze_timing"] in ("deploy_time", "per_run")
        and all(isinstance(name, str) for name in index["flows"])
    )


_INDEX_FIELDS = {
    "version": int,
    "project": str,
    "freeze_timing": str,
    "sequence": int,
    "flows": list,
    "members": dict,
}


def _members(index: Mapping[str, Any], members: Mapping[str, bytes], file: str) -> Iterator[Finding]:
    declared = index["members"]
    for name in sorted(declared.keys() - members.keys()):
        yield _invalid(f"member `{escape(name)}` is missing", file, member=name)
    for name in sorted(members.keys() - declared.keys() - {INDEX, ENVELOPE}):
        yield _invalid(f"member `{escape(name)}` is not in the index", file, member=name)
    for name in sorted(declared.keys() & members.keys()):
        if declared[name] != {"digest": digest_bytes(members[name]), "size": len(members[name])}:
            yield _invalid(f"member `{escape(name)}` was altered", file, member=name)


def _lock(members: Mapping[str, bytes], file: str) -> tuple[Lock | None, list[Finding]]:
    def candidates(name: str) -> Iterator[tuple[str, bytes]]:
        member = f"{SURFACES}{name}.json"
        if member in members:
            yield member, members[member]

    try:
        return read_lock(members[LOCK].decode(), LOCK, candidates), []
    except KeyError:
        return None, [_invalid(f"`{file}` holds no lock", file, member=LOCK)]
    except (InputErrors, UnicodeDecodeError) as error:
        return None, [_invalid(f"the lock inside `{file}` is inconsistent: {escape(str(error))}", file, member=LOCK)]


def _written(members: Mapping[str, bytes], data: bytes, file: str) -> Iterator[Finding]:
    """Compare the file with the archive that its members give: no trick of the format can hide a difference."""
    if list(members) != sorted(members):
        yield _invalid(f"the members of `{file}` are in another order than `keel bundle` writes them", file)
    elif pack(members) != data:
        yield _invalid(f"`{file}` holds a comment, other fields of the format, or bytes that belong to no member", file)


def _statement(envelope: Envelope | None, members: Mapping[str, bytes], file: str) -> Iterator[Finding]:
    try:
        found = list(disagreements(envelope.payload, members)) if envelope is not None else []
        statement_of(members)
    except StatementError as error:
        yield _invalid(f"nobody can sign `{file}`: {error}", file)
        return
    if found:
        more = f", and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        message = f"what was signed is not this bundle: {'; '.join(found[:_SHOWN])}{more}"
        yield _invalid(message, file, member=ENVELOPE)


def _invalid(message: str, file: str, *, member: str = "") -> Finding:
    return finding("bundle-invalid", message, location=Location(file=file, pointer=escape(member)))
