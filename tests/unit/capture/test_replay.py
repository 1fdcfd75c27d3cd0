"""Surface files in every accepted form, and clear errors for every other."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.capture.replay import read_surface
from keel.core.digest import surface_digest, surface_value
from keel.core.finding import InputErrors

TOOLS = [{"name": "b", "inputSchema": {"type": "object"}}, {"name": "a", "inputSchema": {"type": "object"}}]


def read(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return read_surface(data, "srv", "captured.json")


def test_the_three_forms_give_the_same_tools():
    bare, _ = read(TOOLS)
    result, _ = read({"tools": TOOLS, "nextCursor": "x", "_meta": {}, "ttlMs": 3})
    whole, _ = read({"initialize": {}, "tools": TOOLS})
    assert bare == result == whole
    assert [tool["name"] for tool in bare.tools] == ["a", "b"]


def test_a_written_surface_reads_back_equal():
    first, _ = read({"initialize": {"instructions": "Be kind.", "x": 1}, "tools": TOOLS, "prompts": [], "other": 1})
    again, findings = read(surface_value(first))
    assert (again, findings) == (first, ())
    assert surface_digest(again) == surface_digest(first)
    assert again.instructions == "Be kind."
    assert again.prompts == ()


@pytest.mark.parametrize(
    ("value", "pointer", "words"),
    [
        (b"{", "", "not JSON"),
        (b"\xff", "", "not JSON"),
        (7, "", "not a surface"),
        ({}, "", "has no `tools`"),
        ({"tools": None}, "/tools", "null"),
        ({"tools": {}, "prompts": 1}, "/prompts", "not a list"),
        ({"tools": "x"}, "/tools", "not a list"),
        ({"tools": [], "initialize": []}, "/initialize", "not an object"),
        ({"tools": [], "initialize": 1}, "/initialize", "not an object"),
        ({"tools": [], "initialize": {"instructions": 1}}, "/initialize/instructions", "not a string"),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}, "/result", "JSON-RPC"),
        (b'{"tools":[],"tools":[]}', "/tools", "repeated"),
    ],
)
def test_anything_else_is_an_input_error(value, pointer, words):
    with pytest.raises(InputErrors) as caught:
        read(value)
    assert {item.code for item in caught.value.findings} == {"input-error"}
    match = [item for item in caught.value.findings if item.location.pointer == pointer and words in item.message]
    assert match
    assert all(item.location.file == "captured.json" and "keel capture" in item.next for item in match)


def test_all_errors_come_at_once():
    with pytest.raises(InputErrors) as caught:
        read({"tools": 1, "prompts": 2, "initialize": 3})
    assert len(caught.value.findings) == 3


def test_faults_inside_a_tool_are_findings_not_errors():
    surface, (only,) = read(b'[{"name":"a"},{"name":"b","k":1,"k":2}]')
    assert [tool["name"] for tool in surface.tools] == ["a"]
    assert (only.code, only.location.file, only.location.key) == ("control-text", "captured.json", "srv/b")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["tools", "initialize", "prompts", "resources", "x"]), JSON) | JSON)
def test_any_json_is_read_or_refused(value):
    with suppress(InputErrors):
        surface, _ = read(value)
        assert surface_digest(surface).startswith("k1:")
