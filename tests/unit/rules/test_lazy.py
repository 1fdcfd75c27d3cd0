"""An expression is compiled when it is used and behaves as a compiled one."""

import re

import pytest

from keel.rules.lazy import Lazy, lazy


def test_nothing_is_compiled_before_the_first_use():
    broken = lazy("(")
    assert broken.pattern == "("
    with pytest.raises(re.error):
        broken.search("x")


def test_it_behaves_as_the_compiled_expression():
    pattern, compiled = lazy("(b)C", re.IGNORECASE), re.compile("(b)C", re.IGNORECASE)
    for text in ("abc", "abd", ""):
        assert (pattern.search(text) is None) == (compiled.search(text) is None)
    assert pattern.sub("-", "aBcbC") == compiled.sub("-", "aBcbC") == "a--"
    assert pattern.flags == re.IGNORECASE


def test_a_method_is_fetched_once():
    pattern = Lazy("a", 0)
    assert pattern.search is pattern.search
