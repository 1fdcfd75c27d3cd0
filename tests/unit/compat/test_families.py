"""The relation of pairs that differ in one keyword family; each row was worked out by hand."""

import jsonschema
import pytest
from jsonschema import Draft202012Validator

from keel.compat.interface import Relation, Side
from keel.compat.relation import relate

D7 = "http://json-schema.org/draft-07/schema#"
D4 = "http://json-schema.org/draft-04/schema#"
D19 = "https://json-schema.org/draft/2019-09/schema"

OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED = {**OPEN, "additionalProperties": False}

NUMBERS = [
    ({"type": "integer"}, {"type": "number"}, "widened"),
    ({"type": "number", "minimum": 1, "maximum": 1}, {"const": 1.0}, "equivalent"),
    ({"type": "integer", "exclusiveMinimum": 0.5}, {"type": "integer", "minimum": 1}, "equivalent"),
    ({"type": "number", "exclusiveMinimum": 0.5}, {"type": "number", "minimum": 0.5}, "widened"),
    ({"type": "number", "multipleOf": 0.1, "minimum": 0.25}, {"type": "number", "multipleOf": 0.1, "minimum": 0.5}, "narrowed"),
    ({"type": "number", "multipleOf": 0.1, "minimum": 0.25}, {"type": "string"}, "incomparable"),
    ({"type": "number", "multipleOf": 0.1}, {"type": "number", "multipleOf": 0.01}, "widened"),
    ({"type": "integer", "multipleOf": 6}, {"allOf": [{"multipleOf": 2}, {"type": "integer", "multipleOf": 3}]}, "equivalent"),
    ({"type": "integer", "not": {"multipleOf": 2}}, {"type": "integer", "not": {"multipleOf": 4}}, "widened"),
    ({"type": "integer", "minimum": 10**9, "not": {"multipleOf": 7}}, {"type": "integer", "minimum": 10**9}, "widened"),
    ({"type": "number", "not": {"const": 0}}, {"type": "number"}, "widened"),
    ({"type": "number", "minimum": 0, "maximum": 1, "not": {"multipleOf": 0.5}}, {"type": "number"}, "widened"),
    ({"type": "integer", "maximum": -5, "multipleOf": 4}, {"type": "integer", "maximum": -8, "multipleOf": 4}, "equivalent"),
    ({"type": "integer", "minimum": 1, "maximum": 3, "not": {"enum": [1, 2, 3]}}, False, "equivalent"),
    ({"type": "number", "minimum": 2, "maximum": 2, "not": {"const": 2}}, False, "equivalent"),
    ({"type": "number", "maximum": 10**300}, {"type": "number", "maximum": 10**301}, "widened"),
]  # fmt: skip

STRINGS = [
    ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 4}, "widened"),
    ({"type": "string", "minLength": 2, "maxLength": 1}, False, "equivalent"),
    ({"type": "string", "pattern": "^a{2,3}$"}, {"enum": ["aa", "aaa"]}, "equivalent"),
    ({"type": "string", "pattern": "^(?=.*\\d).{2,}$"}, {"type": "string", "minLength": 2}, "widened"),
    ({"type": "string", "pattern": "^(?!x)"}, {"type": "string", "not": {"pattern": "^x"}}, "equivalent"),
    ({"pattern": "^(?!x)"}, {"pattern": "^(?!xy)"}, "widened"),
    (
        {"type": "string", "pattern": "^(?!-)[a-z-]{1,9}(?<!-)$"},
        {"type": "string", "pattern": "^[a-z]([a-z-]{0,7}[a-z])?$"},
        "equivalent",
    ),
    (
        {"type": "string", "pattern": "^[a-z]{1,2048}$"},
        {"type": "string", "pattern": "^[a-z]+$", "maxLength": 2048},
        "equivalent",
    ),
    ({"type": "string", "pattern": "a(?<=xa)(?<!ya)$"}, {"type": "string", "pattern": "xa$"}, "equivalent"),
    ({"type": "string", "pattern": "^[^\\d]*$"}, {"type": "string", "pattern": "^\\D*$"}, "equivalent"),
    ({"type": "string", "pattern": "^\\s$"}, {"type": "string", "pattern": "^[ \\t]$"}, "narrowed"),
    ({"type": "string", "pattern": "^.$"}, {"type": "string", "minLength": 1, "maxLength": 1}, "widened"),
    ({"type": "string", "not": {"enum": ["", "a"]}}, {"type": "string", "minLength": 1}, "widened"),
    ({"type": "string", "pattern": "^[ab]$", "not": {"enum": ["a"]}}, {"const": "b"}, "equivalent"),
    ({"type": "string", "pattern": "^(a|b)*$", "minLength": 40}, {"type": "string", "pattern": "^a"}, "incomparable"),
]

