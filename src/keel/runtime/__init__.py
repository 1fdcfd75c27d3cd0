"""The run time: a bundle is opened, its servers are compared, and every call goes through one pipeline."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keel.runtime.approvers import Approver, CallbackApprover, StoreApprover, TerminalApprover
    from keel.runtime.budget import RunState
    from keel.runtime.bundle import Bundle
    from keel.runtime.checked import PreflightReport
    from keel.runtime.comparing import Preflight, preflight
    from keel.runtime.dispatch import Dispatcher
    from keel.runtime.flowrun import RunError, RunOutcome, run
    from keel.runtime.limits import Limits
    from keel.runtime.loading import Loaded, load
    from keel.runtime.model import (
        ApprovalRecord,
        ApprovalRequest,
        ErrorCode,
        GateUse,
        Observation,
        ToolCall,
        ToolError,
        ToolResult,
        TrustedContext,
    )
    from keel.runtime.models import FakeModels
    from keel.runtime.native import InProcessTools
    from keel.runtime.ports import (
        ApprovalStore,
        AuditLog,
        Clock,
        Ledger,
        Models,
        NativeTools,
        Policy,
        PolicyRuling,
        Ruling,
        Upstream,
    )

_HOMES = {
    "approvers": ("Approver", "CallbackApprover", "StoreApprover", "TerminalApprover"),
    "budget": ("RunState",),
    "bundle": ("Bundle",),
    "checked": ("PreflightReport",),
    "comparing": ("Preflight", "preflight"),
    "dispatch": ("Dispatcher",),
    "flowrun": ("RunError", "RunOutcome", "run"),
    "limits": ("Limits",),
    "loading": ("Loaded", "load"),
    "model": (
        *("ApprovalRecord", "ApprovalRequest", "ErrorCode", "GateUse", "Observation"),
        *("ToolCall", "ToolError", "ToolResult", "TrustedContext"),
    ),
    "models": ("FakeModels",),
    "native": ("InProcessTools",),
    "ports": (
        *("ApprovalStore", "AuditLog", "Clock", "Ledger", "Models", "NativeTools"),
        *("Policy", "PolicyRuling", "Ruling", "Upstream"),
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ApprovalRecord",
    "ApprovalRequest",
    "ApprovalStore",
    "Approver",
    "AuditLog",
    "Bundle",
    "CallbackApprover",
    "Clock",
    "Dispatcher",
    "ErrorCode",
    "FakeModels",
    "GateUse",
    "InProcessTools",
    "Ledger",
    "Limits",
    "Loaded",
    "Models",
    "NativeTools",
    "Observation",
    "Policy",
    "PolicyRuling",
    "Preflight",
    "PreflightReport",
    "Ruling",
    "RunError",
    "RunOutcome",
    "RunState",
    "StoreApprover",
    "TerminalApprover",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "TrustedContext",
    "Upstream",
    "load",
    "preflight",
    "run",
]


def __getattr__(name: str) -> Any:
    """Load the module of a public name when it is first asked for."""
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)
