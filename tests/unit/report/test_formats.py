"""The formats over one sample report: pure, stable, and safe for foreign text."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from tests.golden import matches
from tests.unit.report.sample import SAMPLE, presentations

import keel.report
from keel.app.outcome import exit_code
from keel.core.codes import CODES, Severity
from keel.core.finding import NotChecked, Report, Threshold, finding
from keel.errors import ExitCode
from keel.report.interface import Presentation
from keel.report.json_ import render, report_schema
from keel.report.registry import FORMATS
from keel.report.text import lines, verdict


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_golden(name: str) -> None:
    matches(Path(f"report.{name}.txt"), FORMATS[name](SAMPLE))


def test_json_is_valid_against_its_schema() -> None:
    jsonschema.validate(json.loads(render(SAMPLE)), report_schema())


def test_equal_edits_are_grouped() -> None:
    text = FORMATS["text"](SAMPLE)
    assert text.count("text-changed") == 1
    assert "the same edit in 6 tools: s/t0, s/t1, s/t2 and 3 more" in text


def test_the_last_line_is_the_verdict() -> None:
    assert "".join(text for text, _ in list(lines(SAMPLE))[-1]) == verdict(SAMPLE)
    assert (
        verdict(SAMPLE)
        == "check: 7 errors, 1 warning, 1 not checked (2 flows, 9 frozen tools) (1 info hidden, -v shows)"
    )


@pytest.mark.parametrize(
    ("severities", "gap", "threshold", "code"),
    [
        ((), None, Threshold.ERROR, ExitCode.OK),
        (("error",), None, Threshold.ERROR, ExitCode.FINDINGS),
        (("warning",), None, Threshold.ERROR, ExitCode.OK),
        (("warning",), None, Threshold.WARNING, ExitCode.FINDINGS),
        (("info",), None, Threshold.WARNING, ExitCode.OK),
        (("error",), None, Threshold.NEVER, ExitCode.OK),
        ((), "timed-out", Threshold.NEVER, ExitCode.INCOMPLETE),
        (("error",), "timed-out", Threshold.ERROR, ExitCode.FINDINGS),
        (("error",), "timed-out", Threshold.NEVER, ExitCode.INCOMPLETE),
        ((), "attended", Threshold.ERROR, ExitCode.OK),
    ],
)
def test_exit_codes(severities: tuple[str, ...], gap: str | None, threshold: Threshold, code: ExitCode) -> None:
    found = [finding("text-changed", "x", severity=Severity(item)) for item in severities]
    gaps = [NotChecked("s", gap, "why")] if gap else []
    assert exit_code(Report.of(found, gaps), threshold) is code


def test_every_code_is_documented() -> None:
    for code, info in CODES.items():
        assert code == info.code
        assert all((info.summary, info.why, info.next)), code
        assert not code.startswith(("no-", "avoid-", "use-", "prefer-")) or code == "no-manifest"


def test_nothing_of_a_report_depends_on_the_order_of_findings() -> None:
    report = SAMPLE.report
    assert Report.of(reversed(report.findings), reversed(report.not_checked)) == report


def test_each_format_is_one_file_of_its_name() -> None:
    assert list(FORMATS) == sorted(FORMATS)
    files = Path(keel.report.__file__).parent.glob("*.py")
    written = [
        path.stem.strip("_") for path in files if "\ndef render(shown: Presentation) -> str:" in path.read_text("utf-8")
    ]
    assert sorted(written) == list(FORMATS)


@given(presentations)
def test_text_is_one_line_for_each_line_and_json_is_the_value_itself(shown: Presentation) -> None:
    for name in ("text", "json"):
        text = FORMATS[name](shown)
        assert all(line.isprintable() and "##[" not in line for line in text.split("\n"))
        assert not any(line.lstrip().startswith("::") for line in text.split("\n"))
    findings = json.loads(FORMATS["json"](shown))["findings"]
    assert [item["message"] for item in findings] == [item.message for item in shown.report.findings]
