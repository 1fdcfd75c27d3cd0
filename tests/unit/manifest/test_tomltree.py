"""TOML with positions: every path of a document is located, whatever syntax wrote it."""

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.manifest.documents import paths

from keel.manifest.tomltree import MAX_CHARACTERS, read_toml

TEXT = '''\
# comment with "quotes" and [brackets]
top = "x" # = 1
"quoted key" = 'lit # eral'
a.b."c.d" = 1.5

[table] # note
multi = """
line = [1]
\\""" still"""
raw = \'\'\'
[not.a.table]\'\'\'
when = 2026-01-01T00:00:00Z
list = [
  1, # one
  { k = "v", n.m = [true, -inf] },
  [], ["x"],
]
[[items]]
code = "first"
[[items]]
code = "second"
[items.sub]
deep = 0xFF
[[items.inner]]
x = 1
'''


def test_every_syntax_is_located():
    document = read_toml(TEXT)
    assert set(document.values) == set(paths(document.value))
    lines = {path: document.key_at(path).line for path in document.values}
    assert lines[("top",)] == 2
    assert lines[("quoted key",)] == 3
    assert lines[("a", "b", "c.d")] == 4
    assert lines[("table",)] == 6
    assert lines[("table", "raw")] == 10
    assert lines[("table", "list", 1, "n", "m", 1)] == 15
    assert lines[("items", 0, "code")] == 19
    assert lines[("items", 1)] == 20
    assert lines[("items", 1, "sub", "deep")] == 23
    assert lines[("items", 1, "inner", 0, "x")] == 25
    at = document.values[("table", "list", 1, "k")]
    assert (at.line, at.column) == (15, 9)


def test_dates_become_text_and_times_stay():
    value = read_toml("a = 2026-01-02\nb = 2026-01-02T03:04:05\nc = 03:04:05").value
    assert value["a"] == "2026-01-02"
    assert not isinstance(value["b"], str)
    assert not isinstance(value["c"], str)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = \n", 1, 5),
        ("a = 1\na = 2\n", 2, 6),
        ("[a]\n[a]\n", 2, 3),
        ("a = [1,", 1, 8),
        ("\n\nx y", 3, 3),
        ('a = "\n"', 1, 6),
    ],
)
def test_syntax_errors_have_places(text, line, column):
    document = read_toml(text)
    assert not document.readable
    (problem,) = document.problems
    assert problem.message.startswith("not TOML: ")
    assert (document.place(problem).line, document.place(problem).column) == (line, column)


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 100_000, "a = " + "{a=" * 5_000, "x" * (MAX_CHARACTERS + 1), "a = " + "9" * 5_000]
)
def test_hostile_documents_are_refused(text):
    assert not read_toml(text).readable


def test_line_ends_and_byte_order_mark():
    one, other = read_toml(TEXT), read_toml("\ufeff" + TEXT.replace("\n", "\r\n"))
    assert (one.values, one.keys) == (other.values, other.keys)


KEYS = st.text("ab.-\" '#=\n", min_size=1, max_size=4)
VALUES = st.recursive(
    st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8"), max_size=6)
    | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.booleans())
def test_every_path_is_located(value, multiline):
    document = read_toml(tomli_w.dumps(value, multiline_strings=multiline))
    assert document.readable
    assert set(document.values) == set(paths(document.value))


@given(st.text(alphabet="ab=[]{}.,\"'#\n \t1\\", max_size=40))
def test_any_text_is_read_or_refused(text):
    document = read_toml(text)
    if document.readable:
        assert set(document.values) == set(paths(document.value))
