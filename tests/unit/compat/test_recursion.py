"""Recursive schemas: inclusion holds coinductively, emptiness is a least fixpoint."""

import pytest

from keel.compat.relation import relate


def tree(value, **node):
    return {
        "$ref": "#/$defs/t",
        "$defs": {
            "t": {
                "type": "object",
                "properties": {"v": value, "kids": {"type": "array", "items": {"$ref": "#/$defs/t"}}},
                "required": ["v"],
                "additionalProperties": False,
                **node,
            }
        },
    }


def kinds(count, extra):
    """Mutually recursive tagged nodes: every one may hold every other."""
    below = {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/n{i}"} for i in range(count)]}}
    return {
        "anyOf": [{"$ref": f"#/$defs/n{i}"} for i in range(count)],
        "$defs": {
            f"n{i}": {
                "type": "object",
                "properties": {"kind": {"const": f"n{i}"}, "kids": below, **({extra: {}} if i == count - 1 else {})},
                "required": ["kind"],
                "additionalProperties": False,
            }
            for i in range(count)
        },
    }


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (tree({"type": "integer"}), tree({"type": "number"}), "widened"),
        (tree({"type": "integer"}), tree({"type": "integer"}, required=["v", "kids"]), "narrowed"),
        (tree({"type": "integer"}), tree({"type": "integer", "description": "v"}), "equivalent"),
        ({"type": "array", "items": {"$ref": "#"}, "minItems": 1}, False, "equivalent"),
        ({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}, False, "equivalent"),
        ({"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}, "minItems": 1}]}, {"type": ["null", "array"]}, "widened"),
        ({"type": "array", "items": {"type": "array", "items": {"$ref": "#"}}}, {"type": "array", "items": {"$ref": "#"}}, "equivalent"),
        (kinds(6, "p"), {**kinds(6, "p"), "minProperties": 1}, "equivalent"),
        (kinds(5, "p"), kinds(5, "q"), "incomparable"),
        ({"$dynamicAnchor": "n", "type": "array", "items": {"$dynamicRef": "#n"}}, {"type": "array", "items": {"$ref": "#"}}, "equivalent"),
    ],
)  # fmt: skip
def test_relation(old, new, expected):
    assert relate(old, new).relation == expected


def test_the_witness_goes_as_deep_as_it_must():
    old = tree(
        {"type": "integer"},
        properties={"v": {}, "kids": {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 1}},
    )
    new = tree({"type": "integer"}, properties={"v": {}, "kids": {"type": "array", "items": {"$ref": "#/$defs/leaf"}}})
    new["$defs"]["leaf"] = {"type": "object", "required": ["v"], "maxProperties": 1}
    witness = relate(old, new).witness_old_not_new
    assert witness is not None
    assert "kids" in witness.value["kids"][0]
