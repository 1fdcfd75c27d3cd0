"""Strict reading: everything a lenient parser repairs is reported with its pointer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from tests.unit import strategies

from keel.core.jsontext import Fault, JsonSyntaxError, parse, parse_strict


@pytest.mark.parametrize(
    ("text", "fault", "pointer"),
    [
        ('{"a":1,"a":2}', Fault.DUPLICATE_KEY, "/a"),
        ('{"x":[{"a/b":1,"a/b":1}]}', Fault.DUPLICATE_KEY, "/x/0/a~1b"),
        ('{"x":{"a":1,"a":1},"x":0,"y":{"b":1,"b":2}}', Fault.DUPLICATE_KEY, "/y/b"),
        ('{"n":1e1400}', Fault.NUMBER_RANGE, "/n"),
        ("[1.5e999999999999]", Fault.NUMBER_RANGE, "/0"),
        ("[1e-400]", Fault.NUMBER_RANGE, "/0"),
        ("[9007199254740993.5]", Fault.NUMBER_RANGE, "/0"),
        (f"[{'9' * 10000}]", Fault.NUMBER_RANGE, "/0"),
        ('{"s":"\\ud800"}', Fault.LONE_SURROGATE, "/s"),
        ('{"\\udfff":1}', Fault.LONE_SURROGATE, "/\\udfff"),
    ],
)
def test_faults_carry_their_pointer(text: str, fault: Fault, pointer: str) -> None:
    _, faults = parse(text)
    assert (fault, pointer) in [(item.fault, item.pointer) for item in faults]
    with pytest.raises(JsonSyntaxError):
        parse_strict(text)


def test_an_integer_beyond_a_double_is_kept_exactly() -> None:
    value, faults = parse("[1e400, 12345678901234567890]")
    assert value == [10**400, 12345678901234567890]
    assert faults == ()


@pytest.mark.parametrize("depth", [129, 900])
def test_depth_is_limited(depth: int) -> None:
    _, faults = parse("[" * depth + "]" * depth)
    assert [item.fault for item in faults] == [Fault.DEPTH]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"\xff", 1),
        (b'{"a":\n1,\n}', 3),
        (b"", 1),
        (b"NaN", 1),
        (b"[Infinity]", 1),
        (b"[" * 200_000, 1),
        (b'"a\nb"', 1),
    ],
)
def test_what_is_not_json_has_a_place(data: bytes, line: int) -> None:
    with pytest.raises(JsonSyntaxError) as caught:
        parse(data)
    assert caught.value.line == line


@given(strategies.values)
def test_sound_text_has_no_faults(value: object) -> None:
    read, faults = parse(json.dumps(value))
    assert (read, faults) == (value, ())


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse(b"\xef\xbb\xbf[1]") == ([1], ())


@pytest.mark.parametrize("depth", [129, 400, 5_000, 100_000])
def test_no_depth_is_beyond_reading_and_blames_the_branch_alone(depth: int) -> None:
    text = '{"text": "[{\\"", "deep": ' + "[" * depth + "]" * depth + ', "after": [1, {"b": 2}]}'
    value, faults = parse(text)
    assert [(item.fault, item.pointer[:9]) for item in faults] == [(Fault.DEPTH, "/deep/0/0")]
    assert (value["text"], value["after"]) == ('[{"', [1, {"b": 2}])


@pytest.mark.parametrize("tail", ["", "]" * 4_999, "]" * 4_999 + "}", '"', "]" * 5_001])
def test_deep_text_that_does_not_close_is_no_json(tail: str) -> None:
    with pytest.raises(JsonSyntaxError):
        parse("[" * 5_000 + tail)
