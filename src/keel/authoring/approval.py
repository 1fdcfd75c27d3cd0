"""The answer of a human gate, which is true only if a person approved."""

from __future__ import annotations

from dataclasses import dataclass

from keel.authoring.options import check_flag


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """What a person decided at a human gate.

    Flows receive approvals and never construct them: a constructed one is a `dynamic-tool` finding, because no
    person stands behind it. The default is a denial, and `approved` takes nothing but a `bool`.

    Raises:
        InvalidOption: if `approved` is anything but `True` or `False`.
    """

    approved: bool = False
    """Whether a person said yes."""
    reason: str = "denied"
    """`approved`, `denied` or `timeout`."""
    by: str = ""
    """Who decided; empty after a timeout."""
    comment: str = ""
    """What the person wrote."""

    def __post_init__(self) -> None:
        check_flag("Approval.approved", self.approved)

    def __bool__(self) -> bool:
        return self.approved is True
