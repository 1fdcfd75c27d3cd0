"""Canonical JSON: RFC 8785 wherever both are defined, exact digits for integers, refusal of what has no form."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st
from tests.unit import strategies

from keel.core.canonical import CanonicalError, canonical_bytes, number_text
from keel.core.digest import definition_digest, digest
from keel.core.jsontext import parse_strict

VECTORS = json.loads((Path(__file__).parents[3] / "fixtures/digest-vectors.json").read_text(encoding="utf-8"))
SAFE = st.integers(-(2**53) + 1, 2**53 - 1)


@pytest.mark.parametrize("vector", VECTORS["values"], ids=lambda vector: vector["canonical"][:30])
def test_published_values(vector: dict[str, str]) -> None:
    assert canonical_bytes(parse_strict(vector["text"])) == vector["canonical"].encode()


@pytest.mark.parametrize("vector", VECTORS["tools"], ids=lambda vector: vector["about"])
def test_published_tools(vector: dict[str, object]) -> None:
    equal = definition_digest(vector["one"]) == definition_digest(vector["other"])  # type: ignore[arg-type]
    assert equal is vector["same"]


@given(
    st.recursive(
        st.none() | st.booleans() | SAFE | strategies.fractions | strategies.text,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strategies.text, inner, max_size=4),
        max_leaves=12,
    )
)
def test_agrees_with_rfc8785_where_both_are_defined(value: object) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@given(strategies.fractions)
def test_fractions_agree_with_rfc8785(number: float) -> None:
    assert number_text(number).encode() == rfc8785.dumps(number)


@given(strategies.values)
def test_canonical_text_reads_back_to_the_same_value(value: object) -> None:
    text = canonical_bytes(value)
    assert canonical_bytes(parse_strict(text)) == text


@given(st.dictionaries(strategies.text, strategies.values, max_size=5))
def test_key_order_means_nothing(value: dict[str, object]) -> None:
    assert digest(dict(reversed(value.items()))) == digest(value)


@given(st.integers(-(10**18), 10**18))
def test_notation_of_an_integer_means_nothing(number: int) -> None:
    assert (
        digest(parse_strict(f"{number}.0")) == digest(parse_strict(f"{number}")) == digest(parse_strict(f"{number}e0"))
    )


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        "\ud800",
        {"\udc00": 1},
        {1: 2},
        object(),
        [1.5, math.nan],
        pytest.param(10**5000, id="long"),
        pytest.param([0.5, 10**5000], id="long beside a fraction"),
    ],
)
def test_refuses_what_has_no_canonical_form(value: object) -> None:
    with pytest.raises(CanonicalError):
        canonical_bytes(value)


@pytest.mark.parametrize("leaf", [1, 1.5])
def test_refuses_depth_without_a_recursion_error(leaf: float) -> None:
    value: object = leaf
    for _ in range(5000):
        value = [value]
    with pytest.raises(CanonicalError, match="deeper"):
        canonical_bytes(value)
