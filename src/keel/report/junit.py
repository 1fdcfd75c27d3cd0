"""JUnit XML for test dashboards: an error is a failed case, what could not be looked at is an errored one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from keel.core.codes import Severity
from keel.core.finding import Finding, NotChecked
from keel.core.text import escape
from keel.report.interface import Presentation
from keel.report.places import Place, place_of, where, worst_first
from keel.report.text import verdict

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def render(shown: Presentation) -> str:
    """Return the report as one test suite in the format that Jenkins, GitLab and Azure read.

    Errors are failures. Warnings, and infos when the presentation is verbose, are passed cases with their text as
    output, because most dashboards turn any failure red. A clean report is one passed case.
    """
    from xml.etree.ElementTree import Element, SubElement, indent, tostring  # noqa: PLC0415 - only this format needs it

    cases = list(_cases(shown))
    suite = Element("testsuite", name=_clean(f"keel {shown.command}"))
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", str(sum(case.find("error") is not None for case in cases)))
    suite.set("skipped", "0")
    suite.extend(cases)
    SubElement(suite, "system-out").text = _clean(verdict(shown))
    root = Element("testsuites")
    root.append(suite)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _cases(shown: Presentation) -> Iterator[Element]:
    for item in worst_first(shown.report.findings):
        if shown.verbose or item.severity is not Severity.INFO:
            yield _finding(item, place_of(item, shown))
    for gap in shown.report.not_checked:
        yield _gap(gap)
    if not shown.report.findings and not shown.report.not_checked:
        yield _case("keel", shown.command)


def _case(group: str, name: str) -> Element:
    from xml.etree.ElementTree import Element  # noqa: PLC0415 - as above

    return Element("testcase", classname=_clean(group), name=_clean(name))


def _finding(item: Finding, place: Place) -> Element:
    from xml.etree.ElementTree import SubElement  # noqa: PLC0415 - as above

    at = f"{place.file}:{place.line}"
    case = _case(f"keel.{item.code}", f"{where(item)} ({at})" if where(item) else at)
    case.set("file", _clean(place.file))
    case.set("line", str(place.line))
    lines = [item.message, f"at {at}", *(f"{step.file}:{step.line}: {step.text}" for step in item.path)]
    lines.extend(f"{label}: {text}" for label, text in (("why", item.why), ("next", item.next)) if text)
    text = "\n".join(_clean(line) for line in lines)
    if item.severity is Severity.ERROR:
        SubElement(case, "failure", type=_clean(item.code), message=_clean(item.message)).text = text
    else:
        SubElement(case, "system-out").text = f"{item.severity.value}: {text}"
    return case


def _gap(gap: NotChecked) -> Element:
    from xml.etree.ElementTree import SubElement  # noqa: PLC0415 - as above

    case = _case(f"keel.{gap.code}", gap.what)
    text = f"{gap.why}. {gap.next}" if gap.next else gap.why
    SubElement(case, "error", type=_clean(gap.code), message=_clean(gap.why)).text = _clean(text)
    return case


def _clean(text: str) -> str:
    """Return text of characters that XML 1.0 allows (section 2.2); `escape` makes all others visible."""
    return escape(text)
