"""Latent breaks, pointers and sentences."""

import pytest

from keel.compat.interface import Side
from keel.compat.relation import relate


def tool(properties, required=(), **more):
    return {"type": "object", "properties": properties, "required": list(required), **more}


@pytest.mark.parametrize(
    ("old", "new", "side"),
    [
        (tool({"q": {}}), tool({"q": {}, "n": {"type": "integer"}}), Side.LATENT),
        (tool({"q": {}}), tool({"q": {}}, additionalProperties=False), Side.LATENT),
        (tool({"q": {}}, additionalProperties=True), tool({"q": {}}, additionalProperties=False), Side.LATENT),
        (tool({"q": {}}), tool({"q": {}, "n": {"type": "integer"}}, ["n"]), Side.BREAKING),
        (tool({"q": {}, "n": {}}), tool({"q": {}, "n": {"type": "integer"}}), Side.BREAKING),
        (tool({"q": {}}, additionalProperties={"type": "string"}), tool({"q": {}}, additionalProperties=False), Side.BREAKING),
        (tool({"q": {}}, propertyNames={"maxLength": 4}), tool({"q": {}}, additionalProperties=False), Side.BREAKING),
        ({"type": "object"}, {"type": "object", "additionalProperties": False}, Side.LATENT),
        (tool({"m": {"type": "object"}}), tool({"m": {"type": "object", "additionalProperties": {"type": "string"}}}), Side.BREAKING),
        ({"type": "object", "maxProperties": 5}, {"type": "object", "maxProperties": 3}, Side.BREAKING),
        (tool({}, patternProperties={"^x-": {}}), tool({}, additionalProperties=False), Side.BREAKING),
        (tool({"o": tool({"q": {}})}), tool({"o": tool({"q": {}}, additionalProperties=False)}), Side.LATENT),
        ({"allOf": [tool({"q": {}}), tool({"n": {}})]}, tool({"q": {}, "n": {"type": "null"}}), Side.BREAKING),
        ({"anyOf": [tool({"q": {}}), {"type": "null"}]}, tool({"q": {}}), Side.BREAKING),
        ({"$ref": "#/$defs/t", "$defs": {"t": tool({"q": {}})}}, tool({"q": {}}, maxProperties=1), Side.LATENT),
        (tool({"q": {}}, dependentSchemas={"q": tool({"n": {}})}), tool({"q": {}, "n": False}), Side.BREAKING),
        (tool({"q": {}}, dependentRequired={"q": ["n"]}), tool({"q": {}, "n": {"type": "null"}}), Side.BREAKING),
    ],
)  # fmt: skip
def test_a_break_only_through_an_undeclared_name_is_latent(old, new, side):
    assert relate(old, new).input is side
    assert relate(new, old).output is side


def test_a_witness_keeps_to_declared_names_where_it_can():
    old, new = tool({"q": {}, "n": {}}), tool({"q": {}, "n": {"type": "integer"}}, additionalProperties=False)
    witness = relate(old, new).witness_old_not_new
    assert witness is not None
    assert set(witness.value) <= {"q", "n"}


@pytest.mark.parametrize(
    ("old", "new", "pointer"),
    [
        ({"type": "string"}, {"type": "string", "maxLength": 5}, "/maxLength"),
        (tool({"a/b": {}}), tool({"a/b": {"type": "null"}}), "/properties/a~1b/type"),
        (
            tool({"x": {"type": "array", "items": {"additionalProperties": {"type": "number"}}}}),
            tool({"x": {"type": "array", "items": {"additionalProperties": {"$ref": "#/$defs/i"}}}}, **{"$defs": {"i": {"type": "integer"}}}),
            "/$defs/i/type",
        ),
        (tool({"x": {"type": "array"}}), tool({"x": {"type": "array", "prefixItems": [{}, {"type": "null"}]}}), "/properties/x/prefixItems/1/type"),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 0}]}, "/anyOf/1/minimum"),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, {"anyOf": [{"type": "null"}, {"type": "string"}]}, "/anyOf"),
        (tool({"a": {}}), tool({"a": {}}, ["a"]), "/required"),
        (tool({}, patternProperties={"^x": {}}), tool({}, patternProperties={"^x": {"type": "null"}}), "/patternProperties/^x/type"),
        ({"type": "object", "if": {"required": ["a"]}, "then": {}}, {"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}}, "/then/required"),
        ({"type": "object"}, {"type": "object", "dependentSchemas": {"a": {"required": ["b"]}}}, "/dependentSchemas/a/required"),
        ({}, {"allOf": [{}, {"not": {"type": "null"}}]}, "/allOf/1/not"),
        ({"type": "array"}, {"type": "array", "contains": {"type": "null"}}, "/contains"),
        ({"type": "array"}, {"type": "array", "items": False}, "/items"),
        ({"type": "object"}, {"type": "object", "unevaluatedProperties": False}, "/unevaluatedProperties"),
        (True, False, ""),
    ],
)  # fmt: skip
def test_the_pointer_names_the_refusing_keyword(old, new, pointer):
    verdict = relate(old, new)
    assert verdict.pointer == pointer
    assert "valid under the old schema and refused by the new one" in verdict.reason


def test_a_union_of_tagged_objects_is_entered_by_its_tag():
    def pet(kind, **properties):
        return {"$ref": f"#/$defs/{kind}"}, {kind: tool({"kind": {"const": kind}, **properties}, ["kind"])}

    def schema(**dog):
        cat, cats = pet("cat")
        other, dogs = pet("dog", **dog)
        return {"anyOf": [cat, other], "$defs": {**cats, **dogs}}

    assert relate(schema(bark={}), schema(bark={"type": "null"})).pointer == "/$defs/dog/properties/bark/type"


def test_an_output_break_alone_points_into_the_old_schema():
    verdict = relate({"type": "string", "maxLength": 5}, {"type": "string"})
    assert verdict.pointer == "/maxLength"
    assert verdict.reason.startswith('`"aaaaaa"` is valid under the new schema and refused by the old one')


def test_an_undecided_verdict_points_at_what_is_not_understood():
    verdict = relate(
        {"properties": {"a": {"type": "string", "pattern": "(a)\\1"}}},
        {"properties": {"a": {"type": "string", "pattern": "aa"}}},
    )
    assert verdict.input is Side.UNDECIDED
    assert verdict.pointer == "/properties/a/pattern"
    assert "`\\1`" in verdict.reason


def test_long_witnesses_are_cut_in_the_sentence_only():
    verdict = relate({"type": "string"}, {"type": "string", "maxLength": 500})
    assert len(verdict.reason) < 300
    assert verdict.witness_old_not_new is not None
    assert len(verdict.witness_old_not_new.value) == 501
