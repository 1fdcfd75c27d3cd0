"""The syntax of `volatile` masks: regular expressions without anything that makes matching more than linear."""

from __future__ import annotations

import re
import warnings

MAX_PATTERN = 256
"""Characters of a mask's expression."""

_GROUP_EXTENSION = re.compile(r"\(\?(?!:)")
_BACK_REFERENCE = re.compile(r"\\[1-9gk]")
_PIECE = re.compile(
    r"""
      \\.                                # an escape
    | \[\^?\]?(?:\\.|[^\]\\])*\]         # a class
    | \((?:\?:)? | \)                    # groups
    | (?:[*+?]|\{\d*,?\d*\})[?+]?        # quantifiers
    | .
    """,
    re.VERBOSE | re.DOTALL,
)


def mask_problem(pattern: str) -> str | None:
    """Say why a mask cannot be used, or None.

    A mask is applied to text that a server chose, so it may not take more than linear time: no look-around, no
    back-references, no conditionals or inline flags, and no repetition of something that itself repeats or branches.

    Args:
        pattern: the `match` of a `volatile` entry.
    """
    if not pattern:
        return "is empty"
    if len(pattern) > MAX_PATTERN:
        return f"is longer than {MAX_PATTERN} characters"
    pieces = [match.group() for match in _PIECE.finditer(pattern)]
    for piece in pieces:
        if _BACK_REFERENCE.match(piece):
            return f"uses `{piece}`, a back-reference"
    if any(piece == "(" and _GROUP_EXTENSION.match(rest) for piece, rest in _with_rest(pieces)):
        return "uses `(?…)`, which is not a regular expression of linear time"
    if _nested(pieces):
        return "repeats a group that itself repeats or branches"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a class that a later Python reads differently
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        return f"is not a regular expression: {error}"
    return None


def _with_rest(pieces: list[str]) -> list[tuple[str, str]]:
    return [(piece, "".join(pieces[index : index + 3])) for index, piece in enumerate(pieces)]


def _nested(pieces: list[str]) -> bool:
    """Tell whether a quantifier applies to a group that holds a quantifier or an alternative."""
    rich = [False]
    """For each open group, whether it repeats or branches inside."""
    closed: bool | None = None
    """Whether the group that ended just before was rich; None after anything else."""
    for piece in pieces:
        if piece in ("(", "(?:"):
            rich.append(False)
            closed = None
        elif piece == ")":
            closed = rich.pop() if len(rich) > 1 else None
            rich[-1] = rich[-1] or bool(closed)
        elif piece == "|" or _is_quantifier(piece):
            if closed and piece != "|":
                return True
            rich[-1] = True
            closed = None
        else:
            closed = None
    return False


def _is_quantifier(piece: str) -> bool:
    return piece[0] in "*+?" or (piece[0] == "{" and len(piece) > 1)
