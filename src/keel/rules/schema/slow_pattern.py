"""Patterns that a backtracking engine takes exponential or high polynomial time for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.interface import Precision, Rule, RuleContext, Severity, ToolView
from keel.rules.lazy import lazy
from keel.rules.schema.shared import schema_meta
from keel.rules.view import Sign

_UNBOUNDED = lazy(r"[*+]|\{[0-9]{1,6},\}")
_ATOM = lazy(
    r"\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<\w{1,40}>))?|\)|\||[*+?]\??|\{[0-9,]{1,13}\}\??|.", re.DOTALL
)


class SlowPattern(Rule):
    """Finds an unbounded repetition inside an unbounded repetition, and repeated alternatives that can match alike."""

    meta = schema_meta(
        "slow-pattern",
        "a pattern may take exponential time",
        "Validators that backtrack stall on a hostile value: the server's own, the client's, and everyone's between.",
        '{"type": "string", "pattern": "^(a+)+$"}',
        severity=Severity.WARNING,
        precision=Precision.HEURISTIC,
        next="repeat one character class instead of a group that repeats, or bound the inner repetition",
    )

    needs = Sign.PATTERN.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each pattern."""
        for text in tool.texts if "pattern" in tool.whole else ():
            if text.pointer.endswith("/pattern") and is_slow(text.raw):
                message = f"the pattern `{excerpt(text.raw)}` repeats a group that already repeats"
                yield self.finding(tool, text.pointer, message)


def is_slow(pattern: str) -> bool:
    """Tell whether a group that can itself be repeated in many ways is repeated without bound; one pass, no parser."""
    atoms = _ATOM.findall(pattern)
    groups: list[tuple[bool, bool]] = [(False, False)]
    for index, atom in enumerate(atoms):
        following = atoms[index + 1] if index + 1 < len(atoms) else ""
        loops = _UNBOUNDED.match(following) is not None
        if atom.startswith("("):
            groups.append((False, False))
        elif atom == ")":
            ambiguous = groups.pop() if len(groups) > 1 else (False, False)
            if loops and any(ambiguous):
                return True
            groups[-1] = (groups[-1][0] or ambiguous[0] or ambiguous[1], groups[-1][1])
        elif loops and _runs_on(atoms, index):
            groups[-1] = (True, groups[-1][1])
    return False


_NEIGHBOURS = 64
"""How many atoms of a group are looked at on each side of a repetition; keeps the pass linear."""


def _runs_on(atoms: list[str], index: int) -> bool:
    """Tell whether nothing in the group separates one repetition of an atom from the next round of the group."""
    before: list[str] = []
    for at in range(index - 1, max(-1, index - _NEIGHBOURS), -1):
        if atoms[at].startswith("("):
            break
        before.insert(0, atoms[at])
    after: list[str] = []
    for at in range(index + 2, min(len(atoms), index + _NEIGHBOURS)):
        if atoms[at] in (")", "|"):
            break
        after.append(atoms[at])
    anchors = ("^", "$")
    sides = ([atom for atom in side if atom not in anchors] for side in (before, after))
    return not any(_separates(side, atoms[index]) for side in sides)


def _separates(parts: list[str], atom: str) -> bool:
    """Tell whether some mandatory literal in the parts cannot be matched by the repeated atom."""
    for index, part in enumerate(parts):
        following = parts[index + 1] if index + 1 < len(parts) else ""
        optional = following[:1] in ("*", "?") or following.startswith("{0")
        mandatory = not optional and part[:1] not in ("*", "+", "?", "{", "(", ")")
        if mandatory and part != atom and atom not in (".", r"\S", r"\s") and not _accepts(atom, part):
            return True
    return False


def _accepts(atom: str, part: str) -> bool:
    """Tell whether a class may match the text of a literal; unknown is yes."""
    literal = part[1:] if part.startswith("\\") and not part[1:2].isalnum() else part
    if len(literal) != 1:
        return True
    try:
        return re.fullmatch(atom, literal) is not None
    except re.error:
        return True
