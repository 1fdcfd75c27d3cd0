"""Signed bundles: who is accepted, what is demanded, and every way to pass one off as another."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.bundle.archives import members
from tests.unit.bundle.test_bundle import contents

from keel.bundle.archive import pack
from keel.bundle.contents import ENVELOPE, GATES, INDEX, build
from keel.bundle.envelope import Envelope, Signature, read_envelope, write_envelope
from keel.bundle.sign import sign
from keel.bundle.statement import statement_of
from keel.bundle.verify import Demands, Verified, verify
from keel.core.digest import digest_bytes
from keel.signing.ed25519 import Ed25519Signer, Ed25519Verifier

ONE, TWO, THIRD = (Ed25519Signer(Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)) for seed in (1, 2, 3))
PLAIN = build(replace(contents(), sequence=5))


def signed(data: bytes, *signers: Ed25519Signer) -> bytes:
    return sign(verify(data, "b"), signers)


def accepting(*signers: Ed25519Signer) -> Ed25519Verifier:
    return Ed25519Verifier.of(signer.key.public_key() for signer in signers)


def opened(data: bytes, *signers: Ed25519Signer, allow_unsigned: bool = False, least: int | None = None) -> Verified:
    return verify(data, "b", Demands(accepting(*signers) if signers else None, allow_unsigned, least))


def codes(result: Verified) -> list[str]:
    return sorted({item.code for item in result.findings})


SIGNED = signed(PLAIN, ONE)


def test_a_signature_is_one_member_more_and_nothing_else() -> None:
    held = members(SIGNED)
    assert {name: data for name, data in held.items() if name != ENVELOPE} == members(PLAIN)
    assert read_envelope(held[ENVELOPE]).payload == statement_of(members(PLAIN))


def test_an_accepted_signer_is_named() -> None:
    result = opened(SIGNED, ONE)
    assert (result.findings, result.signers) == ((), (ONE.key_id,))


def test_signing_again_gives_the_same_bytes_in_any_order() -> None:
    assert signed(SIGNED, ONE) == SIGNED
    assert signed(SIGNED, TWO) == signed(signed(PLAIN, TWO), ONE) == signed(PLAIN, ONE, TWO) == signed(PLAIN, TWO, ONE)


def test_each_of_two_signers_is_enough() -> None:
    both = signed(SIGNED, TWO)
    assert opened(both, ONE).signers == (ONE.key_id,)
    assert opened(both, TWO).signers == (TWO.key_id,)
    assert opened(both, THIRD, TWO).signers == (TWO.key_id,)
    assert opened(both, ONE, TWO).signers == tuple(sorted((ONE.key_id, TWO.key_id)))
    assert all(not opened(both, *accepted).findings for accepted in ([ONE], [TWO], [ONE, TWO], [TWO, THIRD]))


def test_nobody_signs_what_has_findings() -> None:
    with pytest.raises(ValueError, match="with findings"):
        sign(verify(PLAIN + b"x", "b"), [ONE])


@pytest.mark.parametrize(
    ("data", "accepted", "allowed", "expected"),
    [
        (PLAIN, [], False, ["bundle-unsigned"]),
        (PLAIN, [ONE], False, ["bundle-unsigned"]),
        (PLAIN, [], True, []),
        (PLAIN, [ONE], True, []),
        (SIGNED, [], False, ["bundle-signer-unknown"]),
        (SIGNED, [], True, []),
        (SIGNED, [TWO], False, ["bundle-signer-unknown"]),
        (SIGNED, [TWO], True, ["bundle-signer-unknown"]),
        (SIGNED, [ONE], False, []),
        (SIGNED, [TWO, ONE], True, []),
    ],
)
def test_who_is_accepted(data: bytes, accepted: list[Ed25519Signer], allowed: bool, expected: list[str]) -> None:
    result = opened(data, *accepted, allow_unsigned=allowed)
    assert codes(result) == expected
    assert result.signers == ((ONE.key_id,) if data == SIGNED and ONE in accepted else ())


@pytest.mark.parametrize(("least", "expected"), [(None, []), (0, []), (5, []), (6, ["bundle-outdated"])])
def test_an_older_bundle_is_refused(least: int | None, expected: list[str]) -> None:
    assert codes(opened(SIGNED, ONE, least=least)) == expected
    assert codes(opened(PLAIN, allow_unsigned=True, least=least)) == expected


def test_everything_that_is_demanded_is_said_at_once() -> None:
    assert codes(opened(PLAIN, least=6)) == ["bundle-outdated", "bundle-unsigned"]


def repacked(data: bytes, **changes: bytes | None) -> bytes:
    """Change members and make the index agree, as whoever knows the format would."""
    held = {**members(data), **{name.replace("__", "/"): value for name, value in changes.items()}}
    kept = {name: value for name, value in held.items() if value is not None}
    index = json.loads(kept[INDEX])
    named = sorted(kept.keys() - {INDEX, ENVELOPE})
    index["members"] = {name: {"digest": digest_bytes(kept[name]), "size": len(kept[name])} for name in named}
    kept[INDEX] = (json.dumps(index, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
    return pack(kept)


def with_envelope(change: Callable[[Envelope], Envelope]) -> bytes:
    held = members(SIGNED)
    return pack({**held, ENVELOPE: write_envelope(change(read_envelope(held[ENVELOPE])))})


def with_sequence(sequence: int) -> bytes:
    held = members(SIGNED)
    index = {**json.loads(held[INDEX]), "sequence": sequence}
    return pack({**held, INDEX: (json.dumps(index, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()})


ELSEWHERE = signed(build(replace(contents(), project="q", sequence=9)), ONE)
OTHER_TYPE = ONE.sign(b"DSSEv1 10 text/plain %d %b" % (len(statement_of(members(PLAIN))), statement_of(members(PLAIN))))
GATES_CLEANED = b'{"counts": {}, "findings": [], "rules": {"digest": "another"}}'

ATTACKS: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "altered": (
        lambda: repacked(SIGNED, **{"sources/flows.py": b"evil()\n"}),
        "bundle-invalid",
        "what was signed is not this bundle: member `bundle.json` was altered; member `sources/flows.py` was altered",
    ),
    "altered, index untouched": (
        lambda: pack({**members(SIGNED), "sources/flows.py": b"evil()\n"}),
        "bundle-invalid",
        "member `sources/flows.py` was altered",
    ),
    "missing": (
        lambda: repacked(SIGNED, **{"sources/flows.py": None}),
        "bundle-invalid",
        "`sources/flows.py` is missing",
    ),
    "extra": (lambda: repacked(SIGNED, **{"sources/more.py": b""}), "bundle-invalid", "is not in the statement"),
    "extra, not in the index": (
        lambda: pack({**members(SIGNED), "sources/more.py": b""}),
        "bundle-invalid",
        "is not in the index",
    ),
    "gate report replaced": (
        lambda: repacked(SIGNED, **{GATES: GATES_CLEANED}),
        "bundle-invalid",
        "member `gates.json` was altered",
    ),
    "sequence raised": (lambda: with_sequence(99), "bundle-invalid", "member `bundle.json` was altered"),
    "envelope of another bundle": (
        lambda: pack({**members(PLAIN), ENVELOPE: members(ELSEWHERE)[ENVELOPE]}),
        "bundle-invalid",
        "what was signed is not this bundle",
    ),
    "payload replaced": (
        lambda: with_envelope(lambda e: replace(e, payload=statement_of({**members(PLAIN), "x": b""}))),
        "bundle-signature-invalid",
        "does not fit the statement",
    ),
    "payload type changed": (
        lambda: with_envelope(lambda e: replace(e, payload_type="text/plain")),
        "bundle-invalid",
        "of type `text/plain`",
    ),
    "signed as another type": (
        lambda: with_envelope(lambda e: replace(e, signatures=(Signature(ONE.key_id, OTHER_TYPE),))),
        "bundle-signature-invalid",
        "does not fit the statement",
    ),
    "signed by another under the name": (
        lambda: with_envelope(lambda e: replace(e, signatures=(Signature(ONE.key_id, TWO.sign(e.message)),))),
        "bundle-signature-invalid",
        "does not fit the statement",
    ),
    "signed by another": (
        lambda: with_envelope(lambda e: replace(e, signatures=(Signature(TWO.key_id, TWO.sign(e.message)),))),
        "bundle-signer-unknown",
        "not by a signer who is accepted",
    ),
    "signed by nobody": (
        lambda: with_envelope(lambda e: replace(e, signatures=(Signature("", bytes(64)),))),
        "bundle-signer-unknown",
        "a key without a name",
    ),
    "signature stripped": (
        lambda: pack({name: data for name, data in members(SIGNED).items() if name != ENVELOPE}),
        "bundle-unsigned",
        "carries no signature",
    ),
    "signatures emptied": (
        lambda: with_envelope(lambda e: replace(e, signatures=())),
        "bundle-invalid",
        "holds no signature",
    ),
    "envelope damaged": (lambda: pack({**members(SIGNED), ENVELOPE: b"{"}), "bundle-invalid", "is damaged"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_on_a_signed_bundle_is_refused(name: str) -> None:
    make, code, said = ATTACKS[name]
    result = opened(make(), ONE)
    assert codes(result) == [code]
    assert any(said in item.message for item in result.findings), [item.message for item in result.findings]


@pytest.mark.parametrize("name", ATTACKS)
def test_allowing_unsigned_bundles_lets_only_a_missing_signature_pass(name: str) -> None:
    result = opened(ATTACKS[name][0](), ONE, allow_unsigned=True)
    assert bool(result.findings) == (name != "signature stripped")


def test_a_false_signature_beside_a_good_one_is_not_passed_over() -> None:
    data = with_envelope(lambda e: replace(e, signatures=(*e.signatures, Signature(TWO.key_id, bytes(64)))))
    assert codes(opened(data, ONE, TWO)) == ["bundle-signature-invalid"]
    assert opened(data, ONE).findings == ()


def test_what_nobody_accepted_has_signed_is_not_interpreted() -> None:
    data = pack({**members(SIGNED), INDEX: b"{"})
    assert codes(opened(data, TWO)) == ["bundle-signer-unknown"]
    assert opened(data, TWO).index == {}


def test_a_bundle_that_nobody_could_sign_is_invalid_unsigned_too() -> None:
    result = opened(repacked(PLAIN, **{GATES: b"[]"}), allow_unsigned=True)
    assert [item.message for item in result.findings] == ["nobody can sign `b`: member `gates.json` is not an object"]


@pytest.mark.parametrize(
    "index",
    [
        b"[]",
        b"null",
        b'{"version": true, "members": {}}',
        b'{"version": 0, "members": {}}',
        b'{"version": 1, "members": {}}',
        b'{"version": "1", "project": "", "freeze_timing": "per_run", "sequence": 0, "flows": [], "members": {}}',
        b'{"version": 1, "project": "", "freeze_timing": "never", "sequence": 0, "flows": [], "members": {}}',
        b'{"version": 1, "project": "", "freeze_timing": "per_run", "sequence": -1, "flows": [], "members": {}}',
        b'{"version": 1, "project": "", "freeze_timing": "per_run", "sequence": true, "flows": [], "members": {}}',
        b'{"version": 1, "project": "", "freeze_timing": "per_run", "sequence": 0, "flows": [1], "members": {}}',
        b'{"version": 1, "project": "", "freeze_timing": "per_run", "sequence": 0, "flows": [], "members": []}',
    ],
)
def test_an_index_of_another_shape_is_refused(index: bytes) -> None:
    found = verify(pack({INDEX: index}), "b").findings
    assert [item.message for item in found] == ["`bundle.json` is not a bundle index"]


@given(st.sampled_from(sorted(members(SIGNED))), st.binary(max_size=30))
def test_no_member_can_be_exchanged(name: str, data: bytes) -> None:
    result = opened(
        repacked(SIGNED, **{name: data}) if name not in (INDEX, ENVELOPE) else pack({**members(SIGNED), name: data}),
        ONE,
    )
    assert bool(result.findings) == (members(SIGNED)[name] != data)
