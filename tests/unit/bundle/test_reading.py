"""Reading back: what `plain` wrote gives the same values, and anything else is refused with its place."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keel.bundle.contents import plain
from keel.bundle.reading import UnreadableError, read_plain
from keel.core.model import Grant, Manifest, ServerSpec

PLACES = ("line", "column", "lines")
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(date, st.dates())
manifests = st.builds(
    Manifest,
    servers=st.none() | st.lists(st.from_type(ServerSpec), max_size=2).map(tuple),
    tools=st.none() | st.lists(st.from_type(Grant), max_size=3).map(tuple),
    fail_on=st.lists(st.tuples(st.text(), st.text()), max_size=2).map(tuple),
    lines=st.just(()),
    file=st.text(),
)


def without_places(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        held = {item.name: without_places(getattr(value, item.name)) for item in fields(value)}
        defaults = {item.name: item.default for item in fields(value) if item.name in PLACES}
        return replace(value, **{**held, **defaults})
    return tuple(map(without_places, value)) if isinstance(value, tuple) else value


@given(manifests)
def test_a_manifest_comes_back_as_it_was_but_for_places(manifest: Manifest) -> None:
    assert read_plain(Manifest, json.loads(json.dumps(plain(manifest)))) == without_places(manifest)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "/ is not an object"),
        ({"servres": []}, "/servres is not known to this keel"),
        ({"tools": {}}, "/tools is not an array"),
        ({"tools": [{}]}, "/tools/0/tool is missing"),
        ({"tools": [{"tool": 1}]}, "/tools/0/tool is not a str"),
        ({"tools": [{"tool": "a", "approval": 1}]}, "/tools/0/approval is not a bool"),
        ({"tools": [{"tool": "a", "max_calls": True}]}, "/tools/0/max_calls is not a int"),
        ({"tools": [{"tool": "a", "effect": "harmless"}]}, "/tools/0/effect has no such value"),
        ({"servers": [{"name": "s", "transport": "stdio", "reviewed_at": "soon"}]}, "/servers/0/reviewed_at"),
        ({"fail_on": [["a"]]}, "/fail_on/0 has 1 items, not 2"),
        ({"budget": {"tokens": 1.5}}, "/budget/tokens is not a int"),
    ],
)
def test_what_the_types_do_not_allow_is_refused_with_its_place(value: Any, said: str) -> None:
    with pytest.raises(UnreadableError, match=said.replace("/", "/")):
        read_plain(Manifest, value)
