"""Markdown: short, largest first, and foreign text nowhere but in code, as a CommonMark parser reads it."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.unit.report.sample import MARK, SAMPLE, many, presentations

from keel.core.finding import Location, Report, finding
from keel.report.interface import Presentation
from keel.report.markdown import MAX_CHARACTERS, render

HTML = re.compile(
    r"<!-- keel [a-z]+ -->\n?|<details( open)?><summary>[^<]*(<code>[a-z-]+</code>)?[^<]*</summary>\n?|</details>\n?"
)


def tokens(text: str) -> list[Token]:
    found = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        found.append(token)
        found.extend(token.children or ())
    return found


@given(presentations)
def test_foreign_text_stands_only_in_code(shown: Presentation) -> None:
    for token in tokens(render(shown)):
        if token.type in ("html_block", "html_inline"):
            assert HTML.fullmatch(token.content), token.content
        if MARK in token.content and token.type != "inline":
            assert token.type in ("fence", "code_inline"), token
        assert token.type not in ("link_open", "image", "autolink")
    assert all(char == "\n" or char.isprintable() for char in render(shown))


def test_counts_stand_on_top_errors_first_and_largest_first() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \| `([a-z-]+)` \|$", render(SAMPLE), re.MULTILINE)
    assert rows == [
        ("6", "error", "text-changed"),
        ("1", "error", "approval-ignored"),
        ("1", "warning", "unused-grant"),
    ]


def test_paths_count_from_the_top_of_the_repository() -> None:
    assert "  --> services/billing/keel.yaml:7:5" in render(replace(SAMPLE, prefix="services/billing"))


def test_few_findings_are_open_and_many_are_folded() -> None:
    assert "<details open>" in render(many(3))
    assert "<details open>" not in render(many(4))


def test_a_clean_report_is_its_verdict() -> None:
    assert (
        render(Presentation(Report(), "check", "2 flows")) == "<!-- keel check -->\n\n### keel `check: ok (2 flows)`\n"
    )


def test_a_long_report_is_cut_with_a_notice() -> None:
    found = [
        finding("text-changed", f"`s/t{index}` changed {'x' * 80}", location=Location(key=f"s/t{index}"))
        for index in range(2_000)
    ]
    long = Presentation(Report.of([*found, *SAMPLE.report.findings]), "drift")
    text = render(long)
    assert 50_000 < len(text) <= MAX_CHARACTERS
    assert "**Cut at 60,000 characters**: 1 list is shortened. `keel drift` prints everything." in text
    assert "| 2,006 | error | `text-changed` |" in text
    assert text.count("```") % 2 == 0
    assert text.count("<details") == text.count("</details>")


def test_one_endless_line_is_left_out_with_a_notice() -> None:
    text = render(Presentation(Report.of([finding("text-changed", "x" * 100_000)]), "drift"))
    assert len(text) < 1_000
    assert "**Cut at" in text
