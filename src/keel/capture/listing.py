"""Reading whole listings: pages to the end, loops noticed, and a list that changes meanwhile read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND, PaginatedRequestParams

from keel.capture.assemble import Entries, rebase
from keel.capture.gaps import CaptureGap
from keel.capture.tap import LISTINGS, Tap
from keel.core.jsontext import JsonFault
from keel.core.text import escape

MAX_PAGES = 1000
MAX_ENTRIES = 20_000
MAX_CURSOR = 64 * 1024
"""Longest cursor that is sent back, in characters."""
RESTARTS = 3
_LATE_TOOLS_S = 1.0
"""How long an empty list may take to fill when the server says that its list changes."""


@dataclass
class Listing:
    """The pages of one list."""

    pages: list[Entries] = field(default_factory=list)
    stray: list[JsonFault] = field(default_factory=list)
    """JSON faults beside the entries that could hide some of them."""
    empty_cursor: bool = False
    """Whether the last page ended with an empty cursor instead of none."""

    @property
    def count(self) -> int:
        """How many entries there are."""
        return sum(len(page.items) for page in self.pages)


class Lister:
    """Reads the listings of one connected server.

    Args:
        name: name of the server.
        session: the SDK's session, connected.
        tap: what the wire's messages are kept in.
        capabilities: the server's capabilities, as sent.
    """

    def __init__(self, name: str, session: ClientSession, tap: Tap, capabilities: Mapping[str, Any]) -> None:
        self._name = name
        self._session = session
        self._tap = tap
        self._capabilities = capabilities

    async def read(self, method: str) -> Listing:
        """Read one list to its end, again if the server says that it changed meanwhile.

        Raises:
            CaptureGap: the list does not end, keeps changing, or is answered with an error.
        """
        listed = LISTINGS[method]
        previous: Listing | None = None
        for _ in range(RESTARTS + 1):
            changes = self._tap.changes[listed]
            try:
                current = await self._walk(method)
            except MCPError as error:
                if self._tap.changes[listed] == changes or error.error.code == METHOD_NOT_FOUND:
                    return self._refused(method, error)
                current = None
            if current is not None and not current.count and await self._fills_later(listed, changes):
                continue
            if current is not None and (self._tap.changes[listed] == changes or _same(current, previous)):
                return current
            previous = current
        why = f"the {listed} of `{escape(self._name)}` changed {RESTARTS + 1} times while they were listed"
        raise CaptureGap("unstable", why, "try again; if it stays so, report it to the server's author")

    def declares(self, capability: str) -> bool:
        """Tell whether the server declares a capability."""
        return self._capabilities.get(capability) is not None

    async def _fills_later(self, listed: str, changes: int) -> bool:
        capability = self._capabilities.get(listed)
        if not isinstance(capability, dict) or capability.get("listChanged") is not True:
            return False
        with anyio.move_on_after(_LATE_TOOLS_S):
            while self._tap.changes[listed] == changes:  # noqa: ASYNC110 - the tap is plain data
                await anyio.sleep(0.02)
        return self._tap.changes[listed] != changes

    def _refused(self, method: str, error: MCPError) -> Listing:
        if error.error.code == METHOD_NOT_FOUND and not self.declares(method.partition("/")[0]):
            return Listing()
        raise error

    async def _walk(self, method: str) -> Listing:
        listing = Listing()
        cursor: str | None = None
        seen: set[str] = set()
        while True:
            cursor = await self._page(method, cursor, listing)
            if not cursor:
                return listing
            if cursor in seen:
                raise self._endless(f"cursor `{escape(cursor[:40])}` came twice, on page {len(listing.pages)}")
            if len(listing.pages) >= MAX_PAGES:
                raise self._endless(f"it has more than {MAX_PAGES:,} pages")
            if listing.count > MAX_ENTRIES:
                raise self._endless(f"it has more than {MAX_ENTRIES:,} entries")
            if len(cursor) > MAX_CURSOR:
                raise self._endless(f"its cursor grew beyond {MAX_CURSOR:,} characters")
            seen.add(cursor)

    async def _page(self, method: str, cursor: str | None, listing: Listing) -> str | None:
        """Fetch one page, append its raw entries, return the next cursor."""
        session, params = self._session, PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        calls = {
            "tools/list": session.list_tools,
            "prompts/list": session.list_prompts,
            "resources/list": session.list_resources,
            "resources/templates/list": session.list_resource_templates,
        }
        await calls[method](params=params)
        reply = self._tap.replies.pop(method)
        field_ = LISTINGS[method]
        items = reply.result.get(field_)
        at = f"/result/{field_}"
        listing.pages.append(Entries(tuple(items), rebase(reply.faults, at)))
        listing.stray.extend(
            fault for fault in reply.faults if fault.pointer in ("/result", at, "/result/nextCursor", "/jsonrpc", "/id")
        )
        following: str | None = reply.result.get("nextCursor")
        listing.empty_cursor = following == ""
        return following

    def _endless(self, what: str) -> CaptureGap:
        why = f"the listing of `{escape(self._name)}` does not end: {what}"
        return CaptureGap("pagination-loop", why, "report it to the server's author; nothing was taken from it")


def _same(one: Listing, other: Listing | None) -> bool:
    return other is not None and [page.items for page in one.pages] == [page.items for page in other.pages]
