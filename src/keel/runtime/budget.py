"""What one run has used up of what the manifest allows it."""

from __future__ import annotations

from threading import Lock

from keel.core.model import Budget, FrozenTool
from keel.runtime.bundle import Bundle
from keel.runtime.ports import Clock


class BudgetError(Exception):
    """The run, or a tool within it, has used up its budget; says which part and how much it was."""

    def __init__(self, limit: str, allowed: float, message: str) -> None:
        super().__init__(message)
        self.limit = limit
        """`max_calls`, `tokens`, `cost_usd` or `wall_seconds`."""
        self.allowed = allowed


class RunState:
    """The counters of one run; safe for any number of concurrent calls, from threads too.

    Args:
        bundle: whose manifest bounds the run.
        clock: measures the run's time, which begins now.
        run_id: names the run.
        referenced: keys that the started flow may call, which preflight judges strictly; None for all that are
            admitted.
    """

    def __init__(
        self, bundle: Bundle, clock: Clock, *, run_id: str = "", referenced: frozenset[str] | None = None
    ) -> None:
        self.run_id = run_id
        self.referenced = referenced
        self.calls: dict[str, int] = {}
        """Tool key to how many operations were begun; a retry of one counts nothing more."""
        self.fresh: dict[str, FrozenTool] = {}
        """Definitions that were frozen for this run alone, by key (`freeze-timing = "per_run"`)."""
        self.tokens = 0
        self.cost_usd = 0.0
        self._budget = bundle.manifest.budget or Budget()
        self._clock = clock
        self._began = clock.monotonic()
        self._counted: dict[str, str] = {}
        self._lock = Lock()

    def remaining_s(self) -> float | None:
        """Return the seconds that are left of `wall_seconds`; None for any number."""
        if self._budget.wall_seconds is None:
            return None
        return self._budget.wall_seconds - (self._clock.monotonic() - self._began)

    def charge(self, tokens: int = 0, cost_usd: float = 0.0) -> None:
        """Add what a model used; what exceeds the budget is refused at the next call.

        Args:
            tokens: tokens read and written.
            cost_usd: US dollars.
        """
        with self._lock:
            self.tokens += tokens
            self.cost_usd += cost_usd

    def check(self) -> None:
        """Refuse if tokens, cost or time are used up.

        Raises:
            BudgetError: naming the first limit that is reached.
        """
        remaining = self.remaining_s()
        used = (
            ("tokens", self._budget.tokens, self.tokens),
            ("cost_usd", self._budget.cost_usd, self.cost_usd),
        )
        for name, allowed, spent in used:
            if allowed is not None and spent >= allowed:
                raise BudgetError(name, allowed, f"the run has used {spent:g} of {allowed:g} `{name}`")
        if remaining is not None and remaining <= 0:
            allowed = self._budget.wall_seconds or 0
            raise BudgetError("wall_seconds", allowed, f"the run has taken its {allowed:g} `wall_seconds`")

    def begin(self, tool: str, operation: str, max_calls: int | None) -> bool:
        """Count an operation before anything of it happens.

        Args:
            tool: tool key.
            operation: its idempotency key; one that was counted already is a retry.
            max_calls: what the tool's grant allows in one run.

        Returns:
            Whether it was counted now, so that `forget` may take it back.

        Raises:
            BudgetError: if the run or the tool has used up its budget; nothing is counted then.
        """
        self.check()
        with self._lock:
            if operation in self._counted:
                return False
            before = self.calls.get(tool, 0)
            if max_calls is not None and before >= max_calls:
                raise BudgetError("max_calls", max_calls, f"`{tool}` has been called {before} times in this run")
            self.calls[tool] = before + 1
            self._counted[operation] = tool
            return True

    def forget(self, operation: str) -> None:
        """Take back an operation of which nothing happened."""
        with self._lock:
            tool = self._counted.pop(operation, None)
            if tool is not None:
                self.calls[tool] -= 1
