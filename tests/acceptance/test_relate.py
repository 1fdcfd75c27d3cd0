"""`keel relate`: one answer for each line, whatever the line holds."""

from __future__ import annotations

import json
from typing import Any

from tests.acceptance.harness import Keel, put

FIELDS = ["id", "relation", "input", "output", "witness_old_not_new", "witness_new_not_old", "pointer", "reason"]


def answers(keel: Keel, *lines: str) -> tuple[int, list[dict[str, Any]]]:
    done = keel("relate", "--jsonl", stdin="\n".join(lines) + "\n")
    return done.code, [json.loads(line) for line in done.out.splitlines()]


def test_each_line_has_exactly_the_documented_fields(keel: Keel) -> None:
    pairs = [
        {"id": "a", "old": {"type": "string"}, "new": {"type": ["string", "null"]}},
        {"id": 7, "old": {"required": ["a"]}, "new": {"required": ["a", "b"]}},
        {"id": None, "old": True, "new": True, "note": "ignored"},
        {"id": "null", "old": {"const": None}, "new": {"const": 1}},
    ]
    code, got = answers(keel, *map(json.dumps, pairs))
    assert code == 0
    assert [list(item) for item in got] == [FIELDS] * 4
    assert [item["id"] for item in got] == ["a", 7, None, "null"]
    assert [item["relation"] for item in got] == ["widened", "narrowed", "equivalent", "incomparable"]
    assert [(item["input"], item["output"]) for item in got[:2]] == [
        ("compatible", "breaking"),
        ("breaking", "compatible"),
    ]
    assert got[1]["witness_old_not_new"] == {"a": None}
    assert got[1]["pointer"] == "/required"


def test_a_bad_line_is_answered_and_the_next_one_too(keel: Keel) -> None:
    good = json.dumps({"id": 1, "old": {}, "new": {}})
    bad = ["{", "[]", "7", '{"id": 2, "old": {}}', "[" * 100_000, '{"id": NaN}', "\ufeff"]
    code, got = answers(keel, good, "", *bad, good)
    assert code == 2
    assert len(got) == len(bad) + 2
    assert [item["id"] for item in got if "error" not in item] == [1, 1]
    assert next(item for item in got if item["id"] == 2)["error"]


def test_what_cannot_be_compared_is_undecided_with_its_id(keel: Keel) -> None:
    deep = '{"not":' * 300 + "{}" + "}" * 300
    lines = [
        '{"id": 2, "old": {"type": "string", "type": "null"}, "new": {}}',
        '{"id": 3, "old": {"const": "\\ud800"}, "new": {}}',
        f'{{"id": 4, "old": {deep}, "new": {{}}}}',
        '{"id": 5, "old": [], "new": 7}',
        '{"id": 6, "old": {"$ref": "https://schemas.invalid/a.json"}, "new": {}}',
    ]
    code, got = answers(keel, *lines)
    assert code == 0
    assert [item["id"] for item in got] == [2, 3, 4, 5, 6]
    assert {item["relation"] for item in got} == {"undecided"}
    assert all(item["reason"] for item in got)


def test_a_number_that_other_readers_take_for_infinite_is_an_error_of_its_line(keel: Keel) -> None:
    good = '{"id": 0, "old": {"maximum": 1e308}, "new": {"maximum": 2}}'
    bad = [
        '{"id": 1, "old": {"maximum": 1e400}, "new": {}}',
        '{"id": 2, "old": {}, "new": {"enum": [[-1e999]]}}',
        '{"id": 3, "old": {"const": 1e1400}, "new": {}}',
        f'{{"id": 4, "old": {{}}, "new": {{"x": 1{"0" * 400}}}}}',
        '{"id": 1e400, "old": {}, "new": {}}',
    ]
    code, got = answers(keel, *bad, good)
    assert code == 2
    assert [item["id"] for item in got] == [1, 2, 3, 4, None, 0]
    assert [item["error"].rpartition("`")[0] for item in got if "error" in item] == [
        "line 1: a double cannot hold the number at `/old/maximum", "line 2: a double cannot hold the number at `/new/enum/0/0", "line 3: a double cannot hold the number at `/old/const",
        "line 4: a double cannot hold the number at `/new/x", "line 5: a double cannot hold the number at `/id",
    ]  # fmt: skip
    put(keel.root, {"old.json": '{"maximum": 1e400}', "new.json": "{}"})
    done = keel("relate", "old.json", "new.json")
    assert done.code == 2
    assert "a double cannot hold the number at `/maximum`" in done.out + done.err


def test_two_files(keel: Keel) -> None:
    put(keel.root, {"old.json": '{"maximum": 3}', "new.json": '{"maximum": 2}', "bad.json": "{"})
    done = keel("relate", "old.json", "new.json")
    assert (done.code, json.loads(done.out)["relation"]) == (0, "narrowed")
    assert keel("relate", "old.json", "bad.json").code == 2
    assert keel("relate", "old.json", "gone.json").code == 2
    assert keel("relate", "old.json").code == 2
    assert keel("relate", "old.json", "new.json", "--jsonl").code == 2
