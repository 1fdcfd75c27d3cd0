"""Ed25519 keys: published vectors, PEM in and out, and every key that cannot be used."""

from __future__ import annotations

import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from keel.signing.ed25519 import (
    MAX_BYTES,
    Ed25519Signer,
    Ed25519Verifier,
    KeyUnusable,
    generate,
    is_encrypted,
    key_id,
    load_public_keys,
    load_signer,
    private_pem,
    public_pem,
)

# RFC 8032, section 7.1, tests 1 to 3: secret key, public key, message, signature.
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]
DER_PREFIX = bytes.fromhex("302a300506032b6570032100")
"""What precedes the 32 bytes of an Ed25519 key in SubjectPublicKeyInfo (RFC 8410, section 10.1)."""

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))


@pytest.mark.parametrize(("secret", "public", "message", "signature"), VECTORS)
def test_the_vectors_of_rfc_8032(secret: str, public: str, message: str, signature: str) -> None:
    signer = Ed25519Signer(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret)))
    verifier = Ed25519Verifier.of([Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))])
    assert signer.sign(bytes.fromhex(message)).hex() == signature
    assert verifier.signer(bytes.fromhex(message), bytes.fromhex(signature)) == signer.key_id
    assert signer.key_id == f"sha256:{hashlib.sha256(DER_PREFIX + bytes.fromhex(public)).hexdigest()}"


@given(message=st.binary(max_size=200), position=st.integers(0, 63), bit=st.integers(0, 7))
def test_no_other_message_and_no_other_signature_fits(message: bytes, position: int, bit: int) -> None:
    signature = Ed25519Signer(KEY).sign(message)
    verifier = Ed25519Verifier.of([KEY.public_key()])
    bent = bytearray(signature)
    bent[position] ^= 1 << bit
    assert verifier.signer(message, signature) == key_id(KEY.public_key())
    assert verifier.signer(message, bytes(bent)) is None
    assert verifier.signer(message + b"x", signature) is None


@pytest.mark.parametrize("signature", [b"", b"short", bytes(64), bytes(65), b"\xff" * 64])
def test_what_is_no_signature_fits_nothing(signature: bytes) -> None:
    assert Ed25519Verifier.of([KEY.public_key()]).signer(b"m", signature) is None


def test_a_verifier_says_which_of_its_keys_signed() -> None:
    verifier = Ed25519Verifier.of([KEY.public_key(), OTHER.public_key(), KEY.public_key()])
    assert len(verifier.keys) == 2
    assert verifier.key_ids == {key_id(KEY.public_key()), key_id(OTHER.public_key())}
    assert verifier.signer(b"m", OTHER.sign(b"m")) == key_id(OTHER.public_key())
    assert Ed25519Verifier.of([]).signer(b"m", KEY.sign(b"m")) is None


@pytest.mark.parametrize("passphrase", [None, b"correct horse", "höhere Gewalt".encode()])
def test_private_keys_come_back_from_pem(passphrase: bytes | None) -> None:
    pem = private_pem(KEY, passphrase)
    assert is_encrypted(pem) == (passphrase is not None)
    assert load_signer(pem, "`k`", passphrase).key_id == key_id(KEY.public_key())


def test_a_passphrase_is_ignored_for_a_key_that_needs_none() -> None:
    assert load_signer(private_pem(KEY), "`k`", b"whatever").key_id == key_id(KEY.public_key())


def test_public_keys_come_back_from_pem_several_at_once_with_text_around() -> None:
    pem = (
        b"# team\n"
        + public_pem(KEY.public_key())
        + b"\nSecond:\r\n"
        + public_pem(OTHER.public_key()).replace(b"\n", b"\r\n")
    )
    assert [key_id(key) for key in load_public_keys(pem, "`k`")] == [
        key_id(KEY.public_key()),
        key_id(OTHER.public_key()),
    ]


def test_every_new_key_is_another() -> None:
    assert key_id(generate().public_key()) != key_id(generate().public_key())


def _pkcs8(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


RSA = rsa.generate_private_key(65537, 2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
OPENSSH = KEY.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
LOCKED = private_pem(KEY, b"right")
DAMAGED = private_pem(KEY).replace(b"MC4CAQ", b"MC4CAA")

UNUSABLE_PRIVATE = {
    "empty": (b"", None, "is empty"),
    "blank": (b" \n\n", None, "is empty"),
    "no PEM": (b"hello", None, "no key in PEM"),
    "cut": (private_pem(KEY)[:60], None, "no key in PEM"),
    "large": (b"x" * (MAX_BYTES + 1), None, "larger than a key"),
    "public": (public_pem(KEY.public_key()), None, "a public key, which cannot sign"),
    "certificate": (
        b"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----",
        None,
        "a certificate, which cannot",
    ),
    "something": (
        b"-----BEGIN SSH2 MESSAGE-----\nAA==\n-----END SSH2 MESSAGE-----",
        None,
        "a ssh2 message and no private",
    ),
    "two": (private_pem(KEY) + private_pem(OTHER), None, "2 keys"),
    "openssh": (OPENSSH, None, "format of OpenSSH"),
    "rsa": (_pkcs8(RSA), None, "another algorithm"),
    "curve": (_pkcs8(CURVE), None, "another algorithm"),
    "damaged": (DAMAGED, None, "is damaged"),
    "locked": (LOCKED, None, "an encrypted key"),
    "locked, empty": (LOCKED, b"", "an encrypted key"),
    "wrong": (LOCKED, b"wrong", "does not open"),
}


@pytest.mark.parametrize("name", UNUSABLE_PRIVATE)
def test_a_private_key_that_cannot_be_used_is_named_and_not_shown(name: str) -> None:
    pem, passphrase, said = UNUSABLE_PRIVATE[name]
    with pytest.raises(KeyUnusable, match=said) as raised:
        load_signer(pem, "`the.key`", passphrase)
    assert "`the.key`" in raised.value.message
    body = [line for line in pem.decode().splitlines() if len(line) > 20 and "-" not in line]
    assert not any(line in raised.value.message + raised.value.hint for line in body)


UNUSABLE_PUBLIC = {
    "empty": (b"", "is empty"),
    "no PEM": (b"ssh-ed25519 AAAA", "no key in PEM"),
    "private": (private_pem(KEY), "a private key, where the public one belongs"),
    "private beside public": (public_pem(KEY.public_key()) + private_pem(KEY), "where the public one belongs"),
    "rsa": (RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "another algorithm"),
    "damaged": (public_pem(KEY.public_key()).replace(b"MCow", b"MCoA"), "is damaged"),
    "certificate": (b"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----", "and no public key"),
}


@pytest.mark.parametrize("name", UNUSABLE_PUBLIC)
def test_a_public_key_that_cannot_be_used_is_named(name: str) -> None:
    pem, said = UNUSABLE_PUBLIC[name]
    with pytest.raises(KeyUnusable, match=said):
        load_public_keys(pem, "`the.pub`")
