"""Reading YAML: values of the core schema, positions, and everything that is refused."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.manifest.yamltree import MAX_CHARACTERS, read_yaml


def places(text):
    document = read_yaml(text)
    return [
        (problem.message, document.place(problem).line, document.place(problem).column) for problem in document.problems
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: true", {"a": True}),
        ("a: yes", {"a": "yes"}),
        ("a: on", {"a": "on"}),
        ("a: No", {"a": "No"}),
        ("a: 0o17", {"a": 15}),
        ("a: 017", {"a": 17}),
        ("a: 0x1F", {"a": 31}),
        ("a: 1_000", {"a": "1_000"}),
        ("a: 12:30:45", {"a": "12:30:45"}),
        ("a: 2026-01-01", {"a": "2026-01-01"}),
        ("a: 1.5e3", {"a": 1500.0}),
        ("a: ~", {"a": None}),
        ("a:", {"a": None}),
        ("a: '1'", {"a": "1"}),
        ('a: "true"', {"a": "true"}),
        ("\ufeffa: 1\r\nb:\r\n  - x\r\n", {"a": 1, "b": ["x"]}),
        ("- [a, {b: c}]", [["a", {"b": "c"}]]),
        ("", None),
        ("# only a comment\n", None),
    ],
)
def test_values(text, value):
    document = read_yaml(text)
    assert (document.problems, document.value) == ((), value)


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("a: &x 1\n", "anchor `&x` is not allowed", 1, 4),
        ("a: 1\nb: *x\n", "alias `*x` is not allowed", 2, 4),
        ("<<: {a: 1}\n", "merge keys (`<<`) are not allowed", 1, 1),
        ("a: !!python/object:os.system x\n", "tag `tag:yaml.org,2002:python/object:os.system` is not allowed", 1, 4),
        ("a: !x [1]\n", "tag `!x` is not allowed", 1, 4),
        ("a: 1\n---\nb: 2\n", "the file holds more than one YAML document", 2, 1),
        ("%YAML 1.1\n---\na: 1\n", "`%` directives are not allowed; the manifest is YAML 1.2 throughout", 1, 1),
        ("a: 1\nb: 2\na: 3\n", "key `a` is repeated; it stands already in line 1", 3, 1),
        ("1: x\n", "key `1` is not text", 1, 1),
        ("true: x\n", "key `true` is not text", 1, 1),
        ("? [a]\n: b\n", "a key must be text", 1, 3),
        ("a:\n\tb: 1\n", "a tab stands where YAML allows only spaces", 2, 1),
        ("a: \x07\n", "character U+0007 is not allowed in YAML text", 1, 4),
        ("a: x\u2028y\n", "character U+2028 is not allowed in YAML text", 1, 5),
        ('a: "\\ud83d"\n', "the text holds half of a surrogate pair", 1, 4),
        ('a: "\\U00110000"\n', "an escape names no Unicode character", 1, 7),
    ],
)
def test_refusals(text, message, line, column):
    assert places(text) == [(message, line, column)]


@pytest.mark.parametrize("text", ["[1, 2", "a: b: c", "a: 'x", "{a: 1", "a: `x`", "a: |\n  x\n y: 1", "- a\nb: 1"])
def test_syntax_errors_stand_alone_and_stop_the_reading(text):
    document = read_yaml(text)
    assert not document.readable
    assert len(document.problems) == 1
    assert document.problems[0].message.startswith("not YAML: ")


def test_repeated_keys_inside_a_repeated_value_are_judged_apart():
    messages = [message for message, _, _ in places("a: 1\na: {x: 1}\na: {x: 2, x: 3}\n")]
    assert messages == ["key `a` is repeated; it stands already in line 1"] * 2 + [
        "key `x` is repeated; it stands already in line 3"
    ]


def test_billion_laughs_costs_nothing():
    text = "a: &a [x,x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)},*{chr(97 + i)}]\n" for i in range(24)
    )
    started = time.process_time()
    assert len(places(text)) > 24
    assert time.process_time() - started < 2


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused_early(opening):
    started = time.process_time()
    document = read_yaml(opening * 5_000)
    assert not document.readable
    assert [problem.message for problem in document.problems] == ["nesting is deeper than 32 levels"]
    assert time.process_time() - started < 5


def test_huge_text_is_refused_unread():
    assert not read_yaml("a" * (MAX_CHARACTERS + 1)).readable


def test_positions_count_characters_not_bytes():
    document = read_yaml('é: "😀"\nlist: [ä, {k: v}]\n')
    assert document.values[("é",)].column == 4
    assert (document.keys[("list", 1, "k")].line, document.keys[("list", 1, "k")].column) == (2, 12)


@given(st.text(alphabet="ab:- \n[]{},'\"\\Ux0&*!|>%#?\t1~<.é😀\r", max_size=60))
def test_any_text_gives_a_document_never_a_traceback(text):
    document = read_yaml(text)
    for problem in document.problems:
        at = document.place(problem)
        assert at.line >= 1
        assert at.column >= 1
    assert document.readable or document.problems


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp", "Cn", "Co"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc~/", max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_json_is_read_as_what_it_is(value):
    document = read_yaml(json.dumps(value))
    assert document.problems == ()
    assert document.value == value
