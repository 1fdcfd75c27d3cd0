"""`keel verify`: whether a bundle is whole, unaltered, new enough and signed by someone accepted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from keel.app.keys import read_verifier
from keel.app.outcome import Outcome
from keel.bundle.contents import GATES
from keel.bundle.verify import Demands, Verified
from keel.bundle.verify import verify as verify_bytes
from keel.core.codes import Severity
from keel.core.finding import Finding, Location, Report, finding
from keel.core.jsontext import parse_strict
from keel.core.text import plural
from keel.store.files import read_bytes


def verify(
    path: Path, signers: Sequence[Path] = (), *, allow_unsigned: bool = False, min_sequence: int | None = None
) -> Outcome:
    """Check every member of a bundle, and who signed it.

    Args:
        path: the bundle.
        signers: files or folders with the public keys of accepted signers.
        allow_unsigned: whether a bundle without a signature will do.
        min_sequence: the lowest sequence accepted.

    Raises:
        FileError: if a file cannot be read.
        KeyUnusable: if a public key cannot be used.
        UsageError: if a folder holds no keys.
    """
    demands = Demands(read_verifier(signers), allow_unsigned, min_sequence)
    result = verify_bytes(read_bytes(path), path.name, demands)
    whole = result.lock is not None and all(item.code != "bundle-invalid" for item in result.findings)
    lines = tuple(_described(result)) if whole else ()
    report = Report.of([*result.findings, *_unproven(result, path.name)])
    return Outcome(report, looked_at=plural(len(result.members), "member"), lines=lines)


def _unproven(result: Verified, file: str) -> Iterator[Finding]:
    """Note, without counting it, what was accepted without proof because `--allow-unsigned` says so."""
    if result.findings or result.signers:
        return
    if result.envelope is None:
        code, message = "bundle-unsigned", f"`{file}` carries no signature"
    else:
        code, message = "bundle-signer-unknown", f"the signatures of `{file}` were not checked"
    yield finding(code, message, location=Location(file=file), severity=Severity.INFO)


def _described(result: Verified) -> Iterator[str]:
    index = result.index
    yield f"project {index['project']}"
    yield f"flows {', '.join(index['flows']) or 'none'}"
    yield f"sequence {index['sequence'] or 'none'}"
    yield from (f"signed by {name}" for name in result.signers)
    if result.envelope is not None:
        others = sorted({item.key_id for item in result.envelope.signatures} - set(result.signers))
        yield from (f"signed by {name or 'a key without a name'}, not checked" for name in others)
    yield from _suppressed(result.members[GATES])


def _suppressed(data: bytes) -> Iterator[str]:
    for item in parse_strict(data).get("suppressed", ()):
        code, key, reason, until = (str(item.get(name, "")) for name in ("code", "key", "reason", "until"))
        yield f"suppressed {' '.join(part for part in (code, key) if part)} until {until}: {reason}"
