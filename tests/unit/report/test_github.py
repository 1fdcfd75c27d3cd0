"""GitHub annotations, read back by the rules of the Actions runner."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from hypothesis import given
from tests.unit.report.sample import SAMPLE, many, presentations

from keel.core.text import escape
from keel.report.github import MAX_PER_LEVEL, render
from keel.report.interface import Presentation

COMMAND = re.compile(r"::(\w+) ([^:]*)::(.*)")


def commands(text: str) -> tuple[list[tuple[str, dict[str, str], str]], list[str]]:
    """Split a log as the runner does: a line that begins with `::` is a command, and `##[` starts one anywhere."""
    found, rest = [], []
    for line in text.split("\n")[:-1]:
        assert "##[" not in line
        if line.lstrip().startswith("::"):
            match = COMMAND.fullmatch(line)
            assert match is not None, line
            pairs = dict(pair.split("=", 1) for pair in match[2].split(","))
            found.append((match[1], pairs, match[3]))
        else:
            rest.append(line)
    return found, rest


def test_an_annotation_stands_at_its_line_in_the_repository() -> None:
    found, rest = commands(render(replace(SAMPLE, prefix="services/billing")))
    level, properties, message = next(item for item in found if item[1]["title"] == "keel approval-ignored")
    assert level == "error"
    assert properties == {
        "file": "services/billing/flows/support.py",
        "line": "41",
        "col": "11",
        "title": "keel approval-ignored",
    }
    assert message.split("%0A")[1] == 'flows/support.py:38: ok = await human_gate(…, on_reject="return")'
    assert rest == ["check: 7 errors, 1 warning, 1 not checked (2 flows, 9 frozen tools) (1 info hidden, -v shows)"]


def test_c107_at_most_ten_of_a_level_then_a_summary() -> None:
    found, rest = commands(render(many(40)))
    assert len(found) == MAX_PER_LEVEL
    assert rest == ["not annotated, as GitHub shows 10 of a level: 30 errors more", "drift: 40 errors, 0 warnings"]


def test_what_was_not_checked_is_annotated_before_warnings() -> None:
    gaps = [replace(SAMPLE.report.not_checked[0], what=f"s{index:02}") for index in range(11)]
    found, rest = commands(render(replace(SAMPLE, report=replace(SAMPLE.report, not_checked=tuple(gaps)))))
    assert [item[1]["title"] for item in found if item[0] == "warning"] == ["keel timed-out"] * 10
    assert rest[0].endswith("2 warnings more")


def test_infos_are_notices_when_asked_for() -> None:
    levels = Counter(level for level, _, _ in commands(render(replace(SAMPLE, verbose=True)))[0])
    assert levels == {"error": 7, "warning": 2, "notice": 1}


@given(presentations)
def test_nothing_foreign_becomes_a_command(shown: Presentation) -> None:
    found, rest = commands(render(shown))
    report = shown.report
    visible = [item for item in report.findings if shown.verbose or item.severity.value != "info"]
    assert len(found) == len(visible) + len(report.not_checked)
    assert {level for level, _, _ in found} <= {"error", "warning", "notice"}
    for _, properties, message in found:
        assert set(properties) <= {"file", "line", "col", "title"}
        assert properties["title"].removeprefix("keel ") in {
            item.code for item in (*report.findings, *report.not_checked)
        }
        assert message.isprintable()
    assert len(rest) == 1
    assert rest[0].startswith(f"{shown.command}: ")


def test_log_commands_within_a_line_are_defused() -> None:
    for text in ("x ##[set-output name=a]b", "##vso[x]", "##TeamCity[x"):
        assert "##" not in escape(text)
    assert escape("## title #[x]") == "## title #[x]"
