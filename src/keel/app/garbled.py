"""Tools that a surface names and garbles: left out when it was read, so neither changed nor gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from keel.core.codes import Severity
from keel.core.finding import Finding, NotChecked
from keel.core.model import Surface
from keel.core.text import escape


def garbled(findings: Iterable[Finding]) -> frozenset[str]:
    """Return the names, escaped, of the tools that reading a surface left out.

    Args:
        findings: what reading it had to say.
    """
    return frozenset(item.location.key.partition("/")[2] for item in _errors(findings)) - {""}


def without(surface: Surface, names: Collection[str]) -> Surface:
    """Return a surface less the tools of these escaped names."""
    return replace(surface, tools=tuple(tool for tool in surface.tools if escape(tool["name"]) not in names))


def unread(where: str, findings: Iterable[Finding], hint: str) -> Iterator[NotChecked]:
    """Yield what a surface garbles as what could not be checked.

    Args:
        where: the file or server that gave the surface.
        findings: what reading it had to say.
        hint: what to do next.
    """
    places = {item.location.key.partition("/")[2] or item.location.pointer or "/" for item in _errors(findings)}
    for place in sorted(places):
        why = "it cannot be read soundly, so it was compared with nothing"
        yield NotChecked(f"{where} {place}", "schema-not-judged", why, hint)


def _errors(findings: Iterable[Finding]) -> Iterator[Finding]:
    return (item for item in findings if item.severity is Severity.ERROR)
