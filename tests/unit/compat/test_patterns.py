"""Regular expressions: which are understood, what they match, and the shortest strings of their combinations."""

import os

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keel.compat.automaton import Automaton, TooManyStates, automaton
from keel.compat.syntax import UnsupportedPattern, invert, merge, parse
from keel.compat.words import GaveUp, Language, shortest

EXAMPLES = 10_000 if os.environ.get("KEEL_TEST_LONG") else 200
pytestmark = pytest.mark.timeout(1800)


@pytest.mark.parametrize(
    "source",
    ["(", ")", "a)", "[a", "[b-a]", "[\\d-z]", "*a", "a**", "{2}", "a{3,2}", "a{6000}", "a{x}", "a{,3}", "\\", "\\1", "\\k<x>", "\\b", "\\B",
     "\\p{L}", "\\xg0", "\\u12", "\\u{110000}", "\\ud800", "\\ud800\\u0041", "\\A", "\\c", "(?i)a", "(?<n>a",
     "[[a]]", "[a&&b]", "[a~~b]", "^*", "(?=a)*", "a]", "a}", "(" * 80 + ")" * 80, "a{1,", "\\u{}", "[a-"],
)  # fmt: skip
def test_what_is_not_understood_is_refused(source):
    with pytest.raises(UnsupportedPattern):
        parse(source)


@pytest.mark.parametrize(
    "source", ["a(?!b)", "(?<!a)b", "(?<=a)b", "^(?<=a)b", "(?=a)$", "(?=a)|b", "(?:a{1000}){1000}"]
)
def test_what_has_no_small_automaton_is_refused(source):
    with pytest.raises(UnsupportedPattern):
        Automaton(parse(source))


@pytest.mark.parametrize(
    ("source", "yes", "no"),
    [
        ("", ["", "a"], []),
        ("b", ["abc"], ["ac", ""]),
        ("^a$", ["a"], ["a\n", "ba", ""]),
        ("^(?:a|b)+?c{2}$", ["abcc"], ["cc", "abc"]),
        ("^[^a-c]$", ["d", "\U0001f600"], ["a", "dd"]),
        ("^.$", ["x"], ["\n", "\r", "\u2028"]),
        ("^\\w\\W\\d\\D\\s\\S$", ["a-1a x"], ["a-1a x ", "\u00e9-1a x"]),
        ("^\\x41\\u0042\\u{43}\\ud83d\\ude00$", ["ABC\U0001f600"], ["ABC"]),
        ("^[\\b\\-\\]\\t]$", ["\b", "-", "]", "\t"], ["b"]),
        ("^[]$", [], ["", "a"]),
        ("^[^]$", ["a"], [""]),
        ("^a{0}b{1,}c{0,1}$", ["b", "bbc"], ["", "ab", "bcc"]),
        ("(^a|b)$", ["a", "xb"], ["xa"]),
        ("^(?<year>\\d{4})\\/\\.$", ["2024/."], ["2024/x"]),
        ("a$|^b", ["xa", "bx"], ["ax"]),
        ("^(^a|b)*$", ["", "abb"], ["ba"]),
        ("a^b", [], ["ab"]),
    ],
)  # fmt: skip
def test_matching(source, yes, no):
    machine = automaton(parse(source))
    assert [text for text in yes if not machine.matches(text)] == []
    assert [text for text in no if machine.matches(text)] == []


ATOMS = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", "\\d", "\\w", "\\s", "1", "-"])


@st.composite
def expressions(draw, depth=3):
    """A supported expression, anchors in odd places included."""
    shape = draw(st.sampled_from(["atom", "cat", "alt", "repeat", "edge"])) if depth else "atom"
    if shape == "atom":
        return draw(ATOMS)
    inner = expressions(depth=depth - 1)
    if shape == "repeat":
        return f"(?:{draw(inner)}){draw(st.sampled_from(['*', '+', '?', '{2}', '{1,2}', '{0,}']))}"
    if shape == "edge":
        return f"(?:^{draw(inner)})" if draw(st.booleans()) else f"(?:{draw(inner)}$)"
    parts = draw(st.lists(inner, min_size=1, max_size=3))
    return "".join(parts) if shape == "cat" else "(" + "|".join(parts) + ")"


EXPRESSIONS = expressions()
TEXTS = st.text(st.sampled_from("abc1- \n\u00e9\U0001f600"), max_size=5)


@settings(max_examples=EXAMPLES, deadline=None)
@given(EXPRESSIONS, st.lists(TEXTS, max_size=10))
def test_matching_agrees_with_the_validator(source, texts):
    judge = jsonschema_rs.Draft202012Validator({"pattern": source})
    machine = Automaton(parse(source))
    for text in texts:
        assert machine.matches(text) == judge.is_valid(text), text


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    EXPRESSIONS, EXPRESSIONS, st.integers(0, 3), st.none() | st.integers(0, 5), st.frozensets(TEXTS, max_size=3), TEXTS
)
def test_the_shortest_word_is_in_the_language_and_none_means_empty(first, second, low, high, excluded, text):
    machines = ((automaton(parse(first)), True), (automaton(parse(second)), False))

    def inside(word):
        fits = low <= len(word) and (high is None or len(word) <= high) and word not in excluded
        return fits and all(machine.matches(word) == want for machine, want in machines)

    word = shortest(Language(machines, low, high, excluded))
    if word is None:
        assert not inside(text)
    else:
        assert inside(word)
        assert len(word) <= len(text) or not inside(text)


def test_lengths_alone():
    assert shortest(Language((), 2, 1, frozenset())) is None
    assert shortest(Language((), 0, 0, frozenset({""}))) is None
    assert shortest(Language((), 0, None, frozenset({""}))) == "a"
    assert shortest(Language((), 1, 1, frozenset(chr(code) for code in range(128)))) not in map(chr, range(128))
    with pytest.raises(GaveUp):
        shortest(Language((), 10**7, None, frozenset()))


def test_a_state_explosion_is_given_up():
    bomb = automaton(parse("^(a|b)*a(a|b){60}$"))
    with pytest.raises(GaveUp):
        shortest(Language(((bomb, False), (automaton(parse("^[ab]*$")), True)), 3000, None, frozenset()))
    noise = "".join("ab"[(seed * 7919 >> bit) & 1] for seed in range(1, 4000) for bit in range(40))
    with pytest.raises(TooManyStates):
        bomb.matches(noise)


def test_long_and_huge_searches_are_given_up():
    digits = automaton(parse("^\\d*$"))
    with pytest.raises(GaveUp):
        shortest(Language(((digits, True),), 6000, None, frozenset()))
    many = tuple((automaton(parse(f"^(?:{'a' * n}|[b-z\\d ])*$")), True) for n in range(2, 14))
    with pytest.raises(GaveUp):
        shortest(Language((*many, (automaton(parse("^a*[A-Z]$")), True)), 0, None, frozenset()))


def test_ranges():
    assert merge([(5, 6), (1, 2), (3, 4)]) == ((1, 6),)
    assert invert(invert(((0, 9), (20, 0x10FFFF)))) == ((0, 9), (20, 0x10FFFF))
