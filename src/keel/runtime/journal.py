"""The bookkeeping of a run's steps: which durable unit each step is, so that a run that starts again finds it again.

A step is known by the run, its site, the digest of its input and an occurrence: how many steps of the same site and
input have completed, or are under way, before it. A step that failed gives its occurrence back: the same call made
again, by `retries`, by a loop of the flow or by a restart, is the same operation. Whoever runs flows on a durable
engine puts its own `Journal` here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

from keel.core.digest import digest
from keel.core.model import Json


@dataclass(frozen=True, slots=True)
class Unit:
    """One durable unit of a run."""

    id: str
    """The same whenever the run comes to the same step again; a tool call's id."""
    occurrence: int


class Journal(Protocol):
    """Names the durable units of one run."""

    def unit(self, site: str, what: Json) -> AbstractContextManager[Unit]:
        """Enter a step; the manager gives its `Unit` and learns by an exception that it failed.

        Args:
            site: where the step is made.
            what: what tells steps of one site apart: key and arguments, prompt and data.
        """
        ...


@dataclass
class RunJournal:
    """The journal of one process: occurrences are counted in memory and come out the same when the run starts again."""

    run_id: str
    _taken: dict[str, set[int]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def unit(self, site: str, what: Json) -> Iterator[Unit]:
        """Enter a step with the lowest free occurrence of its site and input."""
        base = digest([self.run_id, site, what])
        with self._lock:
            taken = self._taken.setdefault(base, set())
            occurrence = next(number for number in range(len(taken) + 1) if number not in taken)
            taken.add(occurrence)
        try:
            yield Unit(f"{base}:{occurrence}", occurrence)
        except BaseException:
            with self._lock:
                taken.discard(occurrence)
            raise
