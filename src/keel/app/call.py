"""`keel call`: one validated dispatch from the shell; the result is data, the exit code its outcome."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from keel.app.runtime import RuntimeOptions, native_keys, runtime
from keel.capture.pool import silent_libraries, terminable
from keel.core.codes import CODES, Gate
from keel.core.jsontext import JsonSyntaxError, parse
from keel.core.model import Json
from keel.core.text import escape
from keel.errors import ExitCode, UsageError
from keel.runtime.budget import RunState
from keel.runtime.bundle import Bundle
from keel.runtime.model import ErrorCode, ToolCall, ToolResult

_INCOMPLETE = frozenset({ErrorCode.TIMEOUT, ErrorCode.OUTCOME_UNKNOWN})
_NOT_DONE = frozenset({"not_sent", "store_unavailable", "audit_unavailable", "in_progress"})
"""Codes in an error's detail that say that nothing was done, and nothing was wrong with the call."""


@dataclass(frozen=True, slots=True)
class CallOptions:
    """What the command line asks for."""

    key: str
    """Tool key."""
    arguments: dict[str, Json]
    operation: str = ""
    """Names the intended operation, so that the same command run again does nothing twice."""
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Called:
    """What came of a call."""

    result: ToolResult
    hint: str = ""
    """What to do next."""

    @property
    def exit_code(self) -> ExitCode:
        """0 for a result, 1 for a refusal or a failure, 3 if the call could not be completed."""
        error = self.result.error
        if error is None:
            return ExitCode.OK
        detail = error.detail.get("code") if isinstance(error.detail, dict) else None
        gap = detail in CODES and CODES[detail].gate is Gate.NOT_CHECKED
        if error.code in _INCOMPLETE or detail in _NOT_DONE or (error.code is ErrorCode.SURFACE_DRIFT and gap):
            return ExitCode.INCOMPLETE
        return ExitCode.FINDINGS

    @property
    def json(self) -> dict[str, Any]:
        """The result as it is printed."""
        result, error = self.result, self.result.error
        shown: dict[str, Any] = {
            "call_id": result.call_id,
            "tool_name": result.tool_name,
            "tool_version": result.tool_version,
            "ok": result.ok,
            "data": result.data,
            "error": None,
        }
        if error is not None:
            shown["error"] = {
                "code": error.code.value,
                "message": error.message,
                "retryable": error.retryable,
                **({"detail": error.detail} if error.detail is not None else {}),
            }
        if result.replayed:
            shown["replayed"] = True
        return shown


def call(options: RuntimeOptions, asked: CallOptions) -> Called:
    """Make one call.

    Raises:
        KeelError: if the bundle, a store or an option cannot be used.
    """
    with silent_libraries():
        return terminable(partial(_call, options.forgetful(), asked))


async def _call(options: RuntimeOptions, asked: CallOptions) -> Called:
    async with runtime(options) as ready:
        made = ToolCall(call_id=uuid.uuid4().hex, name=asked.key, arguments=asked.arguments, operation=asked.operation)
        run = RunState(ready.bundle, ready.clock, run_id=ready.trusted.run_id)
        result = await ready.dispatcher.dispatch(made, ready.trusted, run, timeout_s=asked.timeout_s)
        shown = replace(result, tool_name=ready.redactor.clean(result.tool_name))
        return Called(shown, approval_hint(result, options.store))


def approval_hint(result: ToolResult, store: str) -> str:
    """Return the command that decides on the approval which a result asks for; empty if it asks for none."""
    error = result.error
    if error is None or error.code is not ErrorCode.APPROVAL_REQUIRED or not isinstance(error.detail, dict):
        return ""
    approval, state = error.detail.get("approval"), error.detail.get("state", "pending")
    if not approval or state != "pending":
        return ""
    return f"{approve_command(str(approval), store)}, then run the same command again"


def approve_command(approval: str, store: str) -> str:
    """Return the command with which a person approves.

    Args:
        approval: its id.
        store: the ledger as the operator named it; empty for the default.
    """
    return f"keel approve {escape(approval)}" + (f" --store {escape(store)}" if store else "")


def only(key: str, tool_urls: tuple[str, ...], bundle: Bundle) -> bool:
    """Tell whether calling one tool runs code of the project."""
    return key in native_keys(bundle, tool_urls)


def read_arguments(text: str) -> dict[str, Json]:
    """Read the arguments of a call.

    Raises:
        UsageError: if it is not a JSON object that means one thing only.
    """
    hint = """write a JSON object, such as `--input '{"ticket": "T-1"}'`; `@FILE` reads a file, `-` standard input"""
    try:
        value, faults = parse(text)
    except JsonSyntaxError as error:
        raise UsageError(f"the input is not JSON: {escape(error.message)}", hint=hint) from error
    if faults:
        raise UsageError(
            f"the input is ambiguous: {escape(faults[0].detail)} at `{faults[0].pointer or '/'}`", hint=hint
        )
    if not isinstance(value, dict):
        raise UsageError("the input is not a JSON object", hint=hint)
    return value
