"""Random histories of one SQLite ledger, opened anew at any time, against a model that fits on a page."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.fakes.ports import FixedClock
from tests.unit.store.test_ledger import approved, gate

from keel.errors import KeelError
from keel.runtime.model import Admission, Decision, GateUse, Operation, OperationState
from keel.store.ledger_sqlite import SqliteLedger

LEASE = 10.0
KEYS = st.sampled_from(["a", "b", "c"])
TENANTS = st.sampled_from(["acme", "other"])
ENDS = st.sampled_from([state for state in OperationState if state not in ("reserved", "executing")])


@dataclass
class Model:
    """What is known of one operation."""

    state: str = ""
    attempt: int = 0
    until: float = 0.0
    repeatable: bool = True
    sent: int = 0
    """How often it was sent since the last time that it was known not to have happened."""


def code_of(doing: Coroutine[Any, Any, object]) -> str:
    """Return the code of the error that something ends in, or an empty text."""
    try:
        asyncio.run(doing)
    except KeelError as error:
        return error.code
    return ""


class Machine(RuleBasedStateMachine):
    """Whatever happens, ledger and model agree, and nothing unrepeatable is sent twice without knowing better."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = FixedClock()
        self.ledger = self.opened()
        self.models: dict[tuple[str, str], Model] = {}
        self.uses: dict[str, str] = {}
        self.gates = {
            tenant: approved(self.ledger, gate(tenant=tenant, subject="s", run_id="r")) for tenant in ("acme", "other")
        }

    def opened(self) -> SqliteLedger:
        return SqliteLedger.open(Path(self.folder.name) / "state.sqlite", self.clock)

    def teardown(self) -> None:
        self.ledger.close()
        self.folder.cleanup()

    def model(self, tenant: str, key: str) -> Model:
        return self.models.setdefault((tenant, key), Model())

    @rule(tenant=TENANTS, key=KEYS, repeatable=st.booleans(), place=st.sampled_from(["", "s1", "s2"]))
    def admit(self, tenant: str, key: str, repeatable: bool, place: str) -> None:
        given = asyncio.run(
            self.ledger.admit(
                Admission(
                    key=f"{tenant}-{key}", call_id=key, tool="t", definition="d", arguments_digest=key, tenant=tenant,
                    subject="s", run_id="r", repeatable=repeatable, lease_s=LEASE,
                    gate_use=GateUse(approval_id=self.gates[tenant], use=place) if place else None,
                )
            )
        )  # fmt: skip
        expected = self.expected(tenant, key, repeatable, place)
        assert given.decision is expected, (given, self.models)

    def expected(self, tenant: str, key: str, repeatable: bool, place: str) -> Decision:
        """Return what must be decided, and let the model follow."""
        model, now = self.model(tenant, key), self.clock.now()
        late = now >= model.until
        if model.state in ("succeeded", "rejected", "reconciled_succeeded"):
            return Decision.RECORDED
        if model.state in ("reserved", "executing") and not late:
            return Decision.IN_PROGRESS
        may_repeat = model.repeatable and repeatable
        if model.state in ("executing", "outcome_unknown") and not may_repeat:
            model.state = "outcome_unknown"
            return Decision.OUTCOME_UNKNOWN
        if place and self.uses.setdefault(f"{tenant} {place}", key) != key:
            return Decision.APPROVAL_USED
        self.models[tenant, key] = Model(
            "reserved", model.attempt + 1, now + LEASE, may_repeat if model.attempt else repeatable, model.sent
        )
        return Decision.ADMITTED

    @rule(tenant=TENANTS, key=KEYS, behind=st.integers(0, 1))
    def executing(self, tenant: str, key: str, behind: int) -> None:
        model = self.model(tenant, key)
        allowed = model.state == "reserved" and behind == 0
        refused = code_of(self.ledger.executing(f"{tenant}-{key}", attempt=model.attempt - behind))
        assert refused == ("" if allowed else "operation-state")
        if allowed:
            model.state, model.until, model.sent = "executing", self.clock.now() + LEASE, model.sent + 1

    @rule(tenant=TENANTS, key=KEYS, state=ENDS)
    def settle(self, tenant: str, key: str, state: OperationState) -> None:
        model = self.model(tenant, key)
        allowed = {
            "reserved": ("failed_safe_to_retry",),
            "executing": ("succeeded", "rejected", "failed_safe_to_retry", "outcome_unknown"),
            "outcome_unknown": ("succeeded", "rejected", "reconciled_succeeded", "reconciled_not_applied"),
        }.get(model.state, ())
        refused = code_of(self.ledger.settle(f"{tenant}-{key}", state, attempt=model.attempt))
        assert refused == ("" if state in (*allowed, model.state) else "operation-state")
        if not refused:
            if state in ("failed_safe_to_retry", "reconciled_not_applied") and model.state != state:
                model.sent = 0
            model.state = str(state)

    @rule(seconds=st.sampled_from([1.0, 9.0, 11.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule()
    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = self.opened()

    @rule()
    def list_unknown(self) -> None:
        for model in self.models.values():
            if model.state == "executing" and self.clock.now() >= model.until:
                model.state = "outcome_unknown"
        listed = {item.key for item in asyncio.run(self.ledger.unknown())}
        assert listed == {f"{tenant}-{key}" for (tenant, key), model in self.models.items() if model.state == "outcome_unknown"}  # fmt: skip

    @invariant()
    def agree(self) -> None:
        for (tenant, key), model in self.models.items():
            found = asyncio.run(self.ledger.recorded(key, tenant=tenant, subject="s"))
            assert (model.state == "") == (found is None)
            if isinstance(found, Operation):
                assert (found.state, found.attempt, found.tenant) == (model.state, model.attempt, tenant)

    @invariant()
    def nothing_unrepeatable_is_sent_twice(self) -> None:
        assert all(model.sent <= 1 or model.repeatable for model in self.models.values()), self.models


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=min(settings().max_examples, 1000))
