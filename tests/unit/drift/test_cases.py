"""Changes that other tools judge wrongly, each with the verdict it must get."""

from __future__ import annotations

from typing import Any

import pytest

from keel.core.digest import normal_tool
from keel.core.model import Policy, Surface
from keel.drift.interface import DriftContext
from keel.drift.surface import compare_surfaces


def judge(field: str, old: Any, new: Any, policy: Policy = Policy.PIN) -> list[tuple[str, str]]:
    context = DriftContext("s", policy=policy, referenced=frozenset({"s/t"}), tools_section=True)
    pair = ({"name": "t", "inputSchema": {"type": "object"}, field: value} for value in (old, new))
    surfaces = (Surface({}, (normal_tool({k: v for k, v in tool.items() if v is not None}),)) for tool in pair)
    return sorted((item.code, item.severity.value) for item in compare_surfaces(*surfaces, context))


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": sorted(properties)}


TWO, ONE, ANY = {"enum": ["a", "b"]}, {"enum": ["a"]}, {"type": "string"}
BREAKS_IN, BREAKS_OUT = [("input-breaking", "error")], [("output-breaking", "error")]
WIDER, PROMISES_MORE = [("input-widened", "warning")], [("output-widened", "warning")]


@pytest.mark.parametrize(
    ("old", "new", "as_input", "as_output"),
    [
        (ONE, TWO, WIDER, BREAKS_OUT),
        (TWO, ONE, BREAKS_IN, PROMISES_MORE),
        (ANY, TWO, BREAKS_IN, PROMISES_MORE),
        (TWO, ANY, WIDER, BREAKS_OUT),
        ({"oneOf": [ONE]}, {"oneOf": [ONE, {"enum": ["z"]}]}, WIDER, BREAKS_OUT),
        ({"anyOf": [ANY, {"type": "null"}]}, {"anyOf": [{"type": "null"}, ANY]}, [("representation-only", "info")],
         [("representation-only", "info")]),
        ({"type": "array"}, {"type": "object"}, BREAKS_IN, BREAKS_OUT),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}, [("representation-only", "info")],
         [("representation-only", "info")]),
    ],
)  # fmt: skip
def test_direction_decides(old: Any, new: Any, as_input: Any, as_output: Any) -> None:
    assert judge("inputSchema", of(p=old), of(p=new)) == as_input
    assert judge("outputSchema", of(p=old), of(p=new)) == as_output


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({**of(a=ANY), "properties": {"a": ANY, "b": ANY}}, of(a=ANY, b=ANY), BREAKS_IN),
        (of(a=ANY), of(a=ANY, c={"type": "string", "default": "x"}), [("input-latent", "error"), ("text-changed", "error")]),
        ({**of(a=ANY), "additionalProperties": False},
         {**of(a=ANY), "additionalProperties": False, "properties": {"a": ANY, "webhook_url": ANY}}, WIDER),
        ({"type": "object"}, {"type": "object", "additionalProperties": True}, [("representation-only", "info")]),
        ({"type": "object"}, {"type": "object", "additionalProperties": False}, [("input-latent", "warning")]),
        (of(a=ANY), {**of(a=ANY), "$defs": {"unused": {"const": 1}}}, [("representation-only", "info")]),
        (of(a={"items": {"additionalProperties": {"$ref": "#/$defs/x"}}}) | {"$defs": {"x": TWO}},
         of(a={"items": {"additionalProperties": {"$ref": "#/$defs/x"}}}) | {"$defs": {"x": ONE}}, BREAKS_IN),
    ],
)  # fmt: skip
def test_inputs(old: Any, new: Any, expected: Any) -> None:
    assert judge("inputSchema", old, new) == expected


@pytest.mark.parametrize(("old", "new", "expected"), [(None, of(a=ANY), PROMISES_MORE), (of(a=ANY), None, BREAKS_OUT)])
def test_an_output_schema_that_comes_or_goes(old: Any, new: Any, expected: Any) -> None:
    assert judge("outputSchema", old, new) == expected


@pytest.mark.parametrize(
    ("field", "old", "new", "expected"),
    [
        ("inputSchema", of(a=ONE), of(a=TWO), WIDER),
        ("outputSchema", of(a=TWO), of(a=ONE), PROMISES_MORE),
        ("inputSchema", of(a=TWO), of(a=ONE), BREAKS_IN),
        # Inclusion that needs "nobody passes undeclared names" is not proved.
        ("inputSchema", {"type": "object"}, {"type": "object", "properties": {"a": ANY}}, [("input-latent", "error")]),
        ("outputSchema", {**of(a=ANY), "properties": {"a": ANY, "b": ANY}}, of(a=ANY), [("output-widened", "error")]),
        ("title", "Old", "New", [("text-changed", "error")]),
        ("title", None, "New", [("text-changed", "info")]),
        ("title", "Old", None, [("text-changed", "info")]),
        ("annotations", {"readOnlyHint": True}, {}, [("hints-changed", "error")]),
    ],
)
def test_compatible_passes_only_what_is_proved(field: str, old: Any, new: Any, expected: Any) -> None:
    assert judge(field, old, new, Policy.COMPATIBLE) == expected


@pytest.mark.parametrize(
    ("meta", "severity"),
    [({"vendor": 1}, "info"), ({"ui": {"resourceUri": "ui://a"}}, "warning"), ({"ui/resourceUri": "x"}, "warning"),
     ({"openai/outputTemplate": "x"}, "warning"), ({"build": "gui"}, "info")],
)  # fmt: skip
def test_extras_that_choose_what_is_rendered_are_a_warning(meta: Any, severity: str) -> None:
    assert judge("_meta", None, meta) == [("extra-changed", severity)]


def test_hints_say_when_they_mean_the_same() -> None:
    context = DriftContext("s", referenced=frozenset({"s/t"}), tools_section=True)
    hints = ({}, {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": None})
    surfaces = (Surface({}, (normal_tool({"name": "t", "annotations": held}),)) for held in hints)
    (found,) = compare_surfaces(*surfaces, context)
    assert "`readOnlyHint` absent → false (which means the same)" in found.message
    assert "`destructiveHint` absent → false," in found.message
    assert "`idempotentHint` absent → null," in found.message


def test_the_same_version_with_other_tools_is_noted() -> None:
    def surface(description: str, version: str) -> Surface:
        tool = normal_tool({"name": "t", "description": description, "inputSchema": {"type": "object"}})
        return Surface({"serverInfo": {"name": "s", "version": version}}, (tool,))

    context = DriftContext("s", referenced=frozenset({"s/t"}), tools_section=True)
    (noted,) = compare_surfaces(surface("a", "1"), surface("b", "1"), context)
    assert noted.why.endswith("Unversioned change: the server still calls itself `1`.")
    found = compare_surfaces(surface("a", "1"), surface("b", "2"), context)
    assert [item.code for item in found] == ["identity-changed", "text-changed"]
    assert not any("Unversioned" in item.why for item in found)


@pytest.mark.parametrize("count", [1, 3, 40])
def test_small_edits_are_each_compared_with_the_lock(count: int) -> None:
    words = [f"word{number}" for number in range(200)]
    after = ["changed" if number < count else word for number, word in enumerate(words)]
    assert judge("description", " ".join(words), " ".join(after)) == [("text-changed", "error")]
