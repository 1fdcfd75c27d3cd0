"""Where keys come from: files, folders, variables, standard input; passphrases from the environment or a person."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from keel.core.finding import Finding, Location, finding
from keel.errors import UsageError
from keel.store.files import list_folder, read_bytes

if TYPE_CHECKING:
    from keel.bundle.interface import Signer, Verifier

PASSPHRASE = "KEEL_KEY_PASSPHRASE"  # noqa: S105 - the name of the variable
"""The variable that holds the passphrase of encrypted keys."""
SUFFIXES = (".pem", ".pub")
"""Which files of a folder hold keys of signers."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class Person:
    """How secrets reach this run besides files."""

    environ: Mapping[str, str]
    stdin: Callable[[], bytes]
    """Reads standard input to its end."""
    ask: Callable[[str], str] | None = None
    """Asks for a passphrase without showing it; None where nobody is there to answer."""


def read_signer(source: str, person: Person) -> tuple[Signer, tuple[Finding, ...]]:
    """Read a private key.

    Args:
        source: a path, `env:NAME`, or `-` for standard input.
        person: variables, standard input and whoever knows the passphrase.

    Returns:
        The key, and a warning when others may read its file.

    Raises:
        FileError: if the file cannot be read.
        KeyUnusable: if it holds no usable key.
        UsageError: if a variable is not set.
    """
    from keel.signing.ed25519 import is_encrypted, load_signer  # noqa: PLC0415 - loads `cryptography`

    pem, origin = _private(source, person)
    secret = passphrase(person, f"passphrase of {origin}") if is_encrypted(pem) else None
    return load_signer(pem, origin, secret), tuple(_exposed(source))


def _private(source: str, person: Person) -> tuple[bytes, str]:
    if source == "-":
        return person.stdin(), "standard input"
    if source.startswith("env:"):
        name = source.removeprefix("env:")
        if name not in person.environ:
            raise UsageError(f"variable `{name}` is not set", hint="set it to the private key in PEM")
        # Where a variable takes one line only, its line ends are often written out.
        return person.environ[name].replace("\\n", "\n").encode(errors="surrogateescape"), f"variable `{name}`"
    return read_bytes(Path(source)), f"`{source}`"


def passphrase(person: Person, question: str) -> bytes | None:
    """Return the passphrase from the environment, or from whoever is there; None when there is neither."""
    given = person.environ.get(PASSPHRASE)
    if given is None and person.ask is not None:
        given = person.ask(f"{question}: ")
    return given.encode(errors="surrogateescape") if given else None


def _exposed(source: str) -> Iterator[Finding]:
    if os.name != "posix" or source == "-" or source.startswith("env:"):
        return
    status = Path(source).stat()
    if stat.S_ISREG(status.st_mode) and status.st_mode & _OTHERS:
        message = f"others may read or write `{source}` (mode {stat.S_IMODE(status.st_mode):04o})"
        yield finding("key-exposed", message, location=Location(file=source), next=f"run `chmod 600 {source}`")


def read_verifier(paths: Iterable[Path]) -> Verifier | None:
    """Return who knows the accepted signers; None when none are named.

    Args:
        paths: files with one or more public keys in PEM, or folders of `.pem` and `.pub` files.

    Raises:
        FileError: if a file cannot be read.
        KeyUnusable: if one holds anything but usable public keys.
        UsageError: if a folder holds none.
    """
    files = [file for path in paths for file in _files(path)]
    if not files:
        return None
    from keel.signing.ed25519 import Ed25519Verifier, load_public_keys  # noqa: PLC0415 - loads `cryptography`

    return Ed25519Verifier.of(key for file in files for key in load_public_keys(read_bytes(file), f"`{file}`"))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = [item for item in list_folder(path) if item.suffix in SUFFIXES]
    if not found:
        raise UsageError(f"folder `{path}` holds no key of a signer", hint="put the `.pub` files of signers there")
    return found
