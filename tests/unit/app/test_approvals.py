"""Open questions as `keel approve` lists them: no argument's name passes for another argument's value."""

from __future__ import annotations

from keel.app.approvals import _shown
from keel.runtime.model import ApprovalRecord, ApprovalRequest


def test_a_name_that_forges_a_value_is_quoted() -> None:
    arguments = {"amount": 5000, 'amount = 5\n  "x': True, "to-whom.id": "ann\n  amount = 5", "\u202eemit": 1}
    request = ApprovalRequest(tenant="t", subject="s", tool="w/pay", show={"tool": "w/pay", "arguments": arguments})
    assert _shown(ApprovalRecord(id="i", request=request)) == [
        "amount = 5000",
        '"amount = 5\\n  \\"x" = true',
        'to-whom.id = "ann\\n  amount = 5"',
        '"\\u202eemit" = 1',
    ]
