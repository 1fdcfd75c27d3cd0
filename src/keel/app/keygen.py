"""`keel keygen`: a new pair of keys, of which nothing is overwritten."""

from __future__ import annotations

from pathlib import Path

from keel.app.keys import PASSPHRASE, Person, passphrase
from keel.app.outcome import Outcome
from keel.errors import UsageError
from keel.store.files import FileError, exists, make_folder, write_new

PREFIX = Path("keel")
"""Default of `--output`."""


def keygen(prefix: Path, *, encrypt: bool, person: Person) -> Outcome:
    """Write `PREFIX.key`, which only its owner may read, and `PREFIX.pub`.

    Raises:
        FileError: if one of them is there already, or cannot be written; then neither is.
        UsageError: if the key is to be encrypted and there is no passphrase.
    """
    private, public = (prefix.parent / f"{prefix.name}{suffix}" for suffix in (".key", ".pub"))
    for path in (private, public):
        if exists(path):
            raise FileError(
                f"`{path}` is there already", hint="no key is overwritten; choose another `--output PREFIX`"
            )
    secret = _new_passphrase(person) if encrypt else None
    # Loads `cryptography`, after everything that may be wrong with the command line.
    from keel.signing.ed25519 import generate, key_id, private_pem, public_pem  # noqa: PLC0415

    key = generate()
    make_folder(private.parent)
    write_new(private, private_pem(key, secret), mode=0o600)
    try:
        write_new(public, public_pem(key.public_key()), mode=0o644)
    except FileError:
        private.unlink()
        raise
    how = "encrypted" if encrypt else "not encrypted"
    lines = (
        f"wrote {private} (private key, {how}; keep it out of repositories and images)",
        f"wrote {public} (public key; give it to whoever verifies)",
        f"key id {key_id(key.public_key())}",
    )
    return Outcome(lines=lines, hints=(f"sign with `keel sign FILE --key {private}`",))


def _new_passphrase(person: Person) -> bytes:
    secret = passphrase(person, "new passphrase")
    if not secret:
        raise UsageError("there is no passphrase to encrypt the key with", hint=f"set {PASSPHRASE} to one")
    if person.environ.get(PASSPHRASE) is None and passphrase(person, "the same again") != secret:
        raise UsageError("the two passphrases differ", hint="type the same one twice")
    return secret
