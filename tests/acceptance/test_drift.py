"""`keel drift`: what differs, how bad it is, which line of a flow it breaks, and what to run next."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import Keel, Result, put, surface, tool

OBJECT: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
OUT: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "amount": {"type": "integer"}},
    "required": ["id", "amount"],
}
FLOW = """\
from keel import flow, mcp_tool

query = mcp_tool("search", "query")
fetch = mcp_tool("search", "fetch")


@flow
async def triage(topic: str) -> dict:
    hit = await query(q=topic)
    amount = hit["amount"]
    return await fetch(q=hit["id"], mode="fast")
"""
MANIFEST = """\
version: 1
servers:
  search: {surface: search.json}
tools:
  - {tool: search/query, effect: read, idempotency: native}
  - {tool: search/fetch, effect: read, idempotency: native}
"""
FETCH = {**OBJECT, "properties": {**OBJECT["properties"], "mode": {"enum": ["fast", "slow"]}}}


def tools(query: dict[str, Any] | None = None, out: dict[str, Any] | None = None, fetch: Any = None) -> str:
    return surface(tool("query", schema=query or OBJECT, outputSchema=out or OUT), tool("fetch", schema=fetch or FETCH))


@pytest.fixture
def drifting(keel: Keel) -> Keel:
    put(keel.root, {"keel.yaml": MANIFEST, "flows/support.py": FLOW, "search.json": tools()})
    assert keel("freeze").code == 0
    return keel


def messages(done: Result) -> list[str]:
    return [item["message"] for item in done.report["findings"]]


def test_no_drift_is_silent(drifting: Keel) -> None:
    done = drifting.json("drift")
    assert (done.code, done.report["findings"], done.report["digest"]) == (0, [], "")


@pytest.mark.parametrize(
    ("new", "code", "sentence"),
    [
        ({"query": {**OBJECT, "required": ["q", "tenant"]}}, "input-breaking",
         "`triage` breaks at flows/support.py:9: `search/query` now requires `tenant`"),
        ({"query": {"type": "object", "properties": {}, "additionalProperties": False}}, "input-breaking",
         "`triage` breaks at flows/support.py:9: `search/query` no longer accepts `q`"),
        ({"query": {**OBJECT, "properties": {"q": {"type": "string", "maxLength": 9}}}}, "input-breaking",
         "`triage` may break at flows/support.py:9: `search/query` `maxLength` absent → `9` at `/properties/q`"),
        ({"fetch": {**FETCH, "properties": {**OBJECT["properties"], "mode": {"enum": ["slow"]}}}}, "input-breaking",
         '`triage` breaks at flows/support.py:11: `search/fetch` no longer accepts `mode="fast"`'),
        ({"fetch": {**FETCH, "properties": {**FETCH["properties"], "q": {"type": "integer"}}}}, "input-breaking",
         '`triage` breaks at flows/support.py:11: `search/fetch` takes for `q` nothing that `hit["id"]` can be'),
        ({"fetch": {**FETCH, "properties": {**OBJECT["properties"], "mode": {"enum": ["fast"]}}}}, "input-breaking",
         "no site is affected"),
        ({"out": {**OUT, "required": ["id"]}}, "output-breaking",
         "`triage` may break at flows/support.py:10: `search/query` may now leave out `amount`"),
        ({"out": {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": False}},
         "output-breaking", "`triage` breaks at flows/support.py:10: `search/query` no longer returns `amount`"),
        ({"out": {**OUT, "properties": {**OUT["properties"], "id": {"type": "integer"}}}}, "output-breaking",
         '`triage` breaks at flows/support.py:11: `q=hit["id"]` now never fits `q`'),
        ({"out": {**OUT, "properties": {**OUT["properties"], "extra": {"type": "integer"}}, "required": ["amount"]}},
         "output-breaking", "`triage` may break at flows/support.py:11: `search/query` may now leave out `id`"),
    ],
)  # fmt: skip
def test_the_line_that_breaks_is_named(drifting: Keel, new: dict[str, Any], code: str, sentence: str) -> None:
    put(drifting.root, {"search.json": tools(**new)})
    done = drifting.json("drift")
    found = next(item for item in done.report["findings"] if item["code"] == code)
    assert done.code == 1
    assert sentence in found["message"]
    if sentence.startswith("`triage`"):
        assert found["site"].startswith("triage@flows/support.py:")
        assert found["path"][0]["file"] == "flows/support.py"
    for name in ("text", "markdown", "github", "sarif", "junit"):
        assert sentence.partition(":")[0].partition("`triage`")[2] in drifting("drift", "--format", name).out


def test_a_tool_that_is_gone_breaks_its_calls(drifting: Keel) -> None:
    put(drifting.root, {"search.json": surface(tool("query", schema=OBJECT, outputSchema=OUT))})
    (message,) = messages(drifting.json("drift"))
    assert "`triage` breaks at flows/support.py:11: `search/fetch` is gone" in message


def test_a_new_required_member_with_a_default_has_its_own_code(drifting: Keel) -> None:
    fresh = {**OBJECT, "properties": {**OBJECT["properties"], "deep": {"default": False}}, "required": ["q", "deep"]}
    put(drifting.root, {"search.json": tools(fresh)})
    done = drifting.json("drift")
    (found,) = [item for item in done.report["findings"] if item["code"] == "input-latent"]
    assert (done.code, found["severity"]) == (1, "error")
    assert "`deep`, whose default is `false`" in found["message"]
    put(drifting.root, {"keel.yaml": MANIFEST + "fail_on: {input-latent: warning, text: warning}\n"})
    assert drifting.json("drift").code == 0


def test_a_tool_that_is_garbled_now_is_neither_changed_nor_gone(drifting: Keel) -> None:
    path = drifting.root / "search.json"
    path.write_text(path.read_text().replace('"name": "query"', '"name": "query", "name": "query"'))
    done = drifting.json("drift")
    assert (done.code, done.codes, done.gaps) == (1, ["control-text"], ["schema-not-judged"])
    assert done.report["not_checked"][0]["what"] == "search query"
    assert drifting("drift", "--fail-on", "never").code == 3


def test_an_unversioned_change_is_noted(drifting: Keel) -> None:
    put(drifting.root, {"search.json": tools({**OBJECT, "required": ["q", "tenant"]})})
    assert "Unversioned change: the server still calls itself `1.0.0`." in drifting("drift").out


def test_the_digest_is_that_of_the_drift_and_not_of_the_flow(drifting: Keel) -> None:
    put(drifting.root, {"search.json": tools({**OBJECT, "required": ["q", "tenant"]})})
    first = drifting.json("drift").report["digest"]
    put(drifting.root, {"flows/support.py": "\n\n" + FLOW})
    assert drifting.json("drift").report["digest"] == first
    put(drifting.root, {"search.json": tools({**OBJECT, "required": ["q", "team"]})})
    assert drifting.json("drift").report["digest"] not in ("", first)


def test_the_printed_command_accepts_exactly_what_was_seen(drifting: Keel) -> None:
    put(drifting.root, {"search.json": tools({**OBJECT, "required": ["q", "tenant"]})})
    command = re.search(r"`keel (freeze search --expect search=k1:[0-9a-f]{64})`", drifting("drift").out)
    assert command is not None
    put(drifting.root, {"moved.json": (drifting.root / "search.json").read_text(), "search.json": tools()})
    assert drifting(*command[1].split()).code == 1
    put(drifting.root, {"search.json": (drifting.root / "moved.json").read_text()})
    assert drifting(*command[1].split()).code == 0
    assert drifting("drift").code == 0


def test_policies_say_what_they_did_not_compare(drifting: Keel) -> None:
    put(drifting.root, {"keel.yaml": MANIFEST.replace("search.json}", "search.json, policy: names}")})
    put(drifting.root, {"search.json": tools({**OBJECT, "required": ["q", "tenant"]})})
    done = drifting.json("drift")
    assert (done.code, done.report["findings"]) == (0, [])
    assert done.report["changes"] == ["search: 2 tools not compared under `names`"]


SUPPRESS = '[[suppress]]\ncode = "{code}"\nkey = "search/query"\nreason = "known"\nuntil = 2999-01-01\n'


def suppressed(drifting: Keel, code: str, digest: str = "") -> None:
    bound = f'digest = "{digest}"\n' if digest else ""
    put(drifting.root, {"keel.toml": SUPPRESS.format(code=code) + bound})


def test_a_difference_is_acknowledged_by_its_digest_alone(drifting: Keel) -> None:
    put(drifting.root, {"search.json": tools({**OBJECT, "required": ["q", "tenant"]})})
    (found,) = drifting.json("drift").report["findings"]
    suppressed(drifting, "input-breaking")
    assert drifting.json("drift").codes == ["input-breaking", "suppression-unused"]
    suppressed(drifting, "input-breaking", found["digest"])
    assert drifting.json("drift").code == 0
    assert drifting("check").out.count("suppression") == 0
    put(drifting.root, {"search.json": tools({**OBJECT, "required": ["q", "team"]})})
    assert drifting.json("drift").codes == ["input-breaking", "suppression-unused"]


def test_what_could_not_be_looked_at_makes_no_suppression_unused(drifting: Keel) -> None:
    suppressed(drifting, "input-breaking", "k1:" + "0" * 64)
    (drifting.root / "search.json").unlink()
    done = drifting.json("drift")
    assert done.codes == []
    assert done.code == 3
    assert drifting.json("drift", "--allow-unreachable", "search").code == 0


def test_equal_edits_are_said_once(keel: Keel) -> None:
    many = [tool(f"t{number}", "Old words.") for number in range(300)]
    put(
        keel.root,
        {"keel.yaml": "version: 1\nservers: {s: {surface: s.json}}\ntools: [s/*]\n", "s.json": surface(*many)},
    )
    assert keel("freeze").code == 0
    put(keel.root, {"s.json": surface(*(dict(item, description="New words.") for item in many))})
    done = keel("drift")
    assert "the same edit in 300 tools" in done.out
    assert len(done.out) < 2000
    assert len(keel.json("drift").report["findings"]) == 300
    assert len(keel("drift", "--format", "markdown").out) < 3000


def test_an_edit_that_breaks_a_flow_is_not_folded_away(keel: Keel) -> None:
    names = [f"t{number}" for number in range(20)]
    flow = 'from keel import flow, mcp_tool\n\n\n@flow\ndef go() -> None:\n    mcp_tool("s", "t9")(q="x")\n'
    put(keel.root, {"keel.yaml": "version: 1\nservers: {s: {surface: s.json}}\ntools: [s/*]\n", "flows.py": flow})
    put(keel.root, {"s.json": surface(*(tool(name, schema=OBJECT) for name in names))})
    assert keel("freeze").code == 0
    put(keel.root, {"s.json": surface(*(tool(name, schema={**OBJECT, "required": ["q", "id"]}) for name in names))})
    out = keel("drift").out
    assert "the same edit in 19 tools" in out
    assert "`go` breaks at flows.py:6: `s/t9` now requires `id`" in out


def test_a_report_is_the_same_on_every_run(drifting: Keel, tmp_path: Path) -> None:
    put(drifting.root, {"search.json": tools({**OBJECT, "required": ["q", "tenant"]})})
    runs = {drifting("drift", "--format", "json", PYTHONHASHSEED=seed).out for seed in ("1", "2")}
    assert len(runs) == 1
    assert json.loads(runs.pop())["counts"]["error"] == 1
