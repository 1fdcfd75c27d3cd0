"""The schema walk: what is a schema, what is data, where references lead."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.unit import strategies

from keel.core.digest import definition_digest, normal_tool, texts
from keel.core.schema import bare, is_external, local_target, normalise, references, walk
from keel.core.soundness import defects


def test_required_and_type_are_sorted_only_where_a_schema_stands() -> None:
    schema = {
        "type": ["string", "null"],
        "required": ["b", "a"],
        "properties": {"required": {"type": ["string", "null"]}, "x": {"const": {"required": ["b", "a"]}}},
        "examples": [{"required": ["b", "a"]}],
        "dependencies": {"p": ["z", "y"], "q": {"required": ["z", "y"]}},
    }
    assert normalise(schema) == {
        "type": ["null", "string"],
        "required": ["a", "b"],
        "properties": {"required": {"type": ["null", "string"]}, "x": {"const": {"required": ["b", "a"]}}},
        "examples": [{"required": ["b", "a"]}],
        "dependencies": {"p": ["z", "y"], "q": {"required": ["y", "z"]}},
    }


@given(strategies.tools)
def test_normal_form_is_stable(tool: dict[str, object]) -> None:
    once = normal_tool(tool)
    assert normal_tool(once) == once
    assert definition_digest(once) == definition_digest(tool)


def test_walk_knows_draft_07_and_2020_12() -> None:
    schema = {
        "items": [{"a": 1}, {}],
        "prefixItems": [{}],
        "$defs": {"x/y": {}},
        "definitions": {"d": {}},
        "enum": [{}],
    }
    assert [pointer for pointer, _ in walk(schema)] == [
        "", "/items/0", "/items/1", "/prefixItems/0", "/$defs/x~1y", "/definitions/d",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("#", True), ("#/$defs/a", True), ("#/$defs/b", False), ("#here", True), ("#nowhere", False),
        ("inner", True), ("inner#/$defs/deep", True), ("https://example.com/x", False), ("#/$defs/a%20b", True),
    ],
)  # fmt: skip
def test_local_references(reference: str, *, found: bool) -> None:
    root = {
        "$defs": {
            "a": {"$anchor": "here"},
            "a b": {},
            "i": {"$id": "inner", "$defs": {"deep": {}}},
        }
    }
    assert local_target(root, reference)[0] is found
    assert is_external(root, reference) is (reference == "https://example.com/x")


def test_texts_leave_out_what_belongs_to_the_schemas() -> None:
    tool = {
        "name": "n",
        "description": "D",
        "_meta": {"x": "no"},
        "inputSchema": {"type": "object", "properties": {"title": {"description": "T", "enum": ["e"], "default": "d"}}},
    }
    assert dict(texts(tool)) == {
        "/description": "D",
        "/inputSchema/properties/title/description": "T",
        "/inputSchema/properties/title/default": "d",
    }


def test_bare_keeps_what_decides_validity() -> None:
    schema = {"type": "object", "title": "t", "properties": {"title": {"type": "string", "default": 1, "x": 2}}}
    assert bare(schema) == {"type": "object", "properties": {"title": {"type": "string"}}}


@pytest.mark.parametrize(
    ("tool", "codes"),
    [
        ({"name": "a"}, ["invalid-schema"]),
        ({"name": "a", "inputSchema": None}, ["invalid-schema"]),
        ({"name": "a", "inputSchema": []}, ["invalid-schema"]),
        ({"name": "a", "inputSchema": {"type": "string"}}, ["invalid-schema"]),
        ({"name": "a", "inputSchema": {"type": ["object", "null"]}}, ["invalid-schema"]),
        ({"name": "a", "inputSchema": {}}, []),
        ({"name": "a", "inputSchema": {"$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}}}, []),
        ({"name": "a", "inputSchema": {"$ref": "#/$defs/y", "$defs": {"x": {}}}}, ["dangling-ref"]),
        ({"name": "a", "inputSchema": {"$ref": "#"}}, []),
        ({"name": "a", "inputSchema": {"properties": {"p": {"$ref": "https://x.example/s"}}}}, ["external-ref"]),
        ({"name": "a", "inputSchema": {"type": "object"}, "outputSchema": 3}, ["invalid-schema"]),
        ({"name": "a", "inputSchema": {"type": "object", "enum": list(range(50_001))}}, ["schema-too-complex"]),
    ],
)
def test_unsound_definitions(tool: dict[str, object], codes: list[str]) -> None:
    assert [defect.code for defect in defects(tool)] == codes


def test_references_are_found_only_where_schemas_stand() -> None:
    schema = {"properties": {"$ref": {"$ref": "#/a"}}, "default": {"$ref": "#/b"}}
    assert list(references(schema)) == [("/properties/$ref/$ref", "#/a")]
