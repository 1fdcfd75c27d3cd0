"""Masks: which regular expressions may be applied to text that a server chose."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.manifest.masks import mask_problem


@pytest.mark.parametrize(
    "pattern",
    [
        "'[A-Za-z_/]+'",
        r"\d{4}-\d{2}",
        "(?:ab)+",
        "(ab|cd)",
        "[]a]+",
        "[^]]+",
        "a++",
        "x{1,64}",
        r"\(a\+\)+",
        "[(+]+",
        "^a$",
    ],
)
def test_linear_masks(pattern):
    assert mask_problem(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "(a+)+",
        "((a+)b)*",
        "(a|b)*",
        "(?:a|ab){2,}",
        "(?=a)b",
        "(?<!a)b",
        r"(a)\1",
        "(?P<n>a)(?P=n)",
        "(?i)a",
        "[",
        "(a",
        "a**",
        "x" * 257,
        "(?(1)a|b)",
        "[[a]",
    ],
)
def test_refused_masks(pattern):
    assert mask_problem(pattern)


@given(st.text(alphabet="ab()|*+?[]{}1,^$.\\:=<!P-", max_size=20))
def test_accepted_masks_compile_and_end_soon(pattern):
    if mask_problem(pattern) is None:
        started = time.process_time()
        re.compile(pattern).search("ab" * 64)
        assert time.process_time() - started < 1
