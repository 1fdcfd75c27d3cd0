"""Markdown for pull-request comments and job summaries: counts on top, largest first, details folded away.

Whatever a server, a file or a person wrote stands in code blocks, where neither HTML nor markup, mentions or links work
(GitHub Flavored Markdown 4.5; HTML filters of GitHub and GitLab leave code alone).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from keel.core.codes import Severity
from keel.core.finding import Finding, Report
from keel.core.text import escape, plural
from keel.report import text
from keel.report.interface import Presentation
from keel.report.places import in_repository, worst_first

MAX_CHARACTERS = 60_000
"""GitHub refuses comments above 65,536 characters."""
_ROOM_FOR_NOTICE = 400
_AROUND = 120
"""Characters around the lines of one list, at most."""
_OPEN_UNTIL = 3
"""With at most that many findings the details are open."""


def render(shown: Presentation) -> str:
    """Return the report as Markdown; the first line is a mark by which a comment can be found and renewed."""
    groups = list(_groups(shown))
    total = sum(len(group) for group in groups)
    parts = [f"<!-- keel {_word(shown.command)} -->\n", f"### keel {_code(text.verdict(shown))}\n"]
    if groups:
        parts.append(_table(groups))
    left = MAX_CHARACTERS - _ROOM_FOR_NOTICE - sum(map(len, parts))
    blocks = [*_details(groups, shown, is_open=total <= _OPEN_UNTIL), *_others(shown)]
    share = _share([sum(map(len, map(escape, lines))) + len(lines) + _AROUND for _, lines, _ in blocks], left)
    cut = 0
    for title, lines, is_open in blocks:
        block, was_cut = _block(title, lines, share, is_open=is_open)
        parts.append(block)
        cut += was_cut
    if cut:
        parts.append(_notice(cut, shown))
    return "\n".join(part for part in parts if part)


def _share(sizes: list[int], room: int) -> int:
    """Return how much each list may take, so that a long one never hides the others and no room is left unused."""
    for number, size in enumerate(sorted(sizes)):
        if size > room // (len(sizes) - number):
            return room // (len(sizes) - number)
        room -= size
    return MAX_CHARACTERS


def _groups(shown: Presentation) -> Iterator[list[Finding]]:
    """Yield the findings by code: errors before warnings, of one severity the largest group first."""

    def kind(item: Finding) -> tuple[int, str]:
        return item.severity.rank, item.code

    visible = [item for item in shown.report.findings if shown.verbose or item.severity is not Severity.INFO]
    ordered = sorted(worst_first(visible), key=kind)
    groups = [list(members) for _, members in groupby(ordered, key=kind)]
    yield from sorted(groups, key=lambda group: (group[0].severity.rank, -len(group), group[0].code))


def _table(groups: Iterable[list[Finding]]) -> str:
    rows = [f"| {len(group):,} | {group[0].severity.value} | `{_word(group[0].code)}` |\n" for group in groups]
    return "".join(["| count | severity | code |\n", "|--:|---|---|\n", *rows])


Block = tuple[str, list[str], bool]
"""(title, lines of a code block, whether it is open)"""


def _details(groups: Iterable[list[Finding]], shown: Presentation, *, is_open: bool) -> Iterator[Block]:
    for group in groups:
        first = group[0]
        said, rest = _once(group)
        only = Presentation(Report.of(_from_top(item, shown.prefix) for item in rest), shown.command, verbose=True)
        body = [*said, *("".join(part for part, _ in line) for line in text.lines(only))][:-1]
        title = f"{first.severity.value}: <code>{_word(first.code)}</code> ({len(group):,})"
        yield title, body, is_open


def _once(group: list[Finding]) -> tuple[list[str], list[Finding]]:
    """Take out the reason and the next step that all findings of a list share, to be said at its top."""
    if len(group) == 1:
        return [], group
    whys, steps = {item.why for item in group}, {item.next for item in group}
    why, step = (next(iter(words)) if len(words) == 1 else "" for words in (whys, steps))
    said = [line for line in (why, f"next: {step}" if step else "") if line]
    rest = [replace(item, why="" if why else item.why, next="" if step else item.next) for item in group]
    return [*said, ""] if said else [], rest


def _from_top(item: Finding, prefix: str) -> Finding:
    """Return a finding whose path counts from the top of the repository, as a reviewer sees it."""
    at = item.location
    return replace(item, location=replace(at, file=in_repository(at.file, prefix))) if at.file else item


def _others(shown: Presentation) -> Iterator[Block]:
    if shown.report.not_checked:
        only = Presentation(Report.of((), shown.report.not_checked), shown.command)
        body = ["".join(part for part, _ in line) for line in text.lines(only)][:-1]
        yield f"not checked ({len(shown.report.not_checked):,})", body, True
    if shown.lines:
        yield f"{_word(shown.command)} ({plural(len(shown.lines), 'line')})", list(shown.lines), False
    if shown.hints:
        yield "next", list(shown.hints), True


def _block(title: str, lines: list[str], room: int, *, is_open: bool) -> tuple[str, bool]:
    """Return a folded code block of at most `room` characters, and whether lines were left out."""
    safe = [escape(line) for line in lines]
    while safe and not safe[-1]:
        safe.pop()
    fence = "`" * (max((len(run) for line in safe for run in re.findall("`+", line)), default=2) + 1)
    fence = fence if len(fence) > 3 else "```"
    head = f"<details{' open' if is_open else ''}><summary>{title}</summary>\n\n{fence}text\n"
    tail = f"{fence}\n\n</details>\n"
    kept: list[str] = []
    left = room - len(head) - len(tail)
    for line in safe:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(f"{line}\n")
    if not kept and safe:
        return "", True
    return f"{head}{''.join(kept)}{tail}", len(kept) < len(safe)


def _notice(lists: int, shown: Presentation) -> str:
    what = f"{plural(lists, 'list')} {'is' if lists == 1 else 'are'} shortened"
    return f"**Cut at {MAX_CHARACTERS:,} characters**: {what}. `keel {_word(shown.command)}` prints everything.\n"


def _word(word: str) -> str:
    """Return a code or a command name, which is made of letters, digits and dashes, and of nothing else here."""
    return re.sub(r"[^A-Za-z0-9 -]", "?", word)


def _code(line: str) -> str:
    """Return one line as a code span (CommonMark 6.1)."""
    safe = escape(line)
    fence = "`" * (max((len(run) for run in re.findall("`+", safe)), default=0) + 1)
    pad = " " if safe[:1] == "`" or safe[-1:] == "`" else ""
    return f"{fence}{pad}{safe}{pad}{fence}"