ARRAYS = [
    ({"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": {"type": "number"}}, "widened"),
    ({"type": "array", "prefixItems": [{"type": "null"}], "items": False}, {"enum": [[], [None]]}, "equivalent"),
    ({"type": "array", "contains": {"type": "string"}, "maxItems": 1}, {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1}, "equivalent"),
    ({"type": "array", "contains": {"const": 1}, "minContains": 2, "uniqueItems": True}, False, "equivalent"),
    ({"type": "array", "contains": {"type": "string"}, "minContains": 3, "maxContains": 2}, False, "equivalent"),
    ({"type": "array", "contains": {"type": "string"}, "minContains": 0, "maxContains": 0}, {"type": "array", "items": {"not": {"type": "string"}}}, "equivalent"),
    ({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 2}, {"enum": [[1, 2], [2, 1]]}, "equivalent"),
    ({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 2, "contains": {"const": 1}, "minContains": 0, "maxContains": 1}, {"enum": [[1, 2], [2, 1]]}, "equivalent"),
    ({"type": "array", "items": {"type": "boolean"}, "uniqueItems": True}, {"type": "array", "items": {"type": "boolean"}, "maxItems": 2}, "widened"),
    ({"type": "array", "not": {"uniqueItems": True}}, {"type": "array", "minItems": 2}, "widened"),
    ({"type": "array", "not": {"uniqueItems": True}, "maxItems": 2, "prefixItems": [{"type": "integer"}, {"type": "string"}]}, False, "equivalent"),
    ({"type": "array", "not": {"uniqueItems": True}, "contains": {"type": "integer"}, "minContains": 0, "maxContains": 1}, {"type": "array"}, "widened"),
    ({"type": "array", "contains": {"type": "integer"}, "maxContains": 1, "allOf": [{"contains": {"type": "string"}, "maxContains": 1}]}, {"type": "array"}, "widened"),
    ({"type": "array", "minItems": 3, "maxItems": 2}, False, "equivalent"),
    ({"type": "array", "unevaluatedItems": {"type": "null"}, "prefixItems": [{"type": "string"}]}, {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "null"}}, "equivalent"),
    ({"type": "array", "contains": {"type": "string"}, "unevaluatedItems": False}, {"type": "array", "items": {"type": "string"}, "minItems": 1}, "equivalent"),
    ({"type": "array", "contains": {"type": "string"}, "minContains": 60}, {"type": "array", "minItems": 60}, "widened"),
]  # fmt: skip

