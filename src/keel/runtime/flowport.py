"""The runtime that flows see: each step is bound to its place in the source, and runs in the loop of the run."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from keel.authoring.approval import Approval
from keel.authoring.port import AgentStep, GatedStep, GateStep, GroupStep, ThinkStep, ToolStep, inside_loop
from keel.runtime.calling import Calls, misplaced
from keel.runtime.gategrants import GateGrants
from keel.runtime.groups import close, run_group
from keel.runtime.humangates import asked
from keel.runtime.plan import Plan
from keel.runtime.session import Session
from keel.runtime.shown import Shown, look
from keel.runtime.sites import BRANCH, Caller, Origin, call_branch
from keel.runtime.threads import across, in_scope, wait_for


class FlowPort:
    """Executes the steps of one flow; an implementation of `keel.authoring.port.RuntimePort`."""

    def __init__(self, session: Session, plan: Plan | None) -> None:
        self.session = session
        self.plan = plan
        self.grants = GateGrants(plan)
        self.calls = Calls(session, plan, self.grants)

    # -- steps ----------------------------------------------------------------------------------

    def call_tool(self, step: ToolStep) -> Any:
        """Execute one tool call."""
        return self._step(self.called(step, self._origin()))

    def call_gated(self, step: GatedStep) -> Any:
        """Ask a person with the exact call, then execute it."""
        return self._step(self.called(step.call, self._origin(), gated=True, prompt=step.prompt or ""))

    def gate(self, step: GateStep) -> Any:
        """Ask a person."""
        caller = self._caller()
        origin = caller.origin if caller is not None else None
        return self._step(self._asked(step, origin, look(caller, step.prompt, step.show)))

    def group(self, step: GroupStep) -> Any:
        """Run branches side by side."""
        origin = self._origin()
        within = inside_loop()
        starts = [self._start(branch, origin, threaded=not within) for branch in step.branches]

        async def grouped() -> Any:
            try:
                with self.session.trace.step("group", self.site(origin), step.kind.value):
                    return await run_group(step, starts)
            finally:
                close(step.branches)

        # Branches are bound to the loop that the flow runs in, so the group is too.
        return grouped() if within else wait_for(grouped(), self.session.loop)

    def think(self, step: ThinkStep) -> Any:
        """Ask a model for one answer."""
        from keel.runtime.models import thought  # noqa: PLC0415 - few flows need it

        return self._step(thought(self, step, self._origin()))

    def run_agent(self, step: AgentStep) -> Any:
        """Run an agent to its final answer."""
        from keel.runtime.agents import run_agent  # noqa: PLC0415 - few flows need it

        return self._step(run_agent(self, step, self._origin()))

    # -- where and how --------------------------------------------------------------------------

    def _step(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        loop = self.session.loop
        if not inside_loop():
            return wait_for(coroutine, loop)
        return coroutine if asyncio.get_running_loop() is loop else across(coroutine, loop)

    def _caller(self) -> Caller | None:
        loaded = self.session.loaded
        return loaded.sites.caller() if loaded is not None else None

    def _origin(self) -> Origin | None:
        caller = self._caller()
        return caller.origin if caller is not None else None

    def site(self, origin: Origin | None) -> str:
        """Return `flow@file:line:column` of a step; empty where it is not known."""
        return f"{self.plan.name}@{origin.place}" if self.plan is not None and origin is not None else ""

    async def placed(self, kind: str, name: str, origin: Origin | None) -> None:
        """Refuse a step that the bundle's graph of the flow does not have.

        Raises:
            ToolCallError: `not_granted`, naming the site.
        """
        plan, site = self.plan, self.site(origin)
        if plan is not None and (origin is None or not plan.has(kind, origin.place, name)):
            error = misplaced(kind, name, site)
            await self.session.refused(kind, name, site, error)
            raise error

    def _start(self, branch: Any, origin: Origin | None, *, threaded: bool) -> Callable[[], Awaitable[Any]]:
        if inspect.isawaitable(branch):
            return lambda: branch

        async def start() -> Any:
            BRANCH.set(origin)
            if threaded:
                return await in_scope(lambda: call_branch(branch))
            value = call_branch(branch)
            return await value if inspect.isawaitable(value) else value

        return start

    async def called(self, step: ToolStep, origin: Origin | None, *, gated: bool = False, prompt: str = "") -> Any:
        """Make one tool call."""
        return await self.calls.called(step, origin, self.site(origin), gated=gated, prompt=prompt)

    async def _asked(self, step: GateStep, origin: Origin | None, shown: Shown) -> Approval:
        await self.placed("gate", "", origin)
        place = origin.place if origin is not None else ""
        return await asked(self.session, self.grants, step, place=place, site=self.site(origin), shown=shown)
