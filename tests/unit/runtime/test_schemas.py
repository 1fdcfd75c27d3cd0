"""Validators: offline, in linear time, every error told, escaped and bounded."""

from __future__ import annotations

import time
from typing import Any

import pytest

from keel.core.model import Contract, FrozenTool, Json
from keel.runtime.schemas import MOST_ERRORS, Misfit, Validators


def misfits(schema: Json, value: Json) -> tuple[Misfit, ...]:
    return Validators().arguments(FrozenTool("s/t", {"name": "t", "inputSchema": schema}, "k1:x", Contract()), value)


@pytest.mark.parametrize(
    ("schema", "value", "ok"),
    [
        (None, {}, True),
        (None, [], False),
        (True, {}, True),
        (False, {}, False),
        ({"type": "object", "properties": {"d": {"format": "date"}}}, {"d": "no date"}, True),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "maxProperties": 1}}}, {"a": 1}, True),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "maxProperties": 1}}}, {"a": 1, "b": 1}, False),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}, {}, True),
        ({"properties": {"n": {"maximum": 9007199254740993}}}, {"n": 9007199254740993}, True),
        ({"properties": {"n": {"maximum": 9007199254740993}}}, {"n": 9007199254740994}, False),
    ],
)
def test_values_are_judged_by_the_schema(schema: Json, value: Json, ok: bool) -> None:
    assert (misfits(schema, value) == ()) is ok


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:1/x", "https://example.com/x", "file:///etc/passwd", "other.json", "#/nowhere"]
)
def test_nothing_is_fetched(reference: str) -> None:
    (found,) = misfits({"$ref": reference}, {})
    assert "the frozen schema cannot be used" in found.message


@pytest.mark.parametrize(
    "schema", [{"type": "nothing"}, {"patternProperties": {"(?!a)": {}}}, "text", 5, {"$schema": "x:"}]
)
def test_a_schema_that_cannot_be_used_admits_nothing(schema: Json) -> None:
    (found,) = misfits(schema, {})
    assert "cannot be used" in found.message


def test_patterns_take_linear_time() -> None:
    schema = {"properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}}
    began = time.process_time()
    assert misfits(schema, {"x": "a" * 50_000 + "b"})
    assert time.process_time() - began < 2


LOOKING = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^(?!b)a*$"}, "n": {"type": "integer"}}}


def test_what_comes_to_a_pattern_that_is_not_linear_is_refused_and_all_else_is_judged() -> None:
    assert misfits(LOOKING, {"n": 1}) == ()
    (found,) = misfits(LOOKING, {"x": "a"})
    assert found.pointer == "/x"
    assert "linear time" in found.message
    assert [item.pointer for item in misfits(LOOKING, {"n": "x"})] == ["/n"]
    assert misfits(LOOKING, {"n": 1}) == ()


@pytest.mark.parametrize(
    "around",
    [
        lambda inner: {"not": inner},
        lambda inner: {"not": {"not": inner}},
        lambda inner: {"anyOf": [inner, {"const": 5}]},
        lambda inner: {"if": inner, "else": {"const": "x"}},
    ],
)
def test_no_combination_lets_an_undecided_pattern_pass(around: Any) -> None:
    schema = {"properties": {"x": around({"pattern": "(?=a)"})}}
    assert misfits(schema, {"x": "abc"})


def test_pointers_and_messages_are_escaped_and_bounded() -> None:
    found = misfits({"additionalProperties": {"type": "null"}}, {f"a/~\x1b{i}": "\u202e" * 9999 for i in range(500)})
    assert len(found) == MOST_ERRORS + 1
    assert found[0].pointer.startswith("/a~1~0\\u{1b}")
    assert all(len(item.message) <= 300 and "\u202e" not in item.message for item in found)


def test_a_schema_is_compiled_once() -> None:
    validators = Validators()
    tool = FrozenTool("s/t", {"inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}}, "k1:x", Contract())
    assert validators.arguments(tool, {}) == validators.result(tool, []) == ()
    assert validators.result(tool, {})
    compiled = dict(validators._compiled)
    assert validators.arguments(tool, []) != ()
    assert validators._compiled == compiled
    assert validators.result(FrozenTool("s/u", {}, "k1:y", Contract()), "anything") == ()
