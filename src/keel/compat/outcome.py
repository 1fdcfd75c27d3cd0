"""The three answers to "is there an instance": none, this one, or not known, and what the family solvers may ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from keel.compat.interface import Json
from keel.compat.membership import Budget
from keel.compat.nodes import Arena, Lit, Node


class Status(Enum):
    """What is known of a set of instances."""

    EMPTY = "empty"
    FOUND = "found"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A status, with an instance when found, and possibly with a candidate when unknown."""

    status: Status
    values: tuple[Json, ...] = ()
    """None or one value."""

    @property
    def empty(self) -> bool:
        """Whether the set is proved empty."""
        return self.status is Status.EMPTY

    @property
    def found(self) -> bool:
        """Whether an instance is known."""
        return self.status is Status.FOUND


EMPTY = Outcome(Status.EMPTY)
UNKNOWN = Outcome(Status.UNKNOWN)


def found(value: Json, *, sure: bool = True) -> Outcome:
    """An instance, or only a candidate when something in its making was not decided."""
    return Outcome(Status.FOUND if sure else Status.UNKNOWN, (value,))


Atoms = list[tuple[Node, bool]]
"""Assertions of one type with their signs, in a fixed order."""


class Asking(Protocol):
    """The part of the solver that the array and object families use for the values inside."""

    arena: Arena
    budget: Budget

    def sat(self, goal: Iterable[Lit]) -> Outcome:
        """Whether some value satisfies all literals."""
        ...

    def holds(self, literal: Lit, value: Json) -> bool | None:
        """Whether this value satisfies the literal."""
        ...
