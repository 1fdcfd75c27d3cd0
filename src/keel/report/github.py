"""GitHub Actions annotations: the worst findings at their lines, then one line that says how many more there are.

Source: "Workflow commands for GitHub Actions"; a step shows ten annotations of a level and drops the rest silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.codes import Severity
from keel.core.finding import Finding, NotChecked
from keel.core.text import escape, plural
from keel.report.interface import Presentation
from keel.report.places import place_of, where, worst_first
from keel.report.text import verdict

MAX_PER_LEVEL = 10
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(shown: Presentation) -> str:
    """Return the report as workflow commands; infos only when the presentation is verbose."""
    commands: dict[str, list[str]] = {level: [] for level in _LEVELS.values()}
    commands["warning"].extend(_gap(gap) for gap in shown.report.not_checked)
    for item in worst_first(shown.report.findings):
        if shown.verbose or item.severity is not Severity.INFO:
            commands[_LEVELS[item.severity]].append(_finding(item, shown))
    return "".join(f"{line}\n" for line in _lines(commands, shown))


def _lines(commands: dict[str, list[str]], shown: Presentation) -> Iterator[str]:
    for lines in commands.values():
        yield from lines[:MAX_PER_LEVEL]
    more = {level: len(lines) - MAX_PER_LEVEL for level, lines in commands.items()}
    counts = [plural(count, level) for level, count in more.items() if count > 0]
    if counts:
        yield f"not annotated, as GitHub shows {MAX_PER_LEVEL} of a level: {' and '.join(counts)} more"
    yield escape(verdict(shown))


def _finding(item: Finding, shown: Presentation) -> str:
    place = place_of(item, shown)
    properties = {"file": place.file, "line": str(place.line), "title": f"keel {item.code}"}
    if place.column:
        properties["col"] = str(place.column)
    name = where(item)
    about = f" ({name})" if name and f"`{item.location.key}`" not in item.message else ""
    parts = [f"{escape(item.message)}{about}", *(f"{step.file}:{step.line}: {step.text}" for step in item.path)]
    if item.next:
        parts.append(f"next: {item.next}")
    return _command(_LEVELS[item.severity], properties, parts)


def _gap(gap: NotChecked) -> str:
    parts = [f"{gap.what} was not checked: {gap.why}"]
    return _command("warning", {"title": f"keel {gap.code}"}, [*parts, f"next: {gap.next}"] if gap.next else parts)


def _command(level: str, properties: dict[str, str], parts: list[str]) -> str:
    """Return one workflow command; only line breaks of our own become line breaks of the annotation."""
    order = ("file", "line", "col", "title")
    given = ",".join(f"{name}={_property(properties[name])}" for name in order if name in properties)
    return f"::{level} {given}::{'%0A'.join(_data(escape(part)) for part in parts)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(escape(text)).replace(":", "%3A").replace(",", "%2C")
