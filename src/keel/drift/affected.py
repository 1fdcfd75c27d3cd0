"""What a change means for the flows that use a tool, as the reports say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from keel.core.finding import PathStep
from keel.core.graph import Span
from keel.core.text import plural

_MOST_STEPS = 50
"""Places that one finding lists."""


@dataclass(frozen=True, slots=True)
class Affected:
    """One place of a flow that a change concerns."""

    flow: str
    site: str
    span: Span
    what: str
    """A clause such as "`search/query` now requires `tenant`"."""
    certain: bool = True
    """Whether the call or the read fails for sure; otherwise it could not be proved that it still works."""

    @property
    def verb(self) -> str:
        """What happens to the flow."""
        return "breaks" if self.certain else "may break"

    @property
    def sentence(self) -> str:
        """Return "`triage` breaks at flows/support.py:41: `search/query` now requires `tenant`"."""
        return f"`{self.flow}` {self.verb} at {self.span.file}:{self.span.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change means for the flows."""

    affected: tuple[Affected, ...] = ()
    """Those that break for sure first, then in the order of the files."""
    uses: tuple[str, ...] = ()
    """Every site that uses the tool."""
    holders: tuple[str, ...] = ()
    """Agents that hold the tool: what they will pass, nobody knows."""

    @property
    def sentence(self) -> str:
        """Return who is affected, in one clause."""
        held = f"; held by agent {', '.join(f'`{name}`' for name in self.holders)}" if self.holders else ""
        if not self.affected:
            return f"no site is affected{held}" if self.uses or not self.holders else held[2:]
        more = plural(len(self.affected) - 1, "more place")
        return f"{self.affected[0].sentence}{f', and {more}' if len(self.affected) > 1 else ''}{held}"

    @property
    def site(self) -> str:
        """Return the first affected site, else the first that uses the tool, else an empty string."""
        places = [item.site for item in self.affected[:1]] or self.uses
        return places[0] if places else ""

    @property
    def path(self) -> tuple[PathStep, ...]:
        """Return the places as a finding lists them."""
        return tuple(
            PathStep(item.span.file, item.span.line, f"`{item.flow}` {item.verb}: {item.what}")
            for item in self.affected[:_MOST_STEPS]
        )


class ImpactJudge(Protocol):
    """Judges changes of tools by the flows that use them; the run time compares without one."""

    def input(self, key: str) -> Impact:
        """Judge what flows pass to a tool whose input schema changed."""
        ...

    def output(self, key: str) -> Impact:
        """Judge what flows do with the results of a tool whose output schema changed."""
        ...

    def gone(self, *keys: str) -> Impact:
        """Judge the removal of tools."""
        ...

    def uses(self, key: str) -> Impact:
        """Name the uses of a tool of which something else changed than its schemas."""
        ...
