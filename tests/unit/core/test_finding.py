"""Findings have one order, however they were produced."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from keel.core.finding import Location, PathStep, Report, finding


def test_findings_that_differ_in_anything_that_is_shown_have_one_order() -> None:
    one = finding("input-breaking", "`s/t` now requires `x`", location=Location(key="s/t"), digest="k1:aa")
    alike = [
        one,
        replace(one, digest="k1:bb"),
        replace(one, why="Another reason."),
        replace(one, path=(PathStep("flows.py", 3, "t()"),)),
    ]
    orders = {Report.of(order).findings for order in permutations(alike)}
    assert len(orders) == 1
    assert len(orders.pop()) == len(alike)
