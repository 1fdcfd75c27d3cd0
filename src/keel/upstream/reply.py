"""From what a tool answered to a `Reply`, and from what went wrong to the error that says what may have happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keel.core.model import Json
from keel.runtime.ports import AnswerLost, NotSent, Reply
from keel.upstream.ticket import Ticket


def reply_of(result: Mapping[str, Any]) -> Reply:
    """Return the answer in a result of `tools/call`.

    The tool's words are whole: whoever quotes them scrubs them first and cuts them then.
    The result's own `_meta` and that of its content belong to the connection and are left out.
    Source: MCP 2025-11-25 and 2026-07-28, `CallToolResult`.
    """
    if result.get("resultType", "complete") != "complete":
        asks = "the tool asks for more input, which keel does not pass on"
        return Reply(failed=True, code=str(result["resultType"]), message=asks)
    content = result.get("content")
    blocks = [_block(item) for item in content] if isinstance(content, list) else []
    structured = result.get("structuredContent")
    data: Json = blocks if structured is None else structured
    if result.get("isError") is not True:
        return Reply(data=data)
    words = "\n".join(str(item["text"]) for item in blocks if isinstance(item, dict) and item.get("type") == "text")
    return Reply(data=data, failed=True, code=_code(structured), message=words)


def refusal_of(code: int, message: str) -> Reply:
    """Return the answer in a JSON-RPC error."""
    return Reply(failed=True, code=str(code), message=message)


def missing(ticket: Ticket, why: str) -> NotSent | AnswerLost:
    """Return why a call has no answer: it did not leave, or it did and nobody knows what became of it.

    Args:
        ticket: the call.
        why: what happened, one clause; foreign text escaped.
    """
    if ticket.refused:
        return NotSent(f"it was turned away: {ticket.refused}")
    if not ticket.left:
        return NotSent(ticket.trouble or why)
    if ticket.trouble:
        return AnswerLost(f"it was sent and its answer cannot be used: {ticket.trouble}")
    return AnswerLost(f"it was sent and no answer came: {why}")


def _block(item: Any) -> Any:
    """Return one block of content without what belongs to the connection."""
    if not isinstance(item, dict):
        return item
    kept = {name: value for name, value in item.items() if name != "_meta"}
    resource = kept.get("resource")
    if isinstance(resource, dict):
        kept["resource"] = {name: value for name, value in resource.items() if name != "_meta"}
    return kept


def _code(structured: Any) -> str:
    """Return the tool's own code, where it sent one in one of the usual places."""
    if not isinstance(structured, dict):
        return ""
    inner = structured.get("error")
    for place in (structured, inner if isinstance(inner, dict) else {}):
        code = place.get("code")
        if isinstance(code, str | int) and not isinstance(code, bool):
            return str(code)
    return ""
