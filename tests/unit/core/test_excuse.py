import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.core.codes import CODES, Severity
from keel.core.excuse import accepts, block
from keel.core.finding import Finding, Gate, InputErrors, Location, finding
from keel.manifest.config import parse_config


def lint(key, digest="k1:" + "0" * 64, severity=Severity.ERROR):
    return Finding("free-path", severity, Gate.LINT, "m", location=Location(key=key), digest=digest)


@given(st.text(min_size=1).filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text)))
def test_any_key_is_written_so_that_toml_reads_it(key):
    text = block(lint(key))
    (entry,) = tomllib.loads(text)["suppress"]
    assert (entry["code"], entry["key"], entry["digest"]) == ("free-path", key, "k1:" + "0" * 64)
    assert text.isascii()


def test_it_counts_once_a_person_has_filled_it_in():
    text = block(lint("files/read"))
    with pytest.raises(InputErrors) as raised:
        parse_config(text, "keel.toml")
    assert {item.location.pointer for item in raised.value.findings} == {"/suppress/0/reason", "/suppress/0/until"}
    filled = text.replace('reason = ""', 'reason = "known"').replace('until = ""', "until = 2027-01-31")
    (entry,) = parse_config(filled, "keel.toml").suppress
    assert (entry.code, entry.key, entry.reason) == ("free-path", "files/read", "known")


def test_what_nothing_excuses_has_none():
    assert block(lint("", severity=Severity.WARNING)) == ""
    assert block(lint("a/b", digest="")) == ""
    assert block(lint("a/b", digest="", severity=Severity.WARNING))
    for code, info in CODES.items():
        item = finding(code, "m", location=Location(key="k"), digest="k1:" + "0" * 64)
        assert bool(block(item)) is accepts(code) is info.suppressible
