"""The text report for people: findings with place, path and next step, equal edits grouped, one last line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from keel.core.codes import Severity
from keel.core.finding import Finding, NotChecked
from keel.core.text import escape, plural
from keel.report.interface import Presentation

Segment = tuple[str, str]
"""(text, style name); the style is empty for plain text and carries no meaning of its own."""

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
_GROUP_FROM = 4
_SHOWN_OF_GROUP = 3


def render(shown: Presentation) -> str:
    """Return the report as plain text."""
    return "".join("".join(text for text, _ in line) + "\n" for line in lines(shown))


def lines(shown: Presentation) -> Iterator[list[Segment]]:
    """Yield the report line by line in styled segments; the last one is the verdict.

    Whatever a finding holds is shown escaped, so that a line of foreign text stays one line of ours.
    """
    yield from ([(escape(part), style) for part, style in line] for line in _lines(shown))


def _lines(shown: Presentation) -> Iterator[list[Segment]]:
    yield from ([(line, _change_style(line))] for line in shown.lines)
    if shown.lines:
        yield []
    visible = [item for item in shown.report.findings if shown.verbose or item.severity is not Severity.INFO]
    for group in _groups(visible):
        yield from _finding(group[0], len(group), [item.location.key for item in group])
        if shown.verbose:
            yield from _excuse(shown.excuse(group[0]))
        yield []
    for gap in shown.report.not_checked:
        yield from _gap(gap)
        yield []
    for hint in shown.hints:
        yield [("hint: ", "bold"), (hint, "")]
    yield [(verdict(shown), "bold")]


def verdict(shown: Presentation) -> str:
    """Return the one-line verdict with counts."""
    report = shown.report
    errors, warnings, infos = (report.count(severity) for severity in Severity)
    counts = [plural(errors, "error"), plural(warnings, "warning")] if errors or warnings else []
    if report.not_checked:
        counts.append(f"{len(report.not_checked)} not checked")
    hidden = "" if shown.verbose or not infos else f" ({plural(infos, 'info')} hidden, -v shows)"
    what = f" ({shown.looked_at})" if shown.looked_at else ""
    return f"{shown.command}: {', '.join(counts) or 'ok'}{what}{hidden}"


def _change_style(line: str) -> str:
    return {"+": "green", "-": "red", "~": "yellow"}.get(line[:1], "")


def _groups(findings: list[Finding]) -> Iterator[list[Finding]]:
    """Group equal edits over many tools, as when a server adds one sentence everywhere."""

    def edit(item: Finding) -> tuple[str, str, str]:
        return (item.code, item.severity.value, item.edit) if item.edit else (item.code, "", str(item.sort_key))

    ordered = {edit(item): index for index, item in reversed(list(enumerate(findings)))}
    arranged = sorted(findings, key=lambda item: (ordered[edit(item)], item.sort_key))
    for _, members in groupby(arranged, key=edit):
        group = list(members)
        if len(group) < _GROUP_FROM or len({item.location.key for item in group}) < len(group):
            yield from ([item] for item in group)
        else:
            yield group


def _finding(item: Finding, count: int, keys: list[str]) -> Iterator[list[Segment]]:
    yield [(f"{item.severity.value}[{item.code}]", _STYLES[item.severity]), (f": {item.message}", "")]
    place = _place(item)
    if place:
        yield [("  --> ", "blue"), (place, "")]
    if count > 1:
        rest = f" and {count - _SHOWN_OF_GROUP} more" if count > _SHOWN_OF_GROUP else ""
        yield [("   = ", "blue"), (f"the same edit in {count} tools: {', '.join(keys[:_SHOWN_OF_GROUP])}{rest}", "")]
    if item.site and not item.location.file and not item.path:
        yield [("   = ", "blue"), (f"used at {item.site}", "")]
    for step in item.path:
        yield [("   | ", "blue"), (f"{step.file}:{step.line}: {step.text}", "")]
    if item.why:
        yield [("   = ", "blue"), (item.why, "dim")]
    if item.next:
        yield [("   = next: ", "blue"), (item.next, "")]


def _excuse(block: str) -> Iterator[list[Segment]]:
    """Show the entry that accepts a finding, ready to be copied."""
    if block:
        where = "`keel.toml` (in `pyproject.toml` it is `[[tool.keel.suppress]]`), with reason and date"
        yield [("   = to accept it: ", "blue"), (f"add to {where}:", "")]
        yield from ([(f"       {line}", "dim")] for line in block.splitlines())


def _place(item: Finding) -> str:
    at = item.location
    file = at.file
    if at.line:
        file += f":{at.line}"
        if at.column:
            file += f":{at.column}"
    return " ".join(part for part in (file, at.key, at.pointer) if part)


def _gap(gap: NotChecked) -> Iterator[list[Segment]]:
    yield [(f"not checked[{gap.code}]", "bold magenta"), (f": {gap.what}: {gap.why}", "")]
    if gap.next:
        yield [("   = next: ", "blue"), (gap.next, "")]
