"""JUnit: well-formed whatever the text, with the counts that dashboards add up."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from tests.unit.report.sample import SAMPLE, presentations

from keel.core.codes import Severity
from keel.core.finding import Report
from keel.report.interface import Presentation
from keel.report.junit import render


def suite(shown: Presentation) -> ET.Element:
    root = ET.fromstring(render(shown))
    assert [child.tag for child in root] == ["testsuite"]
    return root[0]


def test_errors_fail_and_gaps_err() -> None:
    found = suite(SAMPLE)
    assert {name: found.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "9",
        "failures": "7",
        "errors": "1",
        "skipped": "0",
    }
    case = next(case for case in found if case.get("classname") == "keel.approval-ignored")
    assert case.get("name") == "billing/refund (flows/support.py:41)"
    assert (case.get("file"), case.get("line")) == ("flows/support.py", "41")


def test_a_clean_report_is_one_passed_case() -> None:
    (case, _) = suite(Presentation(Report(), "check"))
    assert (case.get("name"), len(case)) == ("check", 0)


@given(presentations)
def test_foreign_text_stays_text(shown: Presentation) -> None:
    found = suite(shown)
    visible = [item for item in shown.report.findings if shown.verbose or item.severity is not Severity.INFO]
    cases = found.findall("testcase")
    assert (
        len(cases)
        == int(found.get("tests", ""))
        == max(len(visible) + len(shown.report.not_checked), not shown.report.findings)
    )
    assert (
        len(found.findall("testcase/failure")) == int(found.get("failures", "")) == shown.report.count(Severity.ERROR)
    )
    assert len(found.findall("testcase/error")) == int(found.get("errors", "")) == len(shown.report.not_checked)
    assert {node.tag for node in found.iter()} <= {"testsuite", "testcase", "failure", "error", "system-out"}
    assert all(char == "\n" or char.isprintable() for char in "".join(found.itertext()))
