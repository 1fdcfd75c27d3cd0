"""What the passed gates of a run admit: which calls, once or once for each element that was shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from keel.core.text import excerpt
from keel.errors import ToolCallError
from keel.runtime.model import ErrorCode, GateUse
from keel.runtime.plan import Plan, Planned
from keel.runtime.shown import Shown
from keel.runtime.sites import Origin


@dataclass
class GateGrant:
    """One gate that a person let pass."""

    approval_id: str
    gate: str
    """`file:line:column` of the gate."""
    shown: Shown
    uses: dict[str, str] = field(default_factory=dict)
    """Use to the durable unit that has it."""

    def take(self, base: str, unit: str, times: int) -> str | None:
        """Return a use for a unit: the one it has already, else a free one, else None."""
        for number in range(times):
            use = base if number == 0 else f"{base}#{number}"
            if self.uses.setdefault(use, unit) == unit:
                return use
        return None


@dataclass
class GateGrants:
    """The passed gates of one flow, newest last."""

    plan: Plan | None
    """None where no graph says what covers what; any passed gate admits one call for each question then."""
    _grants: list[GateGrant] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def add(self, grant: GateGrant) -> None:
        """Add a passed gate; one that a restarted run passes again keeps its uses."""
        with self._lock:
            known = next((item for item in self._grants if item.approval_id == grant.approval_id), None)
            if known is not None:
                grant.uses = known.uses
            self._grants.append(grant)

    def use(
        self,
        key: str,
        planned: Planned | None,
        origin: Origin | None,
        values: Mapping[str, Any],
        arguments_digest: str,
        unit: str,
    ) -> GateUse:
        """Return the use of the newest passed gate that admits a call.

        Args:
            key: tool key.
            planned: the call in the graph.
            origin: where it is made.
            values: its arguments as Python values.
            arguments_digest: digest of its arguments as data.
            unit: its durable unit; a retry of the same unit has the same use.

        Raises:
            ToolCallError: `approval_required`, if no passed gate admits it.
        """
        changed = ""
        with self._lock:
            for grant in reversed(self._grants):
                base, times, wrong = self._judged(grant, planned, origin, values, arguments_digest)
                changed = changed or wrong
                found = grant.take(base, unit, times) if base and not wrong else None
                if found is not None:
                    return GateUse(approval_id=grant.approval_id, use=found)
        raise _refused(key, changed)

    def _judged(
        self,
        grant: GateGrant,
        planned: Planned | None,
        origin: Origin | None,
        values: Mapping[str, Any],
        arguments_digest: str,
    ) -> tuple[str, int, str]:
        """Return (what a use begins with, how often it may be had, an argument that was not shown)."""
        if self.plan is None or planned is None or origin is None:
            return arguments_digest, max(1, grant.shown.largest), ""
        covered = self.plan.shown(grant.gate, origin.place)
        if covered is None or grant.gate not in planned.covered_by:
            return "", 0, ""
        wrong = grant.shown.refused(origin, values, covered) or ""
        site = f"{self.plan.name}@{origin.place}"
        if self.plan.repeats(grant.gate, origin.place):
            return f"{site}#{arguments_digest}", max(1, grant.shown.largest), wrong
        return site, 1, wrong


def _refused(key: str, changed: str) -> ToolCallError:
    if changed:
        message = f"argument `{excerpt(changed)}` of `{excerpt(key)}` has a value that was not shown at the gate"
        hint = "ask again with the value that the call is to use"
    else:
        message = f"no approval that was given in this run admits this call of `{excerpt(key)}`"
        hint = "ask with `human_gate(…)` directly before it, or call it through `gated(…)`"
    return ToolCallError(message, code=ErrorCode.APPROVAL_REQUIRED.value, hint=hint)
