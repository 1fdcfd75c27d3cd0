"""Whether the review of a server still holds: valid through its last day, UTC."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from keel.core.codes import Severity
from keel.core.finding import Finding, Location, finding
from keel.core.model import ServerSpec

WARN_FROM = timedelta(days=30)
"""How long before its last day an ending review is said."""


def reviews(
    servers: Iterable[ServerSpec],
    today: date,
    *,
    expired: Severity = Severity.WARNING,
    lines: dict[str, int] | None = None,
) -> Iterator[Finding]:
    """Yield expired and expiring reviews.

    Args:
        servers: the configured servers.
        today: the day they are judged by, in UTC.
        expired: how bad an expired one is: a warning in `check`, an error in `drift` and `bundle`.
        lines: server to the line of its date, where known; the server's own line otherwise.
    """
    for server in servers:
        until = server.review_expires_at
        if until is None:
            continue
        line = (lines or {}).get(server.name) or server.line
        at = Location(file=server.file, line=line, key=server.name, pointer=f"/servers/{server.name}/review_expires_at")
        if until < today:
            message = f"the review of server `{server.name}` expired on {until.isoformat()}"
            yield finding("review-expired", message, location=at, severity=expired)
        elif until - today <= WARN_FROM:
            message = f"the review of server `{server.name}` expires on {until.isoformat()}"
            yield finding("review-expiring", message, location=at)
