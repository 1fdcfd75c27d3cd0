"""What the manifest says about one call: whether a person must approve, how long it may take, how far to trust it."""

from __future__ import annotations

from keel.core.model import Effect, FrozenTool, Trust
from keel.manifest.policy import returns_of
from keel.runtime.bundle import Bundle


def needs_approval(bundle: Bundle, tool: FrozenTool) -> bool:
    """Tell whether a person has to approve a call: it is dangerous, or its grant asks for one."""
    grant = bundle.grant(tool.key)
    return tool.contract.effect is Effect.DANGEROUS or (grant is not None and grant.approval)


def timeout_of(bundle: Bundle, key: str, wanted: float | None = None) -> float:
    """Return the seconds a call may take: what it wants, else the default, and no more than its grant allows."""
    grant = bundle.grant(key)
    limit = grant.timeout_s if grant is not None else None
    if limit is None:
        return bundle.manifest.defaults.timeout_s if wanted is None else wanted
    return limit if wanted is None else min(wanted, limit)


def max_calls(bundle: Bundle, key: str) -> int | None:
    """Return how often a run may call a tool; None for any number."""
    grant = bundle.grant(key)
    return grant.max_calls if grant is not None else None


def trust_of(bundle: Bundle, key: str) -> Trust:
    """Return whether what a tool gives may steer calls."""
    return returns_of(key, bundle.manifest)
