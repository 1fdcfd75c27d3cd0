"""What a run did, one entry for each step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from keel.core.text import excerpt
from keel.errors import ApprovalDenied, KeelError


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One step."""

    kind: str
    """`call`, `gate`, `think`, `agent` or `group`."""
    site: str
    """`flow@file:line:column`; empty where sites are not known."""
    name: str
    """Tool key; reasoner, agent or group; `human_gate`."""
    outcome: str
    """`ok`, or the code of what went wrong."""
    ms: float
    """Wall time in milliseconds, people's included."""
    label: str = ""
    """The step option `label`."""
    call_id: str = ""
    replayed: bool = False
    """Whether the result was recorded by an earlier attempt of the run."""

    def line(self) -> str:
        """Return one line for people."""
        notes = " (recorded)" if self.replayed else ""
        label = f" [{excerpt(self.label, 40)}]" if self.label else ""
        return f"{self.site or '-'} {self.kind} {excerpt(self.name)}{label}: {self.outcome}, {self.ms:.0f} ms{notes}"

    def value(self) -> dict[str, Any]:
        """Return the entry as JSON."""
        found: dict[str, Any] = {
            "kind": self.kind,
            "site": self.site,
            "name": self.name,
            "outcome": self.outcome,
            "ms": round(self.ms, 3),
        }
        for name in ("label", "call_id", "replayed"):
            if getattr(self, name):
                found[name] = getattr(self, name)
        return found


@dataclass
class Noted:
    """What a step says of itself while it runs."""

    outcome: str = "ok"
    call_id: str = ""
    replayed: bool = False


@dataclass
class Trace:
    """Collects the entries of a run in the order in which the steps ended."""

    listener: Callable[[TraceEntry], None] | None = None
    """Told of each entry as it comes."""
    entries: list[TraceEntry] = field(default_factory=list)

    @contextmanager
    def step(self, kind: str, site: str, name: str, label: str = "") -> Iterator[Noted]:
        """Time one step; an exception is its outcome."""
        noted, begun = Noted(), time.perf_counter()
        try:
            yield noted
        except ApprovalDenied:
            noted.outcome = "denied"
            raise
        except KeelError as error:
            noted.outcome = error.code
            raise
        except BaseException as error:
            noted.outcome = "cancelled" if type(error).__name__ == "CancelledError" else type(error).__name__
            raise
        finally:
            ms = (time.perf_counter() - begun) * 1000
            entry = TraceEntry(kind, site, name, noted.outcome, ms, label, noted.call_id, noted.replayed)
            self.entries.append(entry)
            if self.listener is not None:
                self.listener(entry)
