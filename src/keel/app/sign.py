"""`keel sign`: signatures over a bundle that is whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from keel.app.keys import Person, read_signer
from keel.app.outcome import Outcome
from keel.bundle.sign import sign as sign_members
from keel.bundle.verify import verify
from keel.core.finding import Report
from keel.core.text import plural
from keel.errors import UsageError
from keel.store.files import make_folder, read_bytes, write_atomically


def sign(path: Path, keys: Sequence[str], *, output: Path | None, person: Person) -> Outcome:
    """Sign a bundle with every key; signatures by others stay.

    Args:
        path: the bundle.
        keys: where the private keys come from: paths, `env:NAME`, or `-`.
        output: where the signed bundle goes; over the bundle itself when absent.
        person: variables, standard input and whoever knows passphrases.

    Raises:
        FileError: if a file cannot be read or written.
        KeyUnusable: if a key cannot be used.
        UsageError: if a key is named in a way that cannot be followed.
    """
    if keys.count("-") > 1:
        raise UsageError("standard input holds one key", hint="give the others as files or as `env:NAME`")
    verified = verify(read_bytes(path), path.name)
    if verified.findings:
        return Outcome(Report.of(verified.findings), looked_at="nothing was signed")
    read = [read_signer(source, person) for source in keys]
    signers = [signer for signer, _ in read]
    signed = sign_members(verified, signers)
    target = output or path
    make_folder(target.parent)
    changed = write_atomically(target, signed)
    held = {item.key_id for item in verified.envelope.signatures} if verified.envelope is not None else set()
    mine = {signer.key_id for signer in signers}
    lines = [f"{'signed' if changed else 'unchanged'} {target}"]
    lines += [f"signed by {name}" for name in sorted(mine)]
    lines += [f"signed by {name or 'a key without a name'} before, not checked" for name in sorted(held - mine)]
    warnings = [item for _, found in read for item in found]
    return Outcome(Report.of(warnings), looked_at=plural(len(verified.members), "member"), lines=tuple(lines))
