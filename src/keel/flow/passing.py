"""Arguments of a call: how they were passed, and which parameter each of them reaches."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from keel.flow.values import AV, Const, Items, Table


@dataclass(frozen=True, slots=True, eq=False)
class Passed:
    """One argument as passed."""

    value: AV
    name: str = ""
    """Keyword; empty for a positional argument."""
    text: str = ""
    star: str = ""
    """`*` or `**` for what is unpacked and not known."""


def spread(passed: list[Passed]) -> list[Passed]:
    """Replace unpacked containers whose content is known by their content."""
    found: list[Passed] = []
    for item in passed:
        static = item.value.static
        if item.star == "*" and isinstance(static, Items) and static.exact:
            found.extend(Passed(element, "", item.text) for element in static.elements)
        elif item.star == "**" and isinstance(static, Table) and static.exact:
            found.extend(Passed(member, name, item.text) for name, member in static.members.items())
        else:
            found.append(item)
    return found


@dataclass(slots=True)
class Bound:
    """Arguments by parameter."""

    by_name: dict[str, AV]
    rest: list[AV]
    """Positional arguments that no parameter takes."""
    words: dict[str, AV]
    """Keywords that no parameter takes."""
    unknown: list[AV]
    """Unpacked values whose content is not known."""


def bind(args: ast.arguments, passed: list[Passed]) -> Bound:
    """Match arguments with parameters as a call would (Python reference 6.3.4)."""
    positional = [item.arg for item in (*args.posonlyargs, *args.args)]
    by_word = {item.arg for item in (*args.args, *args.kwonlyargs)}
    bound = Bound({}, [], {}, [])
    count = 0
    for item in spread(passed):
        if item.star:
            bound.unknown.append(item.value)
        elif item.name:
            target = bound.by_name if item.name in by_word else bound.words
            target[item.name] = item.value
        elif bound.unknown:
            bound.unknown.append(item.value)
        elif count < len(positional):
            bound.by_name[positional[count]] = item.value
            count += 1
        else:
            bound.rest.append(item.value)
    return bound


def argument(passed: list[Passed], index: int, name: str) -> Passed | None:
    """Return the argument passed at a position or under a name."""
    for item in passed:
        if item.name == name and not item.star:
            return item
    positional = [item for item in passed if not item.name and not item.star]
    return positional[index] if index < len(positional) else None


def constant(item: Passed | None) -> tuple[bool, object]:
    """Return whether an argument is a constant, and the constant."""
    if item is not None and isinstance(item.value.static, Const):
        return True, item.value.static.value
    return False, None
