"""Where keys and passphrases come from, and what a new pair of keys leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keel.app.keygen import keygen
from keel.app.keys import PASSPHRASE, Person, read_signer, read_verifier
from keel.errors import KeelError, UsageError
from keel.signing.ed25519 import Ed25519Signer, generate, key_id, private_pem, public_pem
from keel.store.files import FileError

KEY = generate()


def person(stdin: bytes = b"", answers: list[str] | None = None, **environ: str) -> Person:
    ask: Callable[[str], str] | None = None
    if answers is not None:
        ask = lambda _: answers.pop(0)  # noqa: E731
    return Person(environ, lambda: stdin, ask)


def written(path: Path, data: bytes, mode: int = 0o600) -> str:
    path.write_bytes(data)
    path.chmod(mode)
    return str(path)


def test_a_key_from_a_file_a_variable_and_standard_input(tmp_path: Path) -> None:
    pem = private_pem(KEY)
    text = pem.decode()
    sources = {
        written(tmp_path / "k", pem): person(),
        "env:SIGNING": person(SIGNING=text),
        "env:ONE_LINE": person(ONE_LINE=text.replace("\n", "\\n")),
        "-": person(stdin=pem),
    }
    for source, who in sources.items():
        signer, warnings = read_signer(source, who)
        assert signer.key_id == key_id(KEY.public_key())
        assert warnings == ()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o604])
def test_a_key_that_others_may_read_is_said(tmp_path: Path, mode: int) -> None:
    _, warnings = read_signer(written(tmp_path / "k", private_pem(KEY), mode), person())
    assert [item.code for item in warnings] == ["key-exposed"]
    assert f"{mode:04o}" in warnings[0].message


def test_the_passphrase_comes_from_the_environment_or_a_person(tmp_path: Path) -> None:
    source = written(tmp_path / "k", private_pem(KEY, b"secret"))
    for who in (person(**{PASSPHRASE: "secret"}), person(answers=["secret"])):
        assert read_signer(source, who)[0].key_id == key_id(KEY.public_key())
    asked: list[str] = ["never asked"]
    assert read_signer(source, person(answers=asked, **{PASSPHRASE: "secret"}))[0]
    assert asked == ["never asked"]
    assert read_signer(written(tmp_path / "plain", private_pem(KEY)), person(answers=asked))[0]
    assert asked == ["never asked"]


@pytest.mark.parametrize(
    ("source", "who", "said"),
    [
        ("env:NONE", person(), "variable `NONE` is not set"),
        ("env:EMPTY", person(EMPTY=""), "variable `EMPTY` is empty"),
        ("-", person(), "standard input is empty"),
        ("nowhere.key", person(), "cannot be read"),
        (".", person(), "cannot be read"),
        ("-", person(stdin=private_pem(KEY, b"secret")), "standard input holds an encrypted key"),
        ("-", person(stdin=private_pem(KEY, b"secret"), answers=["wrong"]), "does not open standard input"),
        ("-", person(stdin=private_pem(KEY, b"secret"), answers=[""]), "holds an encrypted key"),
    ],
)
def test_a_source_without_a_usable_key(source: str, who: Person, said: str) -> None:
    with pytest.raises(KeelError, match=said):
        read_signer(source, who)


def test_accepted_signers_from_files_and_folders(tmp_path: Path) -> None:
    one, two, three = generate(), generate(), generate()
    folder = tmp_path / "keys"
    folder.mkdir()
    (folder / "one.pub").write_bytes(public_pem(one.public_key()))
    (folder / "two.pem").write_bytes(public_pem(two.public_key()))
    (folder / "README").write_text("not a key")
    (tmp_path / "three").write_bytes(public_pem(three.public_key()) + public_pem(one.public_key()))
    verifier = read_verifier([folder, tmp_path / "three"])
    assert verifier is not None
    assert verifier.key_ids == {key_id(key.public_key()) for key in (one, two, three)}
    assert read_verifier([]) is None


def test_a_folder_without_keys_accepts_nobody_by_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no key of a signer"):
        read_verifier([tmp_path])


def test_a_new_pair(tmp_path: Path) -> None:
    outcome = keygen(tmp_path / "new" / "release.2026", encrypt=False, person=person())
    private, public = tmp_path / "new" / "release.2026.key", tmp_path / "new" / "release.2026.pub"
    assert (private.stat().st_mode & 0o777, public.stat().st_mode & 0o777) == (0o600, 0o644)
    signer, warnings = read_signer(str(private), person())
    assert isinstance(signer, Ed25519Signer)
    verifier = read_verifier([public])
    assert verifier is not None
    assert verifier.key_ids == {signer.key_id}
    assert warnings == ()
    assert f"key id {signer.key_id}" in outcome.lines
    assert private.read_text().splitlines()[1] not in "".join(outcome.lines)


def test_an_encrypted_pair(tmp_path: Path) -> None:
    keygen(tmp_path / "a", encrypt=True, person=person(**{PASSPHRASE: "secret"}))
    keygen(tmp_path / "b", encrypt=True, person=person(answers=["secret", "secret"]))
    for name in ("a.key", "b.key"):
        assert b"BEGIN ENCRYPTED PRIVATE KEY" in (tmp_path / name).read_bytes()
        assert read_signer(str(tmp_path / name), person(**{PASSPHRASE: "secret"}))[0]


@pytest.mark.parametrize(
    ("who", "said"),
    [
        (person(), "no passphrase"),
        (person(**{PASSPHRASE: ""}), "no passphrase"),
        (person(answers=[""]), "no passphrase"),
        (person(answers=["one", "two"]), "differ"),
    ],
)
def test_no_pair_without_its_passphrase(tmp_path: Path, who: Person, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        keygen(tmp_path / "k", encrypt=True, person=who)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["k.key", "k.pub"])
def test_nothing_is_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(FileError, match="is there already"):
        keygen(tmp_path / "k", encrypt=False, person=person())
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "mine")]


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "k.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="is there already"):
        keygen(tmp_path / "k", encrypt=False, person=person())
    assert not (tmp_path / "elsewhere").exists()
