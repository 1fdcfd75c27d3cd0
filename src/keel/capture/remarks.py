"""What a capture notes beside the surface: noise, odd cursors, secrets sent back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from keel.capture.tap import Tap, holds_secret
from keel.core.finding import Finding, Location, finding
from keel.core.model import Surface
from keel.core.text import escape, plural

if TYPE_CHECKING:
    from keel.capture.listing import Listing


def remarks(name: str, tap: Tap, surface: Surface, listings: Mapping[str, Listing]) -> Iterator[Finding]:
    """Yield the findings about how a server answered, as far as they are not about one of its definitions."""
    at, who = Location(key=name), f"`{escape(name)}`"
    if tap.noise:
        lines = plural(tap.noise, "line")
        message = f"{who} wrote {lines} that are not protocol to stdout, the first `{tap.first_noise}`"
        yield finding("stdout-noise", message, location=at)
    for field, listing in listings.items():
        if listing.empty_cursor:
            message = f"{who} ended its list of {field} with an empty cursor instead of none"
            yield finding("cursor-empty", message, location=at)
    if tap.echoed:
        yield from _echoes(name, tap, surface)


def _echoes(name: str, tap: Tap, surface: Surface) -> Iterator[Finding]:
    who = f"`{escape(name)}`"
    found = False
    for tool in surface.tools:
        if holds_secret(tool, tap.redactor):
            found = True
            label = escape(str(tool["name"]))
            message = f"{who} repeats a secret of its launch in the definition of `{tap.redactor.clean(label)}`"
            yield finding("secret-echoed", message, location=Location(key=tap.redactor.clean(f"{name}/{label}")))
    if not found:
        message = f"{who} repeats a secret of its launch in what it sends"
        yield finding("secret-echoed", message, location=Location(key=name))
