"""What clients see of tools: names of their own, and definitions exactly as frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.core.model import Contract, FrozenTool
from keel.core.naming import NAME_RULES, exposed_names
from keel.gateway.tools import shown_tools


@dataclass
class Held:
    """As much of a bundle as names and definitions take."""

    tools: dict[str, FrozenTool]
    refused: tuple[str, ...] = ()

    def admits(self, key: str) -> bool:
        return key not in self.refused


def frozen(key: str, **wire: Any) -> FrozenTool:
    return FrozenTool(key, {"name": key.rpartition("/")[2], **wire}, "k1:00", Contract())


def test_definitions_are_shown_as_frozen_and_nothing_of_the_connection() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer", "x-odd": [None, 1.5, {"é": True}]}},
        "$defs": {},
    }
    wire = {
        "title": "T", "description": "D\u200b", "inputSchema": schema, "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": False, "x": 1}, "execution": {"taskSupport": "required"},
        "_meta": {"upstream": 1}, "icons": [{"src": "https://evil.example/track.png"}],
    }  # fmt: skip
    (shown,) = shown_tools(Held({"s/t": frozen("s/t", **wire)})).values()
    assert shown.definition == {
        "name": "s__t", "title": "T", "description": "D\u200b", "inputSchema": schema,
        "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": False, "x": 1},
    }  # fmt: skip


def test_only_admitted_tools_are_shown() -> None:
    tools = {key: frozen(key, inputSchema={"type": "object"}) for key in ("s/a", "s/b", "native")}
    assert list(shown_tools(Held(tools, refused=("s/b",)))) == ["native", "s__a"]


def test_two_tools_never_share_a_name() -> None:
    keys = [("a", "b__c"), ("a__b", "c"), ("", "a__b__c"), ("s", "x y"), ("s", "x_y"), ("s", "x.y"), ("s", "x é")]
    names = exposed_names(keys)
    assert len(set(names.values())) == len(keys)
    assert names["s", "x.y"] == "s__x.y"
    assert names["s", "x_y"] != "s__x_y"


def test_a_tool_named_like_the_mark_of_another_does_not_take_its_name() -> None:
    first = exposed_names([("s", "x y"), ("s", "x_y")])
    mimic = first["s", "x y"].removeprefix("s__")
    names = exposed_names([("s", "x y"), ("s", "x_y"), ("s", mimic)])
    assert len(set(names.values())) == 3


PARTS = st.text(alphabet="ab_. é", min_size=1, max_size=140)


@pytest.mark.parametrize("target", list(NAME_RULES))
@given(keys=st.sets(st.tuples(st.sampled_from(["", "a", "a_b", "a__b", "b"]), PARTS), max_size=12))
def test_names_are_distinct_permitted_and_independent_of_order(target: str, keys: set[tuple[str, str]]) -> None:
    names = exposed_names(sorted(keys), target)
    assert len(set(names.values())) == len(keys)
    assert all(len(name) <= NAME_RULES[target].longest for name in names.values())
    assert exposed_names(sorted(keys, reverse=True), target) == names
