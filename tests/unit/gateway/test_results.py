"""What clients see of results: bounded, labelled, and nothing that belongs to the server behind."""

from __future__ import annotations

from typing import Any

from keel.core.model import Contract, FrozenTool
from keel.gateway.results import STRUCTURED_LIMIT, wire_result
from keel.runtime.model import ErrorCode, Observation, ToolError, ToolResult

PROMISED = FrozenTool("s/t", {"name": "t", "outputSchema": {"type": "object"}}, "k1:aa", Contract())
PLAIN = FrozenTool("s/t", {"name": "t"}, "k1:aa", Contract())
LABELS = {"keel/tool": "s/t", "keel/call": "c1", "keel/definition": "k1:aa"}


def result(data: Any = None, text: str = "", *, size: int = 10, truncated: bool = False, **more: Any) -> ToolResult:
    seen = Observation(text=text, size=size, truncated=truncated, source="s/t", trust="untrusted")
    return ToolResult(call_id="c1", tool_name="s/t", tool_version="k1:aa", ok=True, data=data, observation=seen, **more)


def failed(**error: Any) -> ToolResult:
    return ToolResult(call_id="c1", tool_name="s/t", tool_version="k1:aa", ok=False, error=ToolError(**error))


def advice(approval: str) -> str:
    return f"keel approve {approval} --store s.db"


def test_content_goes_through_as_it_is() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]
    shown = wire_result(result(blocks, "[…]"), PLAIN, advice)
    assert shown["content"] == blocks
    assert "structuredContent" not in shown
    assert shown["_meta"] == {**LABELS, "keel/trust": "untrusted", "keel/size": 10, "keel/truncated": False}


def test_structured_content_goes_beside_its_text() -> None:
    for tool in (PLAIN, PROMISED):
        shown = wire_result(result({"a": 1}, '{"a":1}'), tool, advice)
        assert shown["structuredContent"] == {"a": 1}
        assert shown["content"] == [{"type": "text", "text": '{"a":1}'}]


def test_a_long_result_is_shown_cut() -> None:
    blocks = [{"type": "text", "text": "x" * 100_000}]
    shown = wire_result(result(blocks, "xxx\n[cut]", size=100_027, truncated=True), PLAIN, advice)
    assert shown["content"] == [{"type": "text", "text": "xxx\n[cut]"}]
    assert shown["_meta"]["keel/truncated"] is True
    assert "structuredContent" not in wire_result(result({"a": 1}, "{", truncated=True), PLAIN, advice)


def test_what_a_frozen_output_schema_promises_is_whole_or_an_error() -> None:
    shown = wire_result(result({"a": 1}, "{", size=STRUCTURED_LIMIT, truncated=True), PROMISED, advice)
    assert shown["structuredContent"] == {"a": 1}
    shown = wire_result(result({"a": 1}, "{", size=STRUCTURED_LIMIT + 1, truncated=True), PROMISED, advice)
    assert shown["isError"] is True
    assert shown["_meta"]["keel/error"] == "invalid_result"
    assert "took effect" in shown["content"][0]["text"]


def test_a_native_result_that_looks_like_content_is_data() -> None:
    data = [{"type": "text", "text": "a"}]
    shown = wire_result(ToolResult(call_id="c", tool_name="native", ok=True, data=data), None, advice)
    assert shown["content"] == [{"type": "text", "text": ""}]


def test_an_error_has_its_code_in_three_places() -> None:
    error = {
        "code": ErrorCode.SURFACE_DRIFT,
        "message": "`t` changed",
        "retryable": False,
        "detail": {"code": "text-changed"},
    }
    shown = wire_result(failed(**error), PLAIN, advice)
    assert shown["isError"] is True
    assert shown["structuredContent"] == {**error, "code": "surface_drift"}
    assert shown["_meta"] == {**LABELS, "keel/error": "surface_drift"}
    assert shown["content"] == [{"type": "text", "text": "surface_drift: `t` changed"}]


def test_a_required_approval_says_how_it_is_given() -> None:
    detail = {"approval": "a1", "state": "pending"}
    shown = wire_result(failed(code=ErrorCode.APPROVAL_REQUIRED, message="ask", detail=detail), PLAIN, advice)
    assert "`keel approve a1 --store s.db`" in shown["content"][0]["text"]
    known = wire_result(failed(code=ErrorCode.APPROVAL_REQUIRED, message="run `keel approve a1 --store s.db`", detail=detail), PLAIN, advice)  # fmt: skip
    assert known["content"][0]["text"].count("keel approve") == 1
    denied = failed(code=ErrorCode.APPROVAL_REQUIRED, message="denied", detail={"approval": "a1", "state": "denied"})
    assert "keel approve" not in wire_result(denied, PLAIN, advice)["content"][0]["text"]


def test_an_error_is_bounded_too() -> None:
    shown = wire_result(failed(code=ErrorCode.TOOL_FAILED, message="x" * 100_000), PLAIN, advice)
    assert len(shown["content"][0]["text"]) <= 8192
