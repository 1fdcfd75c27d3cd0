"""What a comparison needs to know besides the two surfaces, and how severities follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from keel.core.codes import CODES, Severity
from keel.core.model import Contract, Policy


class Kind(StrEnum):
    """The kinds of difference that `fail_on` of the manifest can raise or lower."""

    ADDED = "added"
    BREAKING = "breaking"
    CONTRACT = "contract"
    EXTRA = "extra"
    HINTS = "hints"
    IDENTITY = "identity"
    INSTRUCTIONS = "instructions"
    LATENT = "latent"
    REMOVED = "removed"
    REPRESENTATION = "representation"
    TEXT = "text"
    UNDECIDED = "undecided"
    UNDOCUMENTED = "undocumented"
    WIDENED = "widened"


KINDS: Mapping[str, Kind] = {
    "contract-lowered": Kind.CONTRACT,
    "contract-raised": Kind.CONTRACT,
    "extra-changed": Kind.EXTRA,
    "hints-changed": Kind.HINTS,
    "identity-changed": Kind.IDENTITY,
    "input-breaking": Kind.BREAKING,
    "input-latent": Kind.LATENT,
    "input-widened": Kind.WIDENED,
    "instructions-changed": Kind.INSTRUCTIONS,
    "output-breaking": Kind.BREAKING,
    "output-widened": Kind.WIDENED,
    "parameter-undocumented": Kind.UNDOCUMENTED,
    "representation-only": Kind.REPRESENTATION,
    "schema-collapsed": Kind.BREAKING,
    "schema-undecided": Kind.UNDECIDED,
    "text-changed": Kind.TEXT,
    "tool-added": Kind.ADDED,
    "tool-removed": Kind.REMOVED,
    "tool-renamed": Kind.REMOVED,
}
"""Which kind each drift code belongs to."""

_FLOORED = frozenset({Kind.BREAKING, Kind.CONTRACT, Kind.TEXT})


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
    """Kind of difference to `error`, `warning`, `info` or `never`."""
    sites: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tool key to the sites that use it."""


def severity_of(code: str, context: DriftContext, *, referenced: bool) -> Severity | None:
    """Return the severity of a difference under the server's policy, or None when `fail_on` silences it.

    Source: DESIGN section 8. A difference in something no flow uses is at most a warning; `fail_on` cannot take
    breaking, text and contract differences below a warning.
    """
    severity = CODES[code].severity
    if code == "tool-added" and not context.tools_section:
        severity = Severity.ERROR
    elif not referenced and severity is Severity.ERROR:
        severity = Severity.WARNING
    kind = KINDS[code]
    wished = context.fail_on.get(kind.value)
    if wished is None:
        return severity
    if wished == "never":
        return max((Severity.WARNING, severity), key=lambda item: item.rank) if kind in _FLOORED else None
    chosen = Severity(wished)
    return Severity.WARNING if kind in _FLOORED and chosen is Severity.INFO else chosen
