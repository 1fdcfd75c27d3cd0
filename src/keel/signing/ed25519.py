"""Ed25519 keys in PEM (RFC 8032, RFC 8410), through `cryptography`, which is loaded with this module."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from keel.errors import KeelError

MAX_BYTES = 1 << 16
"""Limit of a key file's size in bytes."""
_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
_ENCRYPTED = re.compile(rb"-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: *4,ENCRYPTED", re.MULTILINE)
_MAKE = "`keel keygen` makes a pair of keys"


class KeyUnusable(KeelError):
    """A key that cannot be used; the message names where it comes from and never holds a part of it."""

    code = "key-unusable"


@dataclass(frozen=True, slots=True)
class Ed25519Signer:
    """Signs with one private key."""

    key: Ed25519PrivateKey

    @property
    def key_id(self) -> str:
        """`sha256:<hex>` of the public key."""
        return key_id(self.key.public_key())

    def sign(self, message: bytes) -> bytes:
        """Return the 64 bytes of the signature; Ed25519 gives the same for the same message."""
        return self.key.sign(message)


@dataclass(frozen=True, slots=True)
class Ed25519Verifier:
    """Accepts signatures by any of some public keys."""

    keys: tuple[tuple[str, Ed25519PublicKey], ...]
    """Key id and key, each once."""

    @classmethod
    def of(cls, keys: Iterable[Ed25519PublicKey]) -> Ed25519Verifier:
        """Return a verifier for keys; one that comes twice counts once."""
        return cls(tuple(sorted({key_id(key): key for key in keys}.items())))

    @property
    def key_ids(self) -> frozenset[str]:
        """Ids of all accepted keys."""
        return frozenset(name for name, _ in self.keys)

    def signer(self, message: bytes, signature: bytes) -> str | None:
        """Return the id of the key that made a signature of exactly this message, or None."""
        return next((name for name, key in self.keys if _fits(key, message, signature)), None)


def _fits(key: Ed25519PublicKey, message: bytes, signature: bytes) -> bool:
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def key_id(key: Ed25519PublicKey) -> str:
    """Return `sha256:<hex>` of a public key in DER (RFC 5280 SubjectPublicKeyInfo), as `openssl pkey` writes it."""
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"sha256:{hashlib.sha256(der).hexdigest()}"


def generate() -> Ed25519PrivateKey:
    """Return a new key, from the randomness of the system."""
    return Ed25519PrivateKey.generate()


def private_pem(key: Ed25519PrivateKey, passphrase: bytes | None = None) -> bytes:
    """Return a private key as PKCS#8 in PEM (RFC 5958), encrypted when there is a passphrase."""
    how = NoEncryption() if passphrase is None else BestAvailableEncryption(passphrase)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how)


def public_pem(key: Ed25519PublicKey) -> bytes:
    """Return a public key in PEM."""
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def is_encrypted(pem: bytes) -> bool:
    """Tell whether a private key needs a passphrase."""
    return _ENCRYPTED.search(pem) is not None


def load_signer(pem: bytes, origin: str, passphrase: bytes | None = None) -> Ed25519Signer:
    """Read one private key.

    Args:
        pem: PKCS#8 in PEM.
        origin: where it comes from, for messages: a path, a variable.
        passphrase: opens an encrypted key; ignored for any other.

    Raises:
        KeyUnusable: if it is empty, something else, of another algorithm, or the passphrase does not open it.
    """
    kind = _only_block(pem, origin)
    if kind in ("PUBLIC KEY", "CERTIFICATE"):
        raise KeyUnusable(f"{origin} holds a {kind.lower()}, which cannot sign", hint="pass the private key")
    if kind == "OPENSSH PRIVATE KEY":
        hint = f"convert it to PKCS#8 in PEM; {_MAKE}"
        raise KeyUnusable(f"{origin} holds a key in the format of OpenSSH", hint=hint)
    if not kind.endswith("PRIVATE KEY"):
        raise KeyUnusable(f"{origin} holds a {kind.lower()} and no private key", hint=_MAKE)
    if is_encrypted(pem) and not passphrase:
        raise KeyUnusable(f"{origin} holds an encrypted key", hint="set KEEL_KEY_PASSPHRASE, or run it in a terminal")
    try:
        key = load_pem_private_key(pem, passphrase if is_encrypted(pem) else None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        if is_encrypted(pem):
            raise KeyUnusable(f"the passphrase does not open {origin}, or the key is damaged") from error
        raise KeyUnusable(f"{origin} holds a key that is damaged", hint=_MAKE) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyUnusable(f"{origin} holds a key of another algorithm; only Ed25519 signs bundles", hint=_MAKE)
    return Ed25519Signer(key)


def load_public_keys(pem: bytes, origin: str) -> tuple[Ed25519PublicKey, ...]:
    """Read the public keys of a file with one or more PEM blocks.

    Raises:
        KeyUnusable: if there is none, or any block is something else.
    """
    return tuple(_public(block, kind, origin) for kind, block in _blocks(pem, origin))


def _public(block: bytes, kind: str, origin: str) -> Ed25519PublicKey:
    if kind.endswith("PRIVATE KEY"):
        message = f"{origin} holds a private key, where the public one belongs"
        raise KeyUnusable(
            message, hint="hand out the `.pub` file alone; a private key that was shared is to be replaced"
        )
    if kind != "PUBLIC KEY":
        raise KeyUnusable(f"{origin} holds a {kind.lower()} and no public key")
    try:
        key = load_pem_public_key(block)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyUnusable(f"{origin} holds a public key that is damaged") from error
    if not isinstance(key, Ed25519PublicKey):
        raise KeyUnusable(f"{origin} holds a key of another algorithm; bundles are signed with Ed25519")
    return key


def _only_block(pem: bytes, origin: str) -> str:
    kinds = [kind for kind, _ in _blocks(pem, origin)]
    if len(kinds) > 1:
        raise KeyUnusable(f"{origin} holds {len(kinds)} keys; one signs at a time", hint="keep each in its own file")
    return kinds[0]


def _blocks(pem: bytes, origin: str) -> list[tuple[str, bytes]]:
    if not pem.strip():
        raise KeyUnusable(f"{origin} is empty", hint=_MAKE)
    if len(pem) > MAX_BYTES:
        raise KeyUnusable(f"{origin} is larger than a key can be")
    found = list(_found(pem))
    if not found:
        raise KeyUnusable(f"{origin} holds no key in PEM", hint=_MAKE)
    return found


def _found(pem: bytes) -> Iterator[tuple[str, bytes]]:
    for match in _BLOCK.finditer(pem):
        yield match[1].decode("ascii"), match[0] + b"\n"
