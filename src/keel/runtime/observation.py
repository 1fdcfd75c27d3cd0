"""Results as a model may see them: bounded, labelled, and told apart when cut."""

from __future__ import annotations

import hashlib

from keel.core.digest import RECIPE
from keel.core.model import Json
from keel.runtime.model import Observation

DEFAULT_LIMIT = 64 * 1024
"""Bytes of text that an observation holds."""
LEAST_LIMIT = 256
"""Bytes below which nothing but the mark would fit."""


def observe(data: Json, text: str, *, source: str, trust: str, limit: int = DEFAULT_LIMIT) -> Observation:
    """Return a bounded observation of a result.

    A text result is shown as it is, any other as canonical JSON. One that is too long is cut between two characters
    and ends with a mark that says how long it is and what its digest is.

    Args:
        data: the result.
        text: the result as canonical JSON.
        source: tool key.
        trust: `trusted` or `untrusted`.
        limit: bytes of UTF-8, the mark included; at least `LEAST_LIMIT`.
    """
    canonical = text.encode()
    size, digest = len(canonical), f"{RECIPE}:{hashlib.sha256(canonical).hexdigest()}"
    shown = data if isinstance(data, str) else text
    whole = shown.encode("utf-8", "replace")
    limit = max(limit, LEAST_LIMIT)
    if len(whole) <= limit:
        return Observation(text=shown, size=size, source=source, trust=trust, digest=digest)
    mark = f"\n[cut: {size:,} bytes in all, {digest}]"
    kept = whole[: limit - len(mark.encode())].decode("utf-8", "ignore")
    return Observation(text=kept + mark, size=size, truncated=True, source=source, trust=trust, digest=digest)
