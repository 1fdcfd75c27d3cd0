"""What a comparison needs to know besides the two surfaces, and how severities follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keel.core.codes import CODES, Severity
from keel.core.model import Contract, Policy
from keel.drift.affected import ImpactJudge
from keel.manifest.severities import FLOORED


@dataclass(frozen=True, slots=True)
class DriftContext:
    """How the surfaces of one server are to be compared."""

    server: str
    policy: Policy = Policy.PIN
    referenced: frozenset[str] = frozenset()
    """Keys that a flow calls or an agent holds; without flows, every key that the manifest admits."""
    tools_section: bool = False
    """Whether the manifest has a `tools` section; without one a new tool is admitted by silence."""
    frozen_contracts: Mapping[str, Contract] = field(default_factory=dict)
    live_contracts: Mapping[str, Contract] = field(default_factory=dict)
    fail_on: Mapping[str, str] = field(default_factory=dict)
    """Drift code to `error`, `warning`, `info` or `never`, as the manifest settled it."""
    impacts: ImpactJudge | None = None
    """What the flows make of a change; None where no flows are known."""


def severity_of(
    code: str, context: DriftContext, *, referenced: bool, default: Severity | None = None
) -> Severity | None:
    """Return the severity of a difference under the server's policy, or None when `fail_on` silences it.

    A difference in something no flow uses is at most a warning; `fail_on` cannot take breaking, text and contract
    differences below a warning.

    Args:
        code: what differs.
        context: the comparison.
        referenced: whether a flow or an agent uses it.
        default: its severity where that is not the one of its code.
    """
    severity = default or CODES[code].severity
    if code == "tool-added" and not context.tools_section:
        severity = Severity.ERROR
    elif not referenced and severity is Severity.ERROR:
        severity = Severity.WARNING
    wished = context.fail_on.get(code)
    if wished is None:
        return severity
    if wished == "never":
        return Severity.WARNING if code in FLOORED else None
    return Severity.WARNING if code in FLOORED and wished == "info" else Severity(wished)
