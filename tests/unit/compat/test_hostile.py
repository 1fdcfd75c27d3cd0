"""Hostile input gives an undecided verdict: no traceback, no hang, no request."""

import socket
import time

import pytest

from keel.compat.interface import Relation, Side
from keel.compat.relation import relate

STRING = {"type": "string"}


def nested(depth):
    schema = {}
    for _ in range(depth):
        schema = {"not": schema}
    return schema


def laughs(depth, *, leaf):
    """Every level refers twice to the next one, so a naive validator visits 2**depth subschemas."""
    defs = {
        f"d{i}": {
            "anyOf": [{"$ref": f"#/$defs/d{i + 1}", "minLength": i}, {"$ref": f"#/$defs/d{i + 1}", "maxLength": 99 + i}]
        }
        for i in range(depth)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{depth}": leaf}}


HOSTILE = {
    "five": 5,
    "list": [],
    "text": "type: string",
    "null": None,
    "set": {1, 2},
    "set inside": {"const": {1, 2}},
    "deep": nested(10_000),
    "wide": {"enum": list(range(60_000))},
    "reference to itself": {"$ref": "#"},
    "loop of two": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    "loop in not": {"not": {"$ref": "#"}},
    "chain": {"$ref": "#/$defs/d0", "$defs": {**{f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(5000)}, "d5000": {}}},
    "remote": {"$ref": "https://elsewhere.example/schema.json"},
    "file": {"$ref": "file:///etc/passwd"},
    "bad uri": {"$ref": "http://[::1/x"},
    "dangling": {"$ref": "#/$defs/missing"},
    "dangling index": {"$ref": "#/anyOf/7", "anyOf": [{}]},
    "dangling anchor": {"$ref": "#missing"},
    "reference to a number": {"$ref": "#/minimum", "minimum": 1},
    "no reference": {"$ref": 7},
    "dialect": {"$schema": "https://elsewhere.example/dialect"},
    "odd dialect": {"$schema": 7},
    "embedded dialect": {"allOf": [{"$schema": "http://json-schema.org/draft-07/schema#", "minLength": 1}]},
    "type": {"type": "text"},
    "types": {"type": []},
    "bounds": {"type": "string", "minLength": "1"},
    "infinite": {"type": ["number", "string"], "maximum": float("inf")},
    "not a number": {"const": float("nan")},
    "huge": {"type": ["number", "string"], "maximum": 10**4000},
    "step": {"type": ["number", "string"], "multipleOf": 0},
    "enum": {"enum": "abc"},
    "pattern": {"pattern": 7},
    "broken pattern": {"pattern": "(((("},
    "all": {"allOf": {}},
    "none": {"anyOf": []},
    "required": {"required": "a", "type": ["object", "string"]},
    "properties": {"properties": [], "type": ["object", "string"]},
    "dependent": {"dependentRequired": [], "type": ["object", "string"]},
    "prefix": {"prefixItems": 3, "type": ["array", "string"]},
    "items": {"items": [{}], "type": ["array", "string"]},
    "unique": {"uniqueItems": 1, "type": ["array", "string"]},
    "min contains": {"contains": {}, "minContains": -1, "type": ["array", "string"]},
    "max contains": {"contains": {}, "maxContains": 1.5, "type": ["array", "string"]},
    "old dependencies": {"dependencies": {"a": ["b"]}, "type": ["object", "string"]},
    "many anchors": {"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}, "y": {"$id": "y", "$dynamicAnchor": "a"}}},
    "long": {"type": "string", "minLength": 10**9},
    "long list": {"type": "array", "minItems": 10**9},
    "far slot": {"type": "array", "prefixItems": [{}] * 400 + [{"type": "null"}]},
    "many names": {"type": "object", "minProperties": 10**6},
    "surrogate": {"const": "\ud800"},
    "laughs": laughs(40, leaf={"type": "string", "pattern": "x"}),
    "catastrophic": {"type": "string", "pattern": "^(([a-z]+)+)+[A-Z]$"},
    "state explosion": {"type": "string", "pattern": "^(a|b)*a(a|b){60}$"},
    "alternatives": {"type": "string", "pattern": "^(a|a|aa|b)*(?=c)$"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a comparison must not open a socket")

    monkeypatch.setattr(socket, "socket", refuse)


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_it_answers_quickly(name):
    start = time.perf_counter()
    for old, new in ((HOSTILE[name], STRING), (STRING, HOSTILE[name])):
        verdict = relate(old, new)
        assert verdict.reason
        for side, witness in (
            (verdict.input, verdict.witness_old_not_new),
            (verdict.output, verdict.witness_new_not_old),
        ):
            assert (witness is not None) == (side in (Side.BREAKING, Side.LATENT))
    assert time.perf_counter() - start < 15


@pytest.mark.parametrize(
    "name", ["five", "list", "text", "null", "set", "deep", "wide", "dialect", "odd dialect", "chain", "set inside"]
)
def test_what_cannot_be_read_is_undecided_on_both_sides(name):
    verdict = relate(HOSTILE[name], HOSTILE[name] if name == "deep" else STRING)
    assert verdict.relation is Relation.UNDECIDED
    assert verdict.input is verdict.output is Side.UNDECIDED


@pytest.mark.parametrize(
    "name", ["remote", "dangling", "type", "required", "infinite", "huge", "embedded dialect", "old dependencies"]
)
def test_what_is_not_understood_is_never_no_change(name):
    plain = {key: value for key, value in HOSTILE[name].items() if key == "type" and name != "type"}
    assert relate(HOSTILE[name], plain).relation is not Relation.EQUIVALENT


def test_two_different_huge_numbers_are_not_taken_for_one():
    verdict = relate({"type": "number", "maximum": 10**4000}, {"type": "number", "maximum": 10**4001})
    assert verdict.relation is not Relation.EQUIVALENT


def test_equal_text_with_other_definitions_is_not_equal():
    def schema(leaf):
        branches = [{"properties": {f"p{i}": {"$ref": "#/$defs/x"}}, "required": [f"p{i}"]} for i in range(7)]
        return {"type": "object", "anyOf": branches, "unevaluatedProperties": False, "$defs": {"x": leaf}}

    assert relate(schema({"type": "string"}), schema({"type": "integer"})).relation is not Relation.EQUIVALENT


def test_the_same_unknown_on_both_sides_does_not_hide_the_rest():
    old = {"allOf": [{"$ref": "https://elsewhere.example/x"}], "title": "a"}
    assert relate(old, {**old, "title": "b"}).relation is Relation.EQUIVALENT
    assert relate({**old, "maxLength": 3}, old).input is Side.COMPATIBLE


def test_a_small_budget_is_undecided_not_wrong():
    old = {"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True}
    verdict = relate(old, {"type": "array", "maxItems": 3}, budget=5)
    assert verdict.input is Side.UNDECIDED
    assert "budget" in verdict.reason
