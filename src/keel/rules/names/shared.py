"""What the name rules share: what a name looks like, and tables over all names of a surface."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise

from keel.core.naming import NAME_RULES, exposed_name
from keel.rules.interface import RuleContext, ToolView
from keel.rules.lazy import lazy
from keel.rules.unicode.properties import script, skeleton

REFERENCES = ("OWASP MCP03:2025 Tool Poisoning", "SAFE-T1301 Cross-Server Tool Shadowing", "UTS 39")
_SEPARATORS = lazy(r"[\s_.\-:/]+")
_LOOKS = str.maketrans("10|5$", "lolss")
_ALLOWED_MIXES = (
    frozenset({"Latin", "Han", "Hiragana", "Katakana"}),
    frozenset({"Latin", "Han", "Bopomofo"}),
    frozenset({"Latin", "Han", "Hangul"}),
)
"""UTS 39 section 5.2, Highly Restrictive."""


def look(name: str) -> str:
    """Return what a name looks like in a hurry: its skeleton without case and separators, 1=l, 0=o, 5=s, rn=m, vv=w."""
    text = _SEPARATORS.sub("", skeleton(name)).lower()
    return text.replace("rn", "m").replace("vv", "w").translate(_LOOKS)


def scripts(name: str) -> frozenset[str]:
    """Return the scripts of the letters of a name."""
    return frozenset(found for found in map(script, name) if found)


def mixes_scripts(name: str) -> bool:
    """Tell whether one identifier mixes scripts that no orthography mixes."""
    found = scripts(name)
    return len(found) > 1 and not any(found <= allowed for allowed in _ALLOWED_MIXES)


def spellings(server: str, name: str, targets: tuple[str, ...]) -> tuple[str, ...]:
    """Return every form in which a name is compared: case-folded, and as each declared target will expose it."""
    forms = {name.casefold()}
    forms.update(exposed_name(server, name, target).casefold() for target in targets if target in NAME_RULES)
    return tuple(sorted(forms))


def grouped(context: RuleContext, rule: str, form: Callable[[ToolView], tuple[str, ...]]) -> dict[str, list[ToolView]]:
    """Return the tools of a surface by a form of their names, built once per surface."""
    table = context.index.get(rule)
    if table is None:
        table = defaultdict(list)
        for tool in context.tools:
            if tool.name:
                for spelling in form(tool):
                    table[spelling].append(tool)
        context.index[rule] = table
    return table


def one_letter_apart(one: str, two: str) -> bool:
    """Tell whether one letter added, left out, replaced or swapped with its neighbour makes one text the other."""
    if len(one) == len(two):
        return sum(a != b for a, b in zip(one, two, strict=True)) == 1 or _swapped(one, two)
    short, long = sorted((one, two), key=len)
    return len(long) - len(short) == 1 and any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _swapped(one: str, two: str) -> bool:
    differ = [at for at, (a, b) in enumerate(zip(one, two, strict=True)) if a != b]
    return len(differ) == 2 and any(one[a] == two[b] and one[b] == two[a] for a, b in pairwise(differ) if b == a + 1)
