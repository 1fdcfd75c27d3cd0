"""What a schema comparison answers: the relation, both sides' verdicts, and the witnesses that prove a break."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A decoded JSON value: None, bool, int, float, str, list or dict with string keys."""


class Relation(StrEnum):
    """How the instances accepted by the new schema relate to those accepted by the old one."""

    EQUIVALENT = "equivalent"
    WIDENED = "widened"
    """Old strictly inside new."""
    NARROWED = "narrowed"
    """New strictly inside old."""
    INCOMPARABLE = "incomparable"
    UNDECIDED = "undecided"
    """At least one inclusion has neither a proof nor a witness."""


class Side(StrEnum):
    """The verdict for one direction of use."""

    COMPATIBLE = "compatible"
    BREAKING = "breaking"
    LATENT = "latent"
    """Breaks, but only through a property name that the open schema on the accepting side never declared."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Witness:
    """An instance accepted by one schema and refused by the other; it wraps the value so that `null` can be one."""

    value: Json


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of comparing an old schema with a new one."""

    relation: Relation
    input: Side
    """Breaking: some instance valid under old is invalid under new (a caller's argument is now refused)."""
    output: Side
    """Breaking: some instance valid under new is invalid under old (a consumer meets a value it never agreed to)."""
    witness_old_not_new: Witness | None
    witness_new_not_old: Witness | None
    pointer: str
    """RFC 6901 pointer to the keyword where the difference stands: in the new schema for an input break, in the old
    one for a break of the output alone, at the undecided keyword otherwise; empty for equivalent schemas."""
    reason: str
    """One sentence for people."""
