"""What the relation of schemas proves about values that are handed on and fields that are read."""

from __future__ import annotations

from typing import Any

import pytest

from keel.gates.fitting import never_fits, never_has
from keel.gates.fragments import fragment, transplanted
from keel.gates.shapes import Absent, fits_never, step

DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}


@pytest.mark.parametrize(
    ("given", "taken", "never"),
    [
        ({"type": "string"}, {"type": "integer"}, True),
        ({"type": "string"}, {"type": "string"}, False),
        ({"type": "integer"}, {"type": "number"}, False),
        ({"enum": ["a", "b"]}, {"enum": ["c"]}, True),
        ({"enum": ["a", "b"]}, {"enum": ["b"]}, False),
        ({"type": "integer", "maximum": 3}, {"type": "integer", "minimum": 4}, True),
        ({"type": "integer", "maximum": 4}, {"type": "integer", "minimum": 4}, False),
        ({"type": "string", "maxLength": 2}, {"type": "string", "minLength": 3}, True),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": False},
         {"type": "object", "required": ["b"]}, True),
        ({"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "integer"}}, False),
        ({"type": "array", "minItems": 1, "items": {"type": "string"}}, {"type": "array", "items": {"type": "integer"}}, True),
        (True, {"enum": [1]}, False),
    ],
)  # fmt: skip
def test_what_never_fits(given: Any, taken: Any, never: bool) -> None:
    assert never_fits(given, given, taken, taken) is never


def test_references_are_followed_in_their_own_documents() -> None:
    out = {"$defs": {"x": {"enum": ["a"]}}, "properties": {"p": {"$ref": "#/$defs/x"}}}
    taking = {"$defs": {"x": {"enum": ["b"]}}, "properties": {"p": {"$ref": "#/$defs/x"}}}
    assert never_fits(out, out["properties"]["p"], taking, taking["properties"]["p"])
    assert not never_fits(out, out["properties"]["p"], out, out["properties"]["p"])
    # Nothing is claimed of documents in two dialects, or of parts that cannot be moved.
    assert not never_fits({**DRAFT_7, **out}, out["properties"]["p"], taking, taking["properties"]["p"])


@pytest.mark.parametrize(
    ("schema", "path", "never"),
    [
        ({"type": "object", "properties": {"a": {}}}, ("b",), False),
        ({"allOf": [{"type": "object"}, {"propertyNames": {"enum": ["a"]}}]}, ("b",), True),
        ({"allOf": [{"type": "object"}, {"propertyNames": {"enum": ["a"]}}]}, ("a",), False),
        ({"type": "object", "not": {"required": ["a"]}}, ("a",), True),
        ({"type": "object", "properties": {"a": {"enum": [1]}}, "minProperties": 1}, ("a", "b"), True),
        ({"type": "array", "maxItems": 1}, (1,), True),
        ({"type": "array", "maxItems": 1}, (0,), False),
        ({"type": "array", "maxItems": 1}, (-2,), True),
        ({"type": "array", "maxItems": 0}, (None,), True),
        ({"type": "array", "maxItems": 0}, (), False),
        ({"enum": [{"a": 1}]}, ("b",), True),
    ],
)
def test_what_no_result_has(schema: Any, path: tuple[Any, ...], never: bool) -> None:
    assert never_has(schema, path) is never


def test_a_part_becomes_a_document() -> None:
    root = {"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}, **DRAFT_7}
    moved = fragment(root, {"$ref": "#/$defs/n"})
    assert moved is not None
    assert moved["allOf"] == [{"$ref": "#/definitions/whole/$defs/n"}]
    assert moved["definitions"]["whole"]["$defs"]["n"]["properties"]["next"] == {"$ref": "#/definitions/whole/$defs/n"}
    assert "$schema" not in moved["definitions"]["whole"]
    assert fragment(root, False) is False
    assert transplanted({"$id": "urn:x", "$defs": {}}, {"$ref": "#/$defs/n"}, "a") is None
    assert fragment({"$anchor": "x"}, {"$ref": "#x"}) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}], "allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"$ref": "#"},
        {"$ref": "#/$defs/0", "$defs": {str(n): {"oneOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(3000)}},
    ],
)
def test_no_circle_and_no_fan_of_references_is_endless(schema: Any) -> None:
    assert step(schema, schema, "a") is Absent.ANYTHING
    assert not fits_never(schema, schema, schema, schema)
