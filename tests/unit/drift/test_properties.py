"""Whatever a server sends: a comparison ends, raises nothing, and is silent exactly when nothing differs."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keel.core.digest import definition_digest, extra_digest, normal_tool
from keel.core.model import Policy, Surface
from keel.drift.impact import Impacts
from keel.drift.interface import DriftContext
from keel.drift.surface import compare_surfaces
from keel.drift.usage import Usage
from keel.flow.modules import MemorySources
from keel.flow.read import read_flows

pytestmark = pytest.mark.timeout(900)
CASES = 1_000 if os.environ.get("KEEL_TEST_LONG") else 100
LONG = settings(max_examples=CASES, deadline=None, suppress_health_check=[HealthCheck.too_slow])

WORDS = st.sampled_from(
    ["a", "b", "type", "string", "object", "required", "properties", "default", "title", "", "/", "~", "\u200b", "$ref"]
)
KEYWORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "enum",
        "const",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "$ref",
        "$defs",
        "additionalProperties",
        "minimum",
        "maxLength",
        "pattern",
        "default",
        "description",
        "title",
        "format",
        "x",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.just(0.5) | WORDS
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS | WORDS, inner, max_size=4),
    max_leaves=8,
)
SCHEMAS = st.recursive(
    st.sampled_from(
        [True, False, {}, {"type": "string"}, {"type": ["integer", "null"]}, {"enum": [1, "a"]}, {"$ref": "#"}]
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "string", ["object", "null"]]),
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "additionalProperties": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "description": WORDS,
            "default": SCALARS,
        },
    ),
    max_leaves=5,
)
FIELDS = {
    "title": JSON,
    "description": JSON,
    "inputSchema": SCHEMAS | JSON,
    "outputSchema": SCHEMAS | JSON,
    "annotations": st.dictionaries(st.sampled_from(["readOnlyHint", "title", "x"]), SCALARS) | JSON,
    "_meta": JSON,
    "icons": JSON,
    "execution": JSON,
    "x": JSON,
}
TOOLS = st.fixed_dictionaries({"name": st.just("t")}, optional=FIELDS)


def compared(old: dict[str, Any], new: dict[str, Any], policy: Policy = Policy.PIN) -> list[str]:
    context = DriftContext("s", policy=policy, referenced=frozenset({"s/t"}), tools_section=True)
    surfaces = (Surface({}, (normal_tool(tool),)) for tool in (old, new))
    return [item.code for item in compare_surfaces(*surfaces, context)]


@LONG
@given(TOOLS, TOOLS, st.sampled_from([Policy.PIN, Policy.COMPATIBLE]))
def test_silent_exactly_when_the_digests_are_equal(old: dict[str, Any], new: dict[str, Any], policy: Policy) -> None:
    found = compared(old, new, policy)
    one, other = normal_tool(old), normal_tool(new)
    same = (definition_digest(one), extra_digest(one)) == (definition_digest(other), extra_digest(other))
    assert (not found) == same


@LONG
@given(TOOLS, st.sampled_from(sorted(FIELDS)), JSON)
def test_one_field_that_changes_is_always_said(tool: dict[str, Any], field: str, value: Any) -> None:
    new = {**tool, field: value}
    one, other = normal_tool(tool), normal_tool(new)
    same = (definition_digest(one), extra_digest(one)) == (definition_digest(other), extra_digest(other))
    assert (not compared(tool, new)) == same
    assert compared(tool, dict(reversed(tool.items()))) == []


@LONG
@given(st.lists(TOOLS, max_size=3), st.lists(TOOLS, max_size=3))
def test_renames_and_additions_never_raise(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> None:
    def surface(tools: list[dict[str, Any]], letter: str) -> Surface:
        return Surface({}, tuple(normal_tool({**tool, "name": f"{letter}{at}"}) for at, tool in enumerate(tools)))

    found = compare_surfaces(surface(old, "o"), surface(new, "n"), DriftContext("s", tools_section=True))
    codes = [item.code for item in found]
    assert codes.count("tool-added") == len(new)
    assert codes.count("tool-removed") + codes.count("tool-renamed") == len(old)


FLOW = """
from keel import flow, mcp_tool
get = mcp_tool("s", "t")
put = mcp_tool("s", "u")

@flow
def go(a: str, more: dict):
    hit = get(a=a, b=1, type={"a": [1, "x"], "b": a})
    for row in hit["a"]:
        put(a=row["b"], b=hit["b"][0], c="a" if a else "b")
    get(**more)
    return put(a=hit)
"""
USAGE = Usage(read_flows(MemorySources({"flows.py": FLOW}), flows=("flows.py",), source_roots=(".",)))


@LONG
@given(st.tuples(TOOLS, TOOLS, TOOLS, TOOLS))
def test_impact_never_raises_and_no_change_breaks_nothing(tools: tuple[dict[str, Any], ...]) -> None:
    old, other, new, another = map(normal_tool, tools)
    before, after = {"s/t": old, "s/u": other}, {"s/t": new, "s/u": another}
    found = Impacts(USAGE, before, after)
    for key in before:
        for impact in (found.input(key), found.output(key), found.gone(key)):
            assert impact.sentence
            assert impact.site.startswith("go@flows.py:")
    same = Impacts(USAGE, before, before)
    assert not any(item.certain for key in before for item in (*same.input(key).affected, *same.output(key).affected))
