"""From a `ToolResult` to the result that a client of the gateway sees: bounded, labelled, nothing of the upstream's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keel.core.model import FrozenTool, Json
from keel.core.text import escape, plural, size
from keel.runtime.model import ErrorCode, ToolError, ToolResult

STRUCTURED_LIMIT = 1024 * 1024
"""Longest structured result that is passed on, in bytes; text is bounded by the observation."""
COMPLETE = {"resultType": "complete"}
"""What every final result says in the 2026-07-28 era; the SDK leaves it out in the older one."""
ERROR_META = "keel/error"
"""Member of a failed result's `_meta` that holds its code."""
_TEXT_LIMIT = 8 * 1024
_BLOCKS = frozenset({"text", "image", "audio", "resource", "resource_link"})

Advice = Callable[[str], str]
"""Gives the command with which a person decides on an approval, by its id."""


def wire_result(result: ToolResult, tool: FrozenTool | None, advice: Advice) -> dict[str, Any]:
    """Return the `CallToolResult` for a result (MCP 2025-11-25 and 2026-07-28).

    Args:
        result: what the dispatcher returned.
        tool: the frozen tool; None if there is none of that name.
        advice: gives the command that decides on an approval.
    """
    meta: dict[str, Any] = {"keel/tool": result.tool_name, "keel/call": result.call_id}
    if result.tool_version is not None:
        meta["keel/definition"] = result.tool_version
    if result.error is not None:
        return _failed(result.error, meta, advice)
    seen = result.observation
    if seen is not None:
        meta |= {"keel/trust": seen.trust, "keel/size": seen.size, "keel/truncated": seen.truncated}
    promised = tool is not None and tool.output_schema is not None
    length = seen.size if seen is not None else 0
    if promised and length > STRUCTURED_LIMIT:
        return _failed(_too_long(length), meta, advice)
    whole = seen is None or not seen.truncated
    answer: dict[str, Any] = {**COMPLETE, "content": _content(result, whole=whole), "isError": False, "_meta": meta}
    if promised or (whole and isinstance(result.data, dict)):
        answer["structuredContent"] = result.data
    return answer


def _content(result: ToolResult, *, whole: bool) -> list[Any]:
    data: Json = result.data
    if whole and "/" in result.tool_name and _is_content(data):
        return list(data)
    text = result.observation.text if result.observation is not None else ""
    return [{"type": "text", "text": text}]


def _is_content(data: Json) -> bool:
    return isinstance(data, list) and all(isinstance(item, dict) and item.get("type") in _BLOCKS for item in data)


def _too_long(length: int) -> ToolError:
    most = size(STRUCTURED_LIMIT)
    message = f"the call took effect, and its result of {plural(length, 'byte')} is longer than the {most} passed on"
    return ToolError(code=ErrorCode.INVALID_RESULT, message=message)


def _failed(error: ToolError, meta: dict[str, Any], advice: Advice) -> dict[str, Any]:
    words = f"{error.code}: {error.message}"
    if error.code is ErrorCode.APPROVAL_REQUIRED and isinstance(error.detail, dict):
        command = advice(escape(str(error.detail.get("approval", ""))))
        if error.detail.get("state") == "pending" and command not in error.message:
            words += f"; a person decides with `{command}`"
    structured = {
        "code": error.code.value,
        "message": error.message,
        "retryable": error.retryable,
        "detail": error.detail,
    }
    return {
        **COMPLETE,
        "content": [{"type": "text", "text": words[:_TEXT_LIMIT]}],
        "structuredContent": structured,
        "isError": True,
        "_meta": {**meta, ERROR_META: error.code.value},
    }
