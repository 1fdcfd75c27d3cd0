"""The DSSE envelope: the vector of its specification, round trips, and every envelope that is refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given
from hypothesis import strategies as st

from keel.bundle.envelope import (
    MAX_SIGNATURES,
    PAYLOAD_TYPE,
    Envelope,
    EnvelopeError,
    Signature,
    pae,
    read_envelope,
    write_envelope,
)
from keel.signing.ed25519 import Ed25519Signer, Ed25519Verifier

ONE = Ed25519Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
TWO = Ed25519Signer(Ed25519PrivateKey.from_private_bytes(bytes(32)))


def test_the_vector_of_the_specification() -> None:
    """DSSE protocol 1.0.0, Test Vectors: ECDSA over P-256 with SHA-256, signature as r and s."""
    message = pae("http://example.com/HelloWorld", b"hello world")
    assert message == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    x = 46950820868899156662930047687818585632848591499744589407958293238635476079160
    y = 5640078356564379163099075877009565129882514886557779369047442380624545832820
    sig = base64.b64decode("A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==")
    der = utils.encode_dss_signature(int.from_bytes(sig[:32], "big"), int.from_bytes(sig[32:], "big"))
    key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    key.verify(der, message, ec.ECDSA(SHA256()))
    with pytest.raises(InvalidSignature):
        key.verify(der, pae("http://example.com/HelloWorld", b"hello worlds"), ec.ECDSA(SHA256()))


@given(st.text(max_size=20), st.binary(max_size=40), st.text(max_size=20), st.binary(max_size=40))
def test_two_pairs_of_type_and_payload_never_look_alike(kind: str, body: bytes, other: str, text: bytes) -> None:
    assert (pae(kind, body) == pae(other, text)) == ((kind, body) == (other, text))


def test_a_length_is_counted_in_bytes() -> None:
    assert pae("ä", "ö€".encode()) == b"DSSEv1 2 \xc3\xa4 5 \xc3\xb6\xe2\x82\xac"


signatures = st.builds(Signature, st.text(max_size=30), st.binary(min_size=1, max_size=70))


@given(st.binary(min_size=1, max_size=100), st.lists(signatures, min_size=1, max_size=4))
def test_what_is_written_is_read(payload: bytes, held: list[Signature]) -> None:
    envelope = Envelope(payload, tuple(held))
    assert read_envelope(write_envelope(envelope)) == envelope
    assert write_envelope(envelope) == write_envelope(envelope)


@given(st.binary(min_size=1, max_size=100))
def test_either_alphabet_of_base64_is_read(payload: bytes) -> None:
    written = {
        "payload": base64.urlsafe_b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"sig": "_-8="}],
    }
    envelope = read_envelope(json.dumps(written).encode())
    assert (envelope.payload, envelope.signatures) == (payload, (Signature("", b"\xff\xef"),))


def test_signing_again_changes_nothing_and_the_order_leaves_no_trace() -> None:
    plain = Envelope(b"{}")
    once = plain.signed_by(ONE)
    assert once.signed_by(ONE) == once
    assert once.signed_by(TWO) == plain.signed_by(TWO).signed_by(ONE).signed_by(TWO)
    both = Ed25519Verifier.of([ONE.key.public_key(), TWO.key.public_key()])
    assert once.signed_by(TWO).signers(both) == tuple(sorted([ONE.key_id, TWO.key_id]))
    assert once.signers(Ed25519Verifier.of([TWO.key.public_key()])) == ()


def test_a_false_signature_under_the_same_name_is_replaced() -> None:
    envelope = Envelope(b"{}", (Signature(ONE.key_id, b"false"), Signature(ONE.key_id, b"too"))).signed_by(ONE)
    assert envelope.signatures == (Signature(ONE.key_id, ONE.sign(envelope.message)),)


def test_the_name_of_a_key_decides_nothing() -> None:
    verifier = Ed25519Verifier.of([ONE.key.public_key()])
    message = Envelope(b"{}").message
    assert Envelope(b"{}", (Signature(ONE.key_id, TWO.sign(message)),)).signers(verifier) == ()
    assert Envelope(b"{}", (Signature("someone", ONE.sign(message)),)).signers(verifier) == (ONE.key_id,)


def test_a_signature_is_over_the_type_too() -> None:
    signed = Envelope(b"{}", payload_type="text/plain").signed_by(ONE)
    assert Envelope(b"{}", signed.signatures).signers(Ed25519Verifier.of([ONE.key.public_key()])) == ()


def _with(**changes: Any) -> bytes:
    value = json.loads(write_envelope(Envelope(b"{}").signed_by(ONE)))
    return json.dumps({name: item for name, item in {**value, **changes}.items() if item is not None}).encode()


REFUSED = {
    "no JSON": (b"{", "is damaged"),
    "no UTF-8": (b"\xff\xfe", "is damaged"),
    "repeated": (b'{"payload": "e30=", "payload": "e30="}', "is damaged"),
    "a list": (b"[]", "not an object"),
    "type": (_with(payloadType="application/json"), "of type `application/json`"),
    "type in capitals": (_with(payloadType=PAYLOAD_TYPE.upper()), "of type"),
    "no type": (_with(payloadType=None), "of type `None`"),
    "no payload": (_with(payload=None), "has no `payload`"),
    "payload as number": (_with(payload=1), "has no `payload`"),
    "payload not base64": (_with(payload="e30"), "not base64"),
    "payload with blanks": (_with(payload="e3 0="), "not base64"),
    "payload not ASCII": (_with(payload="é30="), "not base64"),
    "no signatures": (_with(signatures=None), "no signature"),
    "empty signatures": (_with(signatures=[]), "no signature"),
    "signatures as object": (_with(signatures={"sig": "e30="}), "no signature"),
    "many": (_with(signatures=[{"sig": "e30="}] * (MAX_SIGNATURES + 1)), "more than 100"),
    "signature as text": (_with(signatures=["e30="]), "signature 1 is not an object"),
    "signature without value": (_with(signatures=[{"keyid": "k"}]), "has no `sig`"),
    "name as number": (_with(signatures=[{"keyid": 1, "sig": "e30="}]), "`keyid` is not text"),
    "more fields": (_with(certificate="x"), "a field `certificate`"),
    "more of a signature": (_with(signatures=[{"sig": "e30=", "cert": "x"}]), "a field `cert`"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_envelope_is_refused(name: str) -> None:
    data, said = REFUSED[name]
    with pytest.raises(EnvelopeError, match=said.replace("[", r"\[")):
        read_envelope(data)