OBJECTS = [
    (CLOSED, OPEN, "widened"),
    ({**OPEN, "required": ["a"]}, OPEN, "widened"),
    ({"type": "object", "patternProperties": {"^a": {"type": "integer"}}}, {"type": "object", "properties": {"ab": {"type": "integer"}}}, "widened"),
    ({"type": "object", "propertyNames": {"maxLength": 1}, "required": ["ab"]}, False, "equivalent"),
    ({"type": "object", "propertyNames": {"enum": ["a", "b"]}, "minProperties": 2}, {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "required": ["a", "b"]}, "equivalent"),
    ({"type": "object", "propertyNames": {"pattern": "^[ab]$"}, "minProperties": 3}, False, "equivalent"),
    ({"type": "object", "propertyNames": {"pattern": "^[a-e]$"}, "minProperties": 3}, {"type": "object", "minProperties": 2}, "widened"),
    ({"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1, "maxProperties": 1}, {"type": "object", "minProperties": 1}, "widened"),
    ({"type": "object", "dependentRequired": {"a": ["b"]}}, {"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}}, "equivalent"),
    ({"dependentRequired": {"a": ["b"]}}, {}, "widened"),
    ({"type": "object", "dependentSchemas": {"a": {"maxProperties": 1}}, "required": ["a", "b"]}, False, "equivalent"),
    ({**OPEN, "unevaluatedProperties": False}, CLOSED, "equivalent"),
    ({"type": "object", "dependentSchemas": {"a": {"properties": {"b": True}}}, "properties": {"a": True}, "unevaluatedProperties": False}, {"type": "object", "properties": {"a": True, "b": True}, "additionalProperties": False, "dependentRequired": {"b": ["a"]}}, "equivalent"),
    ({"type": "object", "not": {"const": {"a": 1}}}, {"type": "object", "not": {"enum": [{"a": 1}, {"b": 2}]}}, "narrowed"),
    ({"type": "object", "minProperties": 2, "maxProperties": 2, "not": {"required": ["a"]}}, {"type": "object", "minProperties": 2}, "widened"),
    ({"type": "object", "properties": {"a": {"type": "string"}}, "patternProperties": {"a": {"type": "integer"}}}, {"type": "object", "properties": {"a": False}, "patternProperties": {"a": {"type": "integer"}}}, "equivalent"),
]  # fmt: skip

COMBINED = [
    ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, {"type": "number", "not": {"type": "integer"}}, "equivalent"),
    ({"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}], "type": "integer"}, {"type": "integer", "anyOf": [{"multipleOf": 2}, {"multipleOf": 3}]}, "widened"),
    ({"not": {"not": {"type": "string"}}}, {"type": "string"}, "equivalent"),
    ({"if": {"type": "integer"}, "then": {"minimum": 0}, "else": {"type": "string"}}, {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}, "equivalent"),
    ({"enum": [1, "a", None, [1], {"a": 1}]}, {"enum": [{"a": 1.0}, [1.0], None, "a", 1]}, "equivalent"),
    ({"const": False}, {"const": 0}, "incomparable"),
    ({"type": ["null", "boolean"], "not": {"enum": [None, True, False]}}, False, "equivalent"),
    ({"type": ["string", "null"]}, {"anyOf": [{"type": "null"}, {"type": "string"}]}, "equivalent"),
    ({"format": "email", "default": 1, "x-note": 2}, {}, "equivalent"),
]  # fmt: skip

DIALECTS = [
    ({"$schema": D4, "type": "number", "minimum": 1, "exclusiveMinimum": True}, {"type": "number", "exclusiveMinimum": 1}, "equivalent"),
    ({"$schema": D4, "type": "number", "minimum": 1, "exclusiveMinimum": False}, {"type": "number", "minimum": 1}, "equivalent"),
    ({"$schema": D4, "const": 1}, {}, "equivalent"),
    ({"$schema": D4, "id": "http://x.y/root", "definitions": {"s": {"id": "#s", "type": "string"}}, "properties": {"a": {"$ref": "#s"}}}, {"properties": {"a": {"type": "string"}}}, "equivalent"),
    ({"$schema": D7, "items": [{"type": "string"}], "additionalItems": False}, {"prefixItems": [{"type": "string"}], "items": False}, "equivalent"),
    ({"$schema": D7, "dependencies": {"a": ["b"], "c": {"required": ["d"]}}}, {"dependentRequired": {"a": ["b"], "c": ["d"]}}, "equivalent"),
    ({"$schema": D7, "$ref": "#/definitions/s", "maxLength": 1, "definitions": {"s": {"type": "string"}}}, {"type": "string"}, "equivalent"),
    ({"$schema": D19, "items": [{"type": "string"}]}, {"prefixItems": [{"type": "string"}]}, "equivalent"),
    ({"$schema": D19, "type": "array", "items": {"$recursiveRef": "#"}}, {"type": "array", "items": {"$ref": "#"}}, "equivalent"),
    ({"$schema": D19, "type": "array", "contains": {"type": "string"}, "unevaluatedItems": False}, {"type": "array", "contains": {"type": "string"}}, "widened"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), NUMBERS + STRINGS + ARRAYS + OBJECTS + COMBINED + DIALECTS)
def test_relation(old, new, expected):
    verdict = relate(old, new)
    assert verdict.relation == expected, verdict
    check_witnesses(old, new, verdict)


@pytest.mark.parametrize(("old", "new", "expected"), NUMBERS + STRINGS + ARRAYS + OBJECTS + COMBINED)
def test_the_mirror_image(old, new, expected):
    mirror = {"widened": "narrowed", "narrowed": "widened"}.get(expected, expected)
    assert relate(new, old).relation == mirror


def check_witnesses(old, new, verdict):
    """The reference implementation agrees with every witness."""
    for witness, inside, outside in ((verdict.witness_old_not_new, old, new), (verdict.witness_new_not_old, new, old)):
        if witness is not None:
            assert reference(inside).is_valid(witness.value)
            assert not reference(outside).is_valid(witness.value)
    assert (verdict.witness_old_not_new is not None) == (verdict.input in (Side.BREAKING, Side.LATENT))
    assert (verdict.witness_new_not_old is not None) == (verdict.output in (Side.BREAKING, Side.LATENT))


def reference(schema):
    cls = jsonschema.validators.validator_for(schema, default=Draft202012Validator)
    return cls(schema)


def test_null_can_be_a_witness():
    verdict = relate({"type": ["string", "null"]}, {"type": "string"})
    assert verdict.relation is Relation.NARROWED
    assert verdict.witness_old_not_new is not None
    assert verdict.witness_old_not_new.value is None
    assert verdict.witness_new_not_old is None


def test_equal_schemas_need_no_understanding():
    odd = {"$ref": "https://elsewhere.example/x", "type": "nonsense"}
    assert relate(odd, dict(reversed(odd.items()))).relation is Relation.EQUIVALENT
    assert relate(True, True).relation is Relation.EQUIVALENT


def variants(*names, **more):
    """Objects told apart by a required tag, each with a field of its own."""
    return [
        {"type": "object", "properties": {"kind": {"const": name}, name: {"type": "string"}, **more}, "required": ["kind", name], "additionalProperties": False}
        for name in names
    ]  # fmt: skip


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_many_tagged_variants(keyword):
    names = [f"v{index}" for index in range(25)]
    old = {keyword: variants(*names)}
    assert relate(old, {keyword: list(reversed(old[keyword]))}).relation is Relation.EQUIVALENT
    changed = [*variants(*names[:-1]), *variants(names[-1], extra={"type": "null"})]
    assert relate(old, {keyword: changed}).relation is Relation.WIDENED


UNEVALUATED = [
    ({"type": "object", "anyOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}], "unevaluatedProperties": False},
     {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False, "minProperties": 1}, "equivalent"),
    ({"type": "object", "if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "else": {"properties": {"b": {}}}, "unevaluatedProperties": False},
     {"type": "object", "properties": {"a": {"const": 1}, "b": {}}, "additionalProperties": False, "maxProperties": 1}, "equivalent"),
    ({"type": "object", "allOf": [{"$ref": "#/$defs/base"}], "unevaluatedProperties": False, "$defs": {"base": {"properties": {"a": {}}}}},
     {"type": "object", "properties": {"a": {}}, "additionalProperties": False}, "equivalent"),
    ({"type": "object", "allOf": [{"unevaluatedProperties": True}], "unevaluatedProperties": False}, {"type": "object"}, "equivalent"),
    ({"type": "array", "allOf": [{"items": True}], "unevaluatedItems": False}, {"type": "array"}, "equivalent"),
    ({"type": "array", "anyOf": [{"prefixItems": [{"type": "null"}]}, {"prefixItems": [{}, {}]}], "unevaluatedItems": False},
     {"type": "array", "maxItems": 2}, "equivalent"),
    ({"type": "object", "allOf": [{"$ref": "#"}], "unevaluatedProperties": False}, {"type": "object", "maxProperties": 0}, "undecided"),
    ({"type": "object", "allOf": [{"$ref": "#/$defs/none"}], "unevaluatedProperties": False}, {"type": "object", "maxProperties": 0}, "undecided"),
    ({"type": "array", "anyOf": [{"items": True, "minItems": 1}, {"contains": {"const": 1}, "minContains": 0}], "unevaluatedItems": False}, {"type": "array"}, "equivalent"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), UNEVALUATED)
def test_unevaluated(old, new, expected):
    verdict = relate(old, new)
    assert verdict.relation == expected, verdict
    check_witnesses(old, new, verdict)
