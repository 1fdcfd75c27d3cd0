"""Signing: the statement that follows from a bundle's members, in an envelope, as one member more."""

from __future__ import annotations

from collections.abc import Iterable

from keel.bundle.archive import pack
from keel.bundle.contents import ENVELOPE
from keel.bundle.envelope import Envelope, write_envelope
from keel.bundle.interface import Signer
from keel.bundle.statement import statement_of
from keel.bundle.verify import Verified


def sign(verified: Verified, signers: Iterable[Signer]) -> bytes:
    """Return the bundle signed by all of some signers as well.

    Signatures by others stay, an earlier one by the same key is replaced; the order of signing leaves no trace.

    Args:
        verified: a bundle without findings.
        signers: who signs.

    Raises:
        ValueError: if the bundle has findings, which nobody should vouch for.
    """
    if verified.findings:
        raise ValueError("a bundle with findings is not signed")
    envelope = verified.envelope or Envelope(statement_of(verified.members))
    for signer in signers:
        envelope = envelope.signed_by(signer)
    return pack({**verified.members, ENVELOPE: write_envelope(envelope)})
