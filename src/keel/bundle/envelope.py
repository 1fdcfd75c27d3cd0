"""The DSSE envelope: a statement's bytes and the signatures over them (https://github.com/secure-systems-lab/dsse)."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from keel.bundle.interface import Signer, Verifier
from keel.core.jsontext import JsonSyntaxError, parse_strict
from keel.core.text import escape

PAYLOAD_TYPE = "application/vnd.in-toto+json"
"""Media type of an in-toto statement (in-toto Attestation Framework, spec/v1/envelope.md)."""
MAX_SIGNATURES = 100
"""Limit of signatures in one envelope; each is tried with each accepted key."""


class EnvelopeError(ValueError):
    """An envelope that cannot be read; the message is a clause that follows `the envelope`."""


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature over the payload."""

    key_id: str
    """What the signer calls the key: unauthenticated, so that nothing is decided on it."""
    value: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload, its type and its signatures."""

    payload: bytes
    signatures: tuple[Signature, ...] = ()
    payload_type: str = PAYLOAD_TYPE

    @property
    def message(self) -> bytes:
        """What is signed: type and payload, so that neither can be taken for another."""
        return pae(self.payload_type, self.payload)

    def signed_by(self, signer: Signer) -> Envelope:
        """Return the envelope with a signature more, or with the signer's earlier one replaced."""
        others = [item for item in self.signatures if item.key_id != signer.key_id]
        added = Signature(signer.key_id, signer.sign(self.message))
        return replace(self, signatures=tuple(sorted([*others, added], key=lambda item: (item.key_id, item.value))))

    def signers(self, verifier: Verifier) -> tuple[str, ...]:
        """Return the names of the accepted keys that signed, sorted, each once; the payload is not looked into."""
        found = (verifier.signer(self.message, item.value) for item in self.signatures)
        return tuple(sorted({name for name in found if name is not None}))


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the pre-authentication encoding of a payload (DSSE protocol 1.0.0, Signature Definition)."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def write_envelope(envelope: Envelope) -> bytes:
    """Return an envelope as JSON; the same envelope gives the same bytes."""
    value = {
        "payload": base64.b64encode(envelope.payload).decode(),
        "payloadType": envelope.payload_type,
        "signatures": [
            {"keyid": item.key_id, "sig": base64.b64encode(item.value).decode()} for item in envelope.signatures
        ],
    }
    return (json.dumps(value, ensure_ascii=True, indent=1, sort_keys=True) + "\n").encode()


def read_envelope(data: bytes) -> Envelope:
    """Read an envelope; its payload is decoded and not looked into.

    Raises:
        EnvelopeError: if it is not one, is of another payload type, or holds more than the fields of the standard.
    """
    try:
        value = parse_strict(data)
    except JsonSyntaxError as error:
        raise EnvelopeError(f"is damaged: {error.message}") from error
    fields = _object(value, {"payload", "payloadType", "signatures"}, "it")
    kind, listed = fields.get("payloadType"), fields.get("signatures")
    if kind != PAYLOAD_TYPE:
        raise EnvelopeError(f"is of type `{escape(str(kind))}` instead of `{PAYLOAD_TYPE}`")
    if not isinstance(listed, list) or not listed:
        raise EnvelopeError("holds no signature")
    if len(listed) > MAX_SIGNATURES:
        raise EnvelopeError(f"holds more than {MAX_SIGNATURES} signatures")
    return Envelope(_decoded(fields.get("payload"), "payload"), tuple(_signatures(listed)))


def _signatures(listed: list[Any]) -> Iterable[Signature]:
    for position, item in enumerate(listed, 1):
        fields = _object(item, {"keyid", "sig"}, f"signature {position}")
        key_id = fields.get("keyid", "")
        if not isinstance(key_id, str):
            raise EnvelopeError(f"has a signature {position} whose `keyid` is not text")
        yield Signature(key_id, _decoded(fields.get("sig"), "sig"))


def _object(value: Any, known: set[str], what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise EnvelopeError(f"cannot be read: {what} is not an object")
    if unknown := sorted(value.keys() - known):
        raise EnvelopeError(f"cannot be read: {what} has a field `{escape(unknown[0])}`")
    return value


def _decoded(text: Any, name: str) -> bytes:
    """Decode base64 in either alphabet of RFC 4648, as the standard demands of verifiers."""
    if not isinstance(text, str) or not text:
        raise EnvelopeError(f"has no `{name}`")
    try:
        return base64.b64decode(text.translate(_STANDARD), validate=True)
    except (binascii.Error, ValueError) as error:
        raise EnvelopeError(f"has a `{name}` that is not base64") from error


_STANDARD = str.maketrans("-_", "+/")
