"""The gates that judge flows, by name, and the one function that runs them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from keel.core.finding import Finding
from keel.core.graph import Cover
from keel.gates import approval, capability, race, validate
from keel.gates.interface import GateContext

GATES: tuple[tuple[str, Callable[[GateContext], Iterator[Finding]]], ...] = (
    ("approval", approval.check),
    ("capability", capability.check),
    ("race", race.check),
    ("validate", validate.check),
)
"""Sorted by name; the freeze gate looks at the lock alone and is called by whoever read it."""


def run_gates(context: GateContext) -> tuple[Finding, ...]:
    """Run every gate over a program; findings of the reader come first among equals.

    Helpers are judged once for each flow that calls them; what is the same finding at the same place is kept once.
    """
    found: list[Finding] = list(context.program.findings)
    for _, gate in GATES:
        found.extend(gate(context))
    return distinct(found)


def distinct(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Keep one finding for each code, place and tool, in report order."""
    kept: dict[tuple[object, ...], Finding] = {}
    for item in sorted(found, key=lambda item: item.sort_key):
        at = item.location
        words = item.message if item.code in _BY_MESSAGE or not at.line else ""
        kept.setdefault((item.code, at.file, at.line, at.column, at.key, words), item)
    return tuple(kept.values())


_BY_MESSAGE = frozenset(
    {
        "approval-unseen-argument",
        "invalid-argument",
        "missing-argument",
        "unknown-argument",
        "dynamic-tool",
        "unresolved-name",
        "invalid-option",
    }
)
"""Codes of which one place may have several findings."""


def covering(context: GateContext) -> tuple[Cover, ...]:
    """Return which gate covers which sites and arguments, for the bundle."""
    return approval.covers(context)
