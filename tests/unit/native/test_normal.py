"""The normal form hides how pydantic spells a schema, and nothing of what the schema says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from keel.native.normal import SchemaTooLarge, normal_form

STRING, NULL = {"type": "string"}, {"type": "null"}


@pytest.mark.parametrize(
    ("spelling", "normal"),
    [
        ({"title": "A", "type": "string"}, STRING),
        ({"type": "object", "properties": {"title": {"title": "Title", "type": "string"}}},
         {"type": "object", "properties": {"title": STRING}}),
        ({"default": {"title": "kept"}, "type": "object"}, {"default": {"title": "kept"}, "type": "object"}),
        ({"const": "a", "enum": ["a"], "type": "string"}, {"const": "a", "type": "string"}),
        ({"enum": ["a"]}, {"const": "a", "type": "string"}),
        ({"enum": [True, False]}, {"enum": [True, False], "type": "boolean"}),
        ({"enum": [1, "a"]}, {"enum": [1, "a"]}),
        ({"enum": [[1]]}, {"const": [1]}),
        ({"allOf": [{"$ref": "#/$defs/A"}], "default": "x", "$defs": {"A": STRING}}, {"type": "string", "default": "x"}),
        ({"$ref": "#/$defs/A", "description": "mine", "$defs": {"A": {"description": "its", "type": "string"}}},
         {"description": "mine", "type": "string"}),
        ({"allOf": [{"minLength": 1}], "minLength": 2}, {"allOf": [{"minLength": 1}], "minLength": 2}),
        ({"anyOf": [NULL, {"anyOf": [STRING, NULL]}, STRING]}, {"anyOf": [STRING, NULL]}),
        ({"anyOf": [STRING, STRING]}, STRING),
        ({"type": "string", "pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"}, STRING),
        ({"type": "number", "minimum": 0.0, "default": 1.5}, {"type": "number", "minimum": 0, "default": 1.5}),
        ({"oneOf": [{"$ref": "#/$defs/A"}], "discriminator": {"propertyName": "k"}, "$defs": {"A": STRING}},
         {"oneOf": [STRING]}),
        ({"$ref": "#/$defs/A", "minLength": 2, "$defs": {"A": STRING}}, {"minLength": 2, "allOf": [STRING]}),
        ({"items": True, "type": "array"}, {"items": True, "type": "array"}),
        ({"$ref": "#/$defs/Gone"}, {"$ref": "#/$defs/Gone"}),
        ({"$ref": "#/$defs/Yes", "$defs": {"Yes": True}}, {"$ref": "#/$defs/Yes"}),
    ],
)  # fmt: skip
def test_spellings(spelling: dict[str, Any], normal: dict[str, Any]) -> None:
    assert normal_form(spelling) == normal
    assert normal_form(normal) == normal


def test_keywords_are_sorted_and_properties_are_not() -> None:
    schema = normal_form({"type": "object", "properties": {"b": {"type": "string", "format": "date"}, "a": {}}})
    assert list(schema) == ["properties", "type"]
    assert list(schema["properties"]) == ["b", "a"]
    assert list(schema["properties"]["b"]) == ["format", "type"]


def test_a_type_that_holds_itself_stays_a_definition_under_its_short_name() -> None:
    tree = {"type": "object", "properties": {"kids": {"items": {"$ref": "#/$defs/app__models__Tree-Input"}}}}
    schema = normal_form({"anyOf": [{"$ref": "#/$defs/app__models__Tree-Input"}, NULL],
                          "$defs": {"app__models__Tree-Input": tree, "Other": STRING}})  # fmt: skip
    assert schema == {
        "anyOf": [{"$ref": "#/$defs/Tree"}, NULL],
        "$defs": {"Tree": {"type": "object", "properties": {"kids": {"items": {"$ref": "#/$defs/Tree"}}}}},
    }
    assert normal_form(schema) == schema


def test_two_types_of_one_name_keep_their_full_names() -> None:
    def node(name: str) -> dict[str, Any]:
        return {"items": {"$ref": f"#/$defs/{name}"}}

    schema = normal_form({"prefixItems": [{"$ref": "#/$defs/a__N"}, {"$ref": "#/$defs/b__N"}],
                          "$defs": {"a__N": node("a__N"), "b__N": node("b__N")}})  # fmt: skip
    assert sorted(schema["$defs"]) == ["a__N", "b__N"]


def test_types_that_hold_each_other_end() -> None:
    schema = normal_form({"$ref": "#/$defs/A", "$defs": {"A": {"items": {"$ref": "#/$defs/B"}},
                                                         "B": {"items": {"$ref": "#/$defs/A"}}}})  # fmt: skip
    assert schema["items"] == {"$ref": "#/$defs/B"}
    assert sorted(schema["$defs"]) == ["A", "B"]


def test_inlining_is_bounded() -> None:
    definitions = {f"L{i}": {"prefixItems": [{"$ref": f"#/$defs/L{i + 1}"}] * 4} for i in range(12)}
    with pytest.raises(SchemaTooLarge, match="50,000 nodes"):
        normal_form({"$ref": "#/$defs/L0", "$defs": {**definitions, "L12": STRING}})


scalars = st.sampled_from([None, True, False, 0, 1, 2, "a", "b", ""])
leaves = st.one_of(
    st.sampled_from(
        [{"type": "string"}, {"type": "integer"}, {"type": "null"}, {"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]
    ),
    st.builds(lambda values: {"enum": values}, st.lists(scalars, min_size=1, max_size=2, unique_by=repr)),
    st.builds(lambda value: {"const": value, "title": "T"}, scalars),
    st.builds(lambda low: {"minimum": low, "type": "number"}, st.sampled_from([0.0, 1.0])),
)
schemas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda items: {"anyOf": items}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda item, low: {"allOf": [item], "minimum": low}, inner, st.integers(0, 2)),
        st.builds(lambda item: {**item, "description": "beside", "additionalProperties": False}, inner),
        st.builds(lambda item: {"type": "array", "items": item}, inner),
        st.builds(lambda item: {"type": "object", "properties": {"title": item}, "required": ["title"]}, inner),
    ),
    max_leaves=6,
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.builds(lambda item: {"title": item}, inner),
    max_leaves=4,
)


@given(schemas, schemas, schemas, st.lists(values, min_size=1, max_size=8))
def test_the_set_of_accepted_values_never_changes(
    root: dict[str, Any], first: dict[str, Any], second: dict[str, Any], samples: list[Any]
) -> None:
    # `A` may hold itself below an array; `B` may hold `A`.
    definitions = {"A": {"type": "array", "items": first}, "B": {"type": "object", "properties": {"title": second}}}
    document = {**root, "$defs": definitions}
    before, after = Draft202012Validator(document), Draft202012Validator(normal_form(document))
    for sample in samples:
        assert before.is_valid(sample) == after.is_valid(sample)
