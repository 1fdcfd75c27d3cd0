"""Signing and verifying through the command line: keys, signers, sequences, and the attacks on a bundle."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from keel.bundle.archive import pack
from keel.bundle.contents import ENVELOPE, INDEX
from tests.acceptance.conftest import FLOW, MANIFEST
from tests.acceptance.harness import Keel, Result, put, surface, tool
from tests.unit.bundle.archives import Entry, entries, members, raw

SUPPRESSION = """\
[[suppress]]
code = "approval-unseen-argument"
key = "alpha/wipe"
reason = "the page number says nothing to a person"
until = 2027-01-31
"""
TODAY = "2026-12-01"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Keel:
    """Return a project with three pairs of keys, and a bundle signed by one of them."""
    keel = Keel(tmp_path_factory.mktemp("signing"))
    files = {"keel.yaml": MANIFEST, "flows.py": FLOW, "alpha.json": surface(tool("read"), tool("wipe"))}
    put(keel.root, {**files, "beta.json": surface(tool("look"))})
    assert keel("freeze").code == 0
    assert keel("bundle", "-o", "plain.keel", "--sequence", "5").code == 0
    for name in ("one", "two", "other"):
        assert keel("keygen", "-o", f"keys/{name}").code == 0
    assert keel("sign", "plain.keel", "--key", "keys/one.key", "-o", "signed.keel").code == 0
    return keel


def key_of(made: Keel, name: str) -> str:
    """Return the id of a key as anybody computes it: SHA-256 of the DER in the public file."""
    lines = (made.root / "keys" / f"{name}.pub").read_text().splitlines()
    return "sha256:" + hashlib.sha256(base64.b64decode("".join(lines[1:-1]))).hexdigest()


def verified(made: Keel, *words: str, by: str = "one") -> Result:
    return made.json("verify", *words, "--signer", f"keys/{by}.pub")


def test_a_signed_bundle_is_accepted_and_described(made: Keel) -> None:
    done = made("verify", "signed.keel", "--signer", "keys/one.pub")
    assert done.code == 0
    assert done.out.splitlines()[:4] == [
        f"project {made.root.name}",
        "flows settle",
        "sequence 5",
        f"signed by {key_of(made, 'one')}",
    ]


def test_the_statement_is_about_every_member(made: Keel) -> None:
    held = members((made.root / "signed.keel").read_bytes())
    envelope = json.loads(held.pop(ENVELOPE))
    statement = json.loads(base64.b64decode(envelope["payload"]))
    assert {item["name"]: item["digest"] for item in statement["subject"]} == {
        name: {"sha256": hashlib.sha256(data).hexdigest()} for name, data in held.items()
    }
    predicate = statement["predicate"]
    assert (predicate["project"], predicate["sequence"], predicate["flows"]) == (made.root.name, 5, ["settle"])
    assert set(predicate["lock"]["surfaces"]) == {"alpha", "beta"}
    assert predicate["rules"]["digest"].startswith("sha256:")
    assert [item["keyid"] for item in envelope["signatures"]] == [key_of(made, "one")]


def test_the_index_of_a_signed_bundle_is_as_its_schema_says(made: Keel) -> None:
    schema = json.loads(made("schema", "bundle").out)
    jsonschema.validate(json.loads(members((made.root / "signed.keel").read_bytes())[INDEX]), schema)


def test_signing_twice_gives_the_same_bytes(made: Keel) -> None:
    before = (made.root / "signed.keel").read_bytes()
    done = made("sign", "signed.keel", "--key", "keys/one.key")
    assert (done.code, done.out.splitlines()[0]) == (0, "unchanged signed.keel")
    assert (made.root / "signed.keel").read_bytes() == before


def test_two_signers(made: Keel) -> None:
    done = made("sign", "signed.keel", "-k", "keys/two.key", "-o", "both.keel")
    assert done.code == 0
    assert f"signed by {key_of(made, 'one')} before, not checked" in done.out
    again = made("sign", "plain.keel", "-k", "keys/two.key", "-k", "keys/one.key", "-o", "again.keel")
    assert again.code == 0
    assert (made.root / "both.keel").read_bytes() == (made.root / "again.keel").read_bytes()
    for by in ("one", "two"):
        assert verified(made, "both.keel", by=by).code == 0
    whole = made("verify", "both.keel", "--signer", "keys")
    assert whole.code == 0
    assert whole.out.count("signed by ") == 2
    assert "not checked" not in whole.out
    assert (verified(made, "both.keel", by="other").code, verified(made, "both.keel", by="other").codes) == (
        1,
        ["bundle-signer-unknown"],
    )


@pytest.mark.parametrize(
    ("words", "code", "codes"),
    [
        (["plain.keel"], 1, ["bundle-unsigned"]),
        (["plain.keel", "--signer", "keys/one.pub"], 1, ["bundle-unsigned"]),
        (["plain.keel", "--allow-unsigned"], 0, ["bundle-unsigned"]),
        (["signed.keel"], 1, ["bundle-signer-unknown"]),
        (["signed.keel", "--signer", "keys/two.pub"], 1, ["bundle-signer-unknown"]),
        (["signed.keel", "--signer", "keys/two.pub", "--allow-unsigned"], 1, ["bundle-signer-unknown"]),
        (["signed.keel", "--signer", "keys/two.pub", "--signer", "keys/one.pub"], 0, []),
        (["signed.keel", "--signer", "keys/one.pub", "--min-sequence", "5"], 0, []),
        (["signed.keel", "--signer", "keys/one.pub", "--min-sequence", "6"], 1, ["bundle-outdated"]),
        (["plain.keel", "--allow-unsigned", "--min-sequence", "6"], 1, ["bundle-outdated"]),
    ],
)
def test_what_is_accepted(made: Keel, words: list[str], code: int, codes: list[str]) -> None:
    done = made.json("verify", *words)
    assert (done.code, done.codes) == (code, codes)


def test_an_info_says_what_was_accepted_without_proof(made: Keel) -> None:
    done = made.json("verify", "signed.keel", "--allow-unsigned")
    assert (done.code, done.report["counts"]["info"]) == (0, 1)
    assert f"signed by {key_of(made, 'one')}, not checked" in done.report["changes"]


def stripped(data: bytes) -> bytes:
    return pack({name: body for name, body in members(data).items() if name != ENVELOPE})


def changed(data: bytes, name: str, body: bytes) -> bytes:
    return pack({**members(data), name: body})


def envelope_with(data: bytes, **fields: object) -> bytes:
    return changed(data, ENVELOPE, json.dumps({**json.loads(members(data)[ENVELOPE]), **fields}).encode())


def envelope_of_another(data: bytes, other: bytes) -> bytes:
    return changed(data, ENVELOPE, members(other)[ENVELOPE])


ATTACKS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "altered member": (lambda data: changed(data, "flows/settle.json", b"{}"), "bundle-invalid"),
    "missing member": (
        lambda data: pack({name: body for name, body in members(data).items() if name != "manifest.json"}),
        "bundle-invalid",
    ),
    "extra member": (lambda data: changed(data, "sources/more.py", b"evil()"), "bundle-invalid"),
    "re-ordered members": (lambda data: raw(reversed(entries(data))), "bundle-invalid"),
    "duplicated member": (
        lambda data: raw([*entries(data), Entry(b"flows.py", b"x"), Entry(b"flows.py", b"y")]),
        "bundle-invalid",
    ),
    "zip-slip member": (lambda data: raw([*entries(data), Entry(b"../../evil.py", b"evil()")]), "bundle-invalid"),
    "link": (lambda data: raw([*entries(data), Entry(b"z", b"/etc/passwd", mode=0o120777)]), "bundle-invalid"),
    "bomb": (lambda data: raw([*entries(data), Entry(b"z", b"", size=1 << 31)]), "bundle-invalid"),
    "bytes after the end": (lambda data: data + b"evil", "bundle-invalid"),
    "comment": (lambda data: raw(entries(data), comment=b"evil"), "bundle-invalid"),
    "signature stripped": (stripped, "bundle-unsigned"),
    "payload type changed": (lambda data: envelope_with(data, payloadType="application/json"), "bundle-invalid"),
    "payload changed": (lambda data: envelope_with(data, payload="e30="), "bundle-signature-invalid"),
    "no signatures": (lambda data: envelope_with(data, signatures=[]), "bundle-invalid"),
    "signature by nobody": (lambda data: envelope_with(data, signatures=[{"sig": "AAAA"}]), "bundle-signer-unknown"),
    "truncated": (lambda data: data[:-30], "bundle-invalid"),
    "empty": (lambda _: b"", "bundle-invalid"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_is_refused(made: Keel, name: str, tmp_path: Path) -> None:
    change, code = ATTACKS[name]
    attacked = change((made.root / "signed.keel").read_bytes())
    assert attacked != (made.root / "signed.keel").read_bytes()
    (tmp_path / "attacked.keel").write_bytes(attacked)
    done = verified(made, str(tmp_path / "attacked.keel"))
    assert (done.code, done.codes) == (1, [code])
    again = made.json("sign", str(tmp_path / "attacked.keel"), "--key", "keys/two.key")
    # What is unsigned, or signed by whomever, may be signed; what is not whole may not.
    assert again.code == (0 if name in ("signature stripped", "signature by nobody") else 1)


def test_the_envelope_of_another_bundle_is_refused(made: Keel) -> None:
    assert made("bundle", "-o", "newer.keel", "--sequence", "6").code == 0
    assert made("sign", "newer.keel", "--key", "keys/one.key").code == 0
    plain, newer = ((made.root / name).read_bytes() for name in ("plain.keel", "newer.keel"))
    (made.root / "mixed.keel").write_bytes(envelope_of_another(plain, newer))
    done = verified(made, "mixed.keel")
    assert (done.code, done.codes) == (1, ["bundle-invalid"])
    assert "what was signed is not this bundle" in done.report["findings"][0]["message"]


def test_a_key_from_the_environment_and_from_standard_input(made: Keel) -> None:
    pem = (made.root / "keys/one.key").read_text()
    for words, stdin, environment in (
        (["--key", "env:SIGNING_KEY"], "", {"SIGNING_KEY": pem}),
        (["--key", "-"], pem, {}),
    ):
        assert made("sign", "plain.keel", *words, "-o", "from.keel", stdin=stdin, **environment).code == 0
        assert (made.root / "from.keel").read_bytes() == (made.root / "signed.keel").read_bytes()


def test_an_encrypted_key(made: Keel) -> None:
    made_one = made("keygen", "--encrypt", "-o", "keys-locked/k", KEEL_KEY_PASSPHRASE="open sesame")
    assert made_one.code == 0
    assert "sesame" not in made_one.out + made_one.err
    sign = ("sign", "plain.keel", "--key", "keys-locked/k.key", "-o", "locked.keel")
    assert made(*sign, KEEL_KEY_PASSPHRASE="open sesame").code == 0
    assert made("verify", "locked.keel", "--signer", "keys-locked/k.pub").code == 0
    none, wrong = made(*sign), made(*sign, KEEL_KEY_PASSPHRASE="wrong")
    assert (none.code, wrong.code) == (2, 2)
    assert "KEEL_KEY_PASSPHRASE" in none.out
    assert "passphrase does not open" in wrong.out


def test_a_terminal_is_asked_for_the_passphrase_without_showing_it(made: Keel) -> None:
    here, there = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "keel", "keygen", "--encrypt", "-o", "keys-asked/k"],
        cwd=made.root,
        env={"PATH": os.environ["PATH"], "HOME": str(made.root), "TERM": "dumb", "LC_ALL": "C.UTF-8"},
        preexec_fn=lambda: os.login_tty(there),  # noqa: PLW1509 - this process has one thread
    )
    os.close(there)
    seen = b""
    try:
        for question in (b"new passphrase: ", b"the same again: "):
            while question not in seen:
                seen += os.read(here, 1000)
            os.write(here, b"xyzzy\n")
        while b"key id" not in seen:
            seen += os.read(here, 1000)
        assert child.wait(60) == 0
    finally:
        child.kill()
        os.close(here)
    assert b"xyzzy" not in seen
    done = made("sign", "plain.keel", "--key", "keys-asked/k.key", "-o", "asked.keel", KEEL_KEY_PASSPHRASE="xyzzy")
    assert done.code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sign", "plain.keel"], "--key"),
        (["sign", "plain.keel", "--key", "keys/one.pub"], "a public key, which cannot sign"),
        (["sign", "plain.keel", "--key", "nowhere.key"], "cannot be read"),
        (["sign", "plain.keel", "--key", "env:NOWHERE"], "variable `NOWHERE` is not set"),
        (["sign", "plain.keel", "--key", "-"], "standard input is empty"),
        (["sign", "plain.keel", "--key", "-", "--key", "-"], "holds one key"),
        (["sign", "plain.keel", "--key", "empty.key"], "is empty"),
        (["sign", "plain.keel", "--key", "rsa.key"], "another algorithm"),
        (["sign", "nowhere.keel", "--key", "keys/one.key"], "cannot be read"),
        (["sign", "plain.keel", "--key", "keys/one.key", "-o", "keys/one.key/x"], "cannot be created"),
        (["verify", "plain.keel", "--signer", "keys/one.key"], "a private key, where the public one belongs"),
        (["verify", "plain.keel", "--signer", "nowhere.pub"], "cannot be read"),
        (["verify", "plain.keel", "--signer", "nokeys"], "holds no key of a signer"),
        (["verify", "plain.keel", "--min-sequence", "-1"], "min-sequence"),
        (["bundle", "--sequence", "0"], "sequence"),
        (["keygen", "-o", "keys/one"], "is there already"),
        (["keygen", "--encrypt", "-o", "fresh"], "KEEL_KEY_PASSPHRASE"),
    ],
)
def test_a_key_or_a_word_that_cannot_be_used_is_2(made: Keel, words: list[str], said: str) -> None:
    (made.root / "nokeys").mkdir(exist_ok=True)
    (made.root / "empty.key").write_bytes(b"")
    (made.root / "rsa.key").write_bytes(_rsa())
    done = made(*words)
    assert done.code == 2, done.out + done.err
    assert said in done.out + done.err
    assert not (made.root / "fresh.key").exists()


def _rsa() -> bytes:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = rsa.generate_private_key(65537, 2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def test_a_key_that_others_may_read_is_used_and_said(made: Keel) -> None:
    shared = made.root / "shared.key"
    shared.write_bytes((made.root / "keys/one.key").read_bytes())
    shared.chmod(0o644)
    done = made.json("sign", "plain.keel", "--key", "shared.key", "-o", "shared.keel")
    assert (done.code, done.codes) == (0, ["key-exposed"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plain.keel"], "bundle-unsigned"),
        (["signed.keel"], "bundle-signer-unknown"),
        (["signed.keel", "--signer", "keys/two.pub"], "bundle-signer-unknown"),
        (["signed.keel", "--signer", "keys/one.pub", "--min-sequence", "6"], "bundle-outdated"),
        (["trailing.keel", "--signer", "keys/one.pub"], "bundle-invalid"),
    ],
)
def test_what_executes_a_bundle_asks_the_same(made: Keel, words: list[str], said: str) -> None:
    (made.root / "trailing.keel").write_bytes((made.root / "signed.keel").read_bytes() + b"x")
    done = made("call", "alpha/read", "--bundle", *words, "--input", '{"q": "x"}')
    assert done.code == 2
    assert f"error[{said}]" in done.out + done.err
    assert not (made.root / ".keel").exists()


def test_no_key_is_ever_printed(made: Keel) -> None:
    body = (made.root / "keys/one.key").read_text().splitlines()[1]
    for words in (
        ["sign", "plain.keel", "--key", "env:KEY", "-o", "x.keel"],
        ["sign", "plain.keel", "--key", "keys/one.key", "-o", "x.keel", "-v", "--format", "json"],
        ["verify", "plain.keel", "--signer", "keys/one.key"],
        ["sign", "nowhere", "--key", "env:KEY"],
    ):
        done = made(*words, KEY=body)
        assert body not in done.out + done.err


def test_every_suppression_is_printed_with_reason_and_date(keel: Keel) -> None:
    flow = FLOW.replace("await wipe(q=q)", "await wipe(q=q, page=page)").replace("q: str)", "q: str, page: str)")
    schema = {"type": "object", "properties": {"q": {"type": "string"}, "page": {"type": "string"}}}
    files = {"keel.yaml": MANIFEST, "flows.py": flow, "keel.toml": SUPPRESSION, "beta.json": surface(tool("look"))}
    put(keel.root, {**files, "alpha.json": surface(tool("read"), tool("wipe", schema=schema))})
    keel("freeze")
    built = keel("bundle", "-o", "b.keel", "--today", TODAY)
    assert built.code == 0, built.out
    assert keel("keygen").code == 0
    assert keel("sign", "b.keel", "-k", "keel.key").code == 0
    done = keel("verify", "b.keel", "--signer", "keel.pub")
    assert done.code == 0
    said = "suppressed approval-unseen-argument alpha/wipe until 2027-01-31: the page number says nothing to a person"
    assert [line for line in done.out.splitlines() if line.startswith("suppressed ")] == [said]
