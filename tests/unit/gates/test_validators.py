"""Literal values that a validator must not see as something else."""

from __future__ import annotations

from typing import Any

import pytest

from keel.gates.validators import Validators


@pytest.mark.parametrize("value", [float("inf"), [1, float("-inf")], {"a": {"b": float("nan")}}])
def test_a_number_that_json_does_not_have_is_named_as_what_it_is(value: Any) -> None:
    assert (
        Validators().error("t", {"properties": {"x": {"type": "null"}}}, {"x": value})
        == "JSON has no number that is infinite or none"
    )


def test_other_numbers_are_judged_by_the_schema() -> None:
    validators = Validators()
    schema = {"properties": {"x": {"maximum": 5}}}
    assert validators.error("t", schema, {"x": [1e300, 10**400]}) == ""
    assert "5" in validators.error("t", schema, {"x": 1e300})
