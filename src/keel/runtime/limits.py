"""The bounds of a dispatcher, each with a default that suits a worker."""

from __future__ import annotations

from dataclasses import dataclass

from keel.runtime.comparing import TTL_S
from keel.runtime.observation import DEFAULT_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a dispatcher allows and keeps."""

    observation_bytes: int = DEFAULT_LIMIT
    """Bytes of a result's text that a model sees."""
    result_bytes: int = 8 * 1024 * 1024
    """Bytes of a whole result as canonical JSON; a larger one is `invalid_result`."""
    preflight: bool = True
    """Whether servers are compared before they are called; cannot be false where the bundle uses secrets."""
    preflight_ttl_s: float = TTL_S
    """Seconds for which one listing of a server is believed."""
    approval_ttl_s: float = 24 * 3600.0
    """Seconds for which an exact call can be approved, and the approval used."""
    lease_grace_s: float = 30.0
    """Seconds past its deadline after which an unfinished call counts as abandoned."""
    durable_reads: bool = True
    """Whether results of asserted reads go to the ledger too, so that a restarted run gets the same answer again;
    without it they are remembered by this process alone."""
    audit_arguments: bool = False
    """Whether audit events hold arguments, secrets scrubbed, beside their digest."""
