"""References: what is one, what stays text, and what resolving them gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.errors import ExitCode
from keel.manifest.references import (
    MissingReferences,
    Names,
    ReferenceSyntaxError,
    Secret,
    Text,
    Variable,
    names,
    parse_value,
    resolve,
    write,
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("plain", (Text("plain"),)),
        ("$VAR and $ and $$", (Text("$VAR and $ and $$"),)),
        ("secret://a.b-c_1", (Secret("a.b-c_1", whole=True),)),
        ("Bearer ${secret:t}", (Text("Bearer "), Secret("t"))),
        ("${A}${B:-d e:-f}${C:-}", (Variable("A"), Variable("B", "d e:-f"), Variable("C", ""))),
        ("{a} ${A}} }", (Text("{a} "), Variable("A"), Text("} }"))),
        ("${A:-\n}", (Variable("A", "\n"),)),
    ],
)
def test_forms(text, parts):
    assert parse_value(text) == parts
    assert write(parts) == text


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Bearer secret://t", "write `${secret:t}` inside text; `secret://t` must be the whole value"),
        ("secret://t ", None),
        ("secret://a/b", None),
        ("secret://", None),
        ("x=secret://", "write `${secret:name}` inside text; `secret://name` must be the whole value"),
        ("${secret://t}", None),
        ("${env:A}", "write `${A}`"),
        ("${input:key}", "write `${secret:key}`"),
        ("${secret:}", "write `${VAR}`, `${VAR:-default}` or `${secret:name}`"),
        ("${A-d}", None),
        ("${}", None),
        ("${A", None),
        ("${A:-${B}}", None),
        ("${1}", None),
    ],
)
def test_refusals(text, hint):
    with pytest.raises(ReferenceSyntaxError) as caught:
        parse_value(text)
    assert caught.value.hint
    assert hint is None or caught.value.hint == hint


def test_an_embedded_secret_error_quotes_nothing_but_the_reference():
    with pytest.raises(ReferenceSyntaxError) as caught:
        parse_value("hunter2 secret://t hunter2")
    assert "hunter2" not in caught.value.message + caught.value.hint


def test_names():
    assert names(parse_value("${B}${A:-x}${secret:s}${B}")) == Names(("A", "B"), ("s",))


def test_resolving():
    found = resolve("${A}-${B:-b}-${C:-c}-${secret:s}-$A", variables={"A": "1", "C": ""}, secrets={"s": "x"})
    assert found == "1-b-c-x-$A"
    assert resolve("secret://s", variables={}, secrets={"s": ""}) == ""


def test_inserted_text_is_not_read_again():
    assert resolve("${A}${secret:s}", variables={"A": "${secret:s}"}, secrets={"s": "${A}"}) == "${secret:s}${A}"


def test_everything_missing_is_named_at_once():
    with pytest.raises(MissingReferences) as caught:
        resolve("${B}${A}${secret:t}${D:-d}${secret:s}", variables={"B": ""}, secrets={"t": "known"})
    assert (caught.value.variables, caught.value.secrets) == (("A",), ("s",))
    assert caught.value.exit_code is ExitCode.INCOMPLETE
    assert "known" not in caught.value.message


@given(st.text(alphabet="${}:-secret/AB\n ", max_size=40))
def test_whatever_parses_writes_itself(text):
    try:
        parts = parse_value(text)
    except ReferenceSyntaxError:
        return
    assert write(parts) == text
    needed = names(parts)
    resolved = resolve(text, variables=dict.fromkeys(needed.variables, "v"), secrets=dict.fromkeys(needed.secrets, "s"))
    assert "${" not in resolved


@given(st.text(st.characters(exclude_characters="$"), max_size=40).filter(lambda text: "secret://" not in text))
def test_text_without_references_stays(text):
    assert resolve(text, variables={}, secrets={}) == text
