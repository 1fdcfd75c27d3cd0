"""JSON with comments and trailing commas: values, places, and clear refusals."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.manifest.documents import paths

from keel.manifest.jsonctree import MAX_CHARACTERS, read_jsonc


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, /* c */ "b": [1, 2,], // x\n}', {"a": 1, "b": [1, 2]}),
        ('\ufeff{"a": "http://x//y /* z */"}\r\n', {"a": "http://x//y /* z */"}),
        ('["\\ud83d\\ude80", "é", null, true, -1.5e3]', ["🚀", "é", None, True, -1500.0]),
        ("{}", {}),
    ],
)
def test_values(text, value):
    document = read_jsonc(text)
    assert (document.problems, document.value) == ((), value)
    assert set(document.values) == set(paths(value))


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("", "expected a value, but the file ends", 1, 1),
        ('{"a": 1', "expected `,` or `}`, but the file ends", 1, 8),
        ('{\n  "a" 1}', "expected `:`, found `1`", 2, 7),
        ('{"a": 1 "b": 2}', 'expected `,` or `}`, found `"b"`', 1, 9),
        ("{'a': 1}", "texts stand in double quotes", 1, 2),
        ('{"a": tru}', "`tru` is no JSON value", 1, 7),
        ('{"a": "x\n"}', "a text is not closed in its line", 1, 7),
        ("{} {}", "expected the end of the file, found `{`", 1, 4),
        ("[,]", "expected a value, found `,`", 1, 2),
        ('{"a": "\\x"}', '`"\\x"` is no JSON value', 1, 7),
        ("/* open", "expected a value, found `/`", 1, 1),
        ('{"a": 01}', "`01` is no JSON value", 1, 7),
    ],
)
def test_refusals(text, message, line, column):
    document = read_jsonc(text)
    assert not document.readable
    (problem,) = document.problems
    at = document.place(problem)
    assert (problem.message, at.line, at.column) == (f"not JSON: {message}", line, column)


def test_repeated_keys_and_half_characters_are_problems():
    document = read_jsonc('{"a": 1,\n "a": "\\ud800"}')
    assert [(problem.message, document.place(problem).line) for problem in document.problems] == [
        ("key `a` is repeated; it stands already in line 1", 2),
        ("the text holds half of a surrogate pair", 2),
    ]


def test_depth_and_size_are_bounded():
    started = time.process_time()
    assert not read_jsonc("[" * 100_000).readable
    assert not read_jsonc("x" * (MAX_CHARACTERS + 1)).readable
    assert not read_jsonc('{"a": ' + "9" * 100_000 + "}").readable
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9" * 6_000, "a number of 6,000 characters; at most 1,000 are read"),
        ("-1e999", "number `-1e999` is out of range"),
        ("[" * 100, "nesting is deeper than 64 levels"),
    ],
)
def test_a_limit_is_named_and_no_error_of_the_syntax(text: str, message: str) -> None:
    document = read_jsonc(text)
    assert not document.readable
    assert [problem.message for problem in document.problems] == [message]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, st.sampled_from([None, 2]), st.booleans())
def test_json_is_read_as_what_it_is(value, indent, ascii_):
    document = read_jsonc(json.dumps(value, indent=indent, ensure_ascii=ascii_))
    assert (document.problems, document.value) == ((), value)


@given(st.text(alphabet='{}[],:"\\u12e-/* \nabtrue', max_size=40))
def test_any_text_is_read_or_refused(text):
    document = read_jsonc(text)
    assert document.readable or document.problems
