"""The ports of signing: what signs, and what knows the signers that are accepted."""

from __future__ import annotations

from typing import Protocol


class Signer(Protocol):
    """Holds one private key."""

    @property
    def key_id(self) -> str:
        """Name of the public key; a hint for people, on which nothing is decided."""

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message; the same message gives the same signature."""


class Verifier(Protocol):
    """Holds the public keys whose signatures are accepted."""

    @property
    def key_ids(self) -> frozenset[str]:
        """Names of all accepted keys."""

    def signer(self, message: bytes, signature: bytes) -> str | None:
        """Return the name of the accepted key that made a signature of exactly this message, or None."""
