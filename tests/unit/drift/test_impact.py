"""Which calls a change breaks, which it may break, and which are proved to be safe."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from keel.drift.affected import Impact
from keel.drift.impact import Impacts
from keel.drift.usage import Usage
from keel.flow.modules import MemorySources
from keel.flow.read import read_flows

HEADER = """\
from keel import Agent, flow, mcp_tool
get = mcp_tool("s", "get")
put = mcp_tool("s", "put")
"""


def usage(text: str) -> Usage:
    sources = MemorySources({"flows.py": HEADER + textwrap.dedent(text)})
    return Usage(read_flows(sources, flows=("flows.py",), source_roots=(".",)))


def flow(*lines: str, parameters: str = "a: str") -> Usage:
    body = "".join(f"    {line}\n" for line in lines)
    return usage(f"\n\n@flow\ndef go({parameters}):\n{body}")


def impacts(used: Usage, old: dict[str, Any], new: dict[str, Any]) -> Impacts:
    return Impacts(
        used, {f"s/{key}": wire for key, wire in old.items()}, {f"s/{key}": wire for key, wire in new.items()}
    )


def of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def judged(impact: Impact) -> list[tuple[bool, str]]:
    return [(item.certain, item.what) for item in impact.affected]


def inputs(used: Usage, old: Any, new: Any) -> list[tuple[bool, str]]:
    return judged(impacts(used, {"get": {"inputSchema": old}}, {"get": {"inputSchema": new}}).input("s/get"))


@pytest.mark.parametrize(
    ("call", "old", "new", "certain", "what"),
    [
        ("get(q=a)", of("q", q=TEXT), of("q", "t", q=TEXT, t=TEXT), True, "now requires `t`"),
        ("get(q=a)", of("q", q=TEXT), of("q", "t", q=TEXT, t={"default": 3}), True,
         "now requires `t` (its schema names the default `3`)"),
        ("get(q=a)", of("q", q=TEXT), of(), True, "no longer accepts `q`"),
        ("get(q=a)", of("q", q=TEXT), of("r", r=TEXT), True, "now requires `r` and no longer accepts `q`"),
        ("get(q='long')", of(q=TEXT), of(q={"type": "string", "maxLength": 2}), True, "no longer accepts `q='long'`"),
        ("get(q='a' if a else 'b')", of(q={"enum": ["a", "b", "c"]}), of(q={"enum": ["c"]}), True, "no longer accepts `q="),
        ("get(q='a' if a else 'b')", of(q={"enum": ["a", "b"]}), of(q={"enum": ["a"]}), False, 'it would refuse `{"q": "b"}`'),
        ("get(q={'x': 1})", of(q=of(x=NUMBER)), of(q=of(x=TEXT)), True, "no longer accepts `q={'x': 1}`"),
        ("get(q=a)", of(q=TEXT), of(q={"type": "string", "maxLength": 2}), False, "`maxLength` absent → `2`"),
        ("get(**a)", of(q=TEXT), of("r", q=TEXT, r=TEXT), False, "now requires `r`"),
        ("get(q=a)", {"$ref": "#/$defs/i", "$defs": {"i": of(q=TEXT)}},
         {"$ref": "#/$defs/i", "$defs": {"i": of("t", q=TEXT, t=TEXT)}}, True, "now requires `t`"),
        ("get(q=a)", of(q=TEXT), None, False, "the input schema of `s/get` is gone"),
        ("get(q=a)", of(q=TEXT), {"$ref": "https://schemas.invalid/a"}, False, "not proved to fit"),
    ],
)  # fmt: skip
def test_what_a_call_passes(call: str, old: Any, new: Any, certain: bool, what: str) -> None:
    ((was_certain, said),) = inputs(flow(call), old, new)
    assert was_certain is certain
    assert what in said


@pytest.mark.parametrize(
    ("call", "old", "new"),
    [
        ("get(q='ok')", of(q=TEXT), of(q={"type": "string", "maxLength": 2})),
        ("get(q='a')", of(q={"enum": ["a", "b"]}), of(q={"enum": ["a"]})),
        ("get(q=a)", of("q", q=TEXT, r=TEXT), of("q", q=TEXT)),
        ("get(q=a)", of(q=TEXT, r=TEXT), of(q=TEXT, r=NUMBER)),
        ("get(q=a, r='x')", of("q", q=TEXT, r=TEXT), of("q", "r", q=TEXT, r=TEXT)),
        ("get(q=a)", {"type": "object", "properties": {"q": TEXT}},
         {"type": "object", "properties": {"q": TEXT, "webhook_url": TEXT}}),
        ("get(q=put()['id'])", of(q={"type": "string"}), of(q={"type": "string", "maxLength": 9})),
    ],
)  # fmt: skip
def test_what_is_proved_to_fit_is_not_reported(call: str, old: Any, new: Any) -> None:
    tools = {"put": {"outputSchema": of("id", id={"type": "string", "maxLength": 9})}}
    pair = ({"get": {"inputSchema": schema}, **tools} for schema in (old, new))
    found = impacts(flow(call), *pair).input("s/get")
    assert judged(found) == []
    assert found.sentence == "no site is affected"
    assert found.site == "go@flows.py:8:5"


def test_a_producer_of_which_nothing_fits_any_more() -> None:
    tools = {"put": {"outputSchema": of("id", id=TEXT)}}
    found = impacts(
        flow("get(q=put()['id'])"),
        {"get": {"inputSchema": of(q=TEXT)}, **tools},
        {"get": {"inputSchema": of(q=NUMBER)}, **tools},
    )
    assert judged(found.input("s/get")) == [(True, "`s/get` takes for `q` nothing that `put()['id']` can be")]


def test_a_value_that_never_fitted_is_no_effect_of_a_change() -> None:
    tools = {"put": {"outputSchema": of("id", id=TEXT)}}
    found = impacts(
        flow("get(q=put()['id'])"),
        {"get": {"inputSchema": of(q=NUMBER)}, **tools},
        {"get": {"inputSchema": of(q={"type": "integer", "minimum": 1})}, **tools},
    )
    assert not any(certain for certain, _ in judged(found.input("s/get")))


OUT = of("id", "rows", id=TEXT, rows={"type": "array", "items": of("n", n=NUMBER)})


def outputs(used: Usage, old: Any, new: Any) -> list[tuple[bool, str]]:
    taking = {"put": {"inputSchema": of(q=TEXT)}}
    found = impacts(used, {"get": {"outputSchema": old}, **taking}, {"get": {"outputSchema": new}, **taking})
    return judged(found.output("s/get"))


@pytest.mark.parametrize(
    ("read", "new", "expected"),
    [
        ("return get()['id']", OUT, []),
        ("return get()['id']", of("rows", rows={}), [(True, "`s/get` no longer returns `id`")]),
        ("return get()['id']", of("rows", id=TEXT), [(False, "`s/get` may now leave out `id`")]),
        ("return get()['id']", of("id", id=NUMBER),
         [(False, "`s/get` may return something else as `id`: `type` `string` → `integer`")]),
        ("return get()['id']", None, [(False, "`s/get` no longer describes `id`")]),
        ("return get()['id']", of("id", id={"enum": ["a"]}), []),
        ("return get()['rows'][0]['n']", of("rows", rows={"type": "array", "items": of(m=NUMBER)}),
         [(True, "`s/get` no longer returns `rows[0].n`")],
        ),
        ("return get()['rows'][0]['n']", of("id", id=TEXT), [(True, "`s/get` no longer returns `rows`")]),
        ("return get()['unknown']", of(), []),
        ("return put(q=get()['id'])", of("id", id=NUMBER),
         [(True, "`q=get()['id']` now never fits `q` of `s/put`"),
          (False, "`s/get` may return something else as `id`: `type` `string` → `integer`")]),
        ("return put(q=get()['id'])", of("id", id={"type": ["null", "string"]}),
         [(False, "`q=get()['id']` may now be what does not fit `q` of `s/put`"),
          (False, "`s/get` may return something else as `id`: `type` `string` → `null`, `string`")]),
        ("return put(q=get()['id'])", None,
         [(False, "`s/get` no longer describes `id`"), (False, "nothing is known any more of the value for `q` of `s/put`")]),
    ],
)  # fmt: skip
def test_what_a_flow_does_with_results(read: str, new: Any, expected: list[tuple[bool, str]]) -> None:
    found = outputs(flow(read), OUT, new)
    assert [(certain, what) for certain, what in found] == [
        (certain, next((said for _, said in found if said.startswith(what)), what)) for certain, what in expected
    ]


def test_a_helper_breaks_every_flow_that_calls_it() -> None:
    used = usage("""
        def helper(a):
            return get(q=a)

        @flow
        def one(a: str):
            return helper(a)

        @flow
        def two(a: str):
            return helper(a)
    """)
    found = impacts(used, {"get": {"inputSchema": of(q=TEXT)}}, {"get": {"inputSchema": of("t", q=TEXT, t=TEXT)}})
    impact = found.input("s/get")
    assert [item.flow for item in impact.affected] == ["one", "two"]
    assert impact.sentence == "`one` breaks at flows.py:6: `s/get` now requires `t`, and 1 more place"
    assert [(step.file, step.line) for step in impact.path] == [("flows.py", 6), ("flows.py", 6)]


def test_an_agent_that_holds_a_tool_is_named() -> None:
    used = usage("""
        agent = Agent("scout", "anthropic:claude-haiku-4-5", "Look.", [get])

        @flow
        def go(a: str):
            return agent(a)
    """)
    found = impacts(used, {"get": {"inputSchema": of(q=TEXT)}}, {"get": {"inputSchema": of()}}).input("s/get")
    assert found.sentence == "held by agent `scout`"


def test_what_nobody_uses_affects_nobody() -> None:
    found = impacts(flow("return a"), {"get": {"inputSchema": of(q=TEXT)}}, {})
    for impact in (found.input("s/get"), found.output("s/get"), found.gone("s/get"), found.uses("s/get")):
        assert (impact.sentence, impact.site, impact.path) == ("no site is affected", "", ())
