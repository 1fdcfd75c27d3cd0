"""Sending one admitted call: what its answer, or the lack of one, makes of the operation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from keel.core.canonical import CanonicalError, canonical_bytes
from keel.core.digest import digest
from keel.core.model import FrozenTool, Json, split_key
from keel.core.redact import Redactor
from keel.core.text import excerpt, words_of
from keel.errors import KeelError
from keel.runtime.checks import listed, told
from keel.runtime.limits import Limits
from keel.runtime.model import ErrorCode, OperationState
from keel.runtime.ports import AnswerLost, Drifted, NativeTools, NotSent, Reply, Upstream
from keel.runtime.refusal import Refused, scrubbed
from keel.runtime.schemas import Validators

_WORDS = 2000
"""Characters of a tool's own words that a message quotes."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How one attempt ended."""

    state: OperationState
    data: Json = None
    refused: Refused | None = None
    """Why there is no result."""
    drifted: bool = False
    """Whether the call did not leave because the server's list changed."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends calls to servers and native tools, and judges what comes back."""

    upstream: Upstream
    native: NativeTools | None
    validators: Validators
    limits: Limits
    redactor: Redactor

    def endpoint(self, key: str) -> str:
        """Return the URL that calls of a tool go to; empty for what runs on this machine."""
        server, _ = split_key(key)
        if server:
            return self.upstream.endpoint(server)
        return self.native.endpoint(key) if self.native is not None else ""

    async def send(self, tool: FrozenTool, arguments: Mapping[str, Json], key: str, seconds: float) -> Ended:
        """Send a call and wait for its answer.

        Args:
            tool: the frozen tool.
            arguments: valid arguments.
            key: idempotency key.
            seconds: until the deadline.
        """
        try:
            async with asyncio.timeout(seconds):
                reply = await self._call(tool.key, arguments, key, seconds)
        except NotSent as error:
            return self._unsent(tool, error)
        except Drifted as error:
            refused = Refused(ErrorCode.SURFACE_DRIFT, self._said(tool, error), retryable=True)
            return Ended(OperationState.FAILED_SAFE_TO_RETRY, refused=refused, drifted=True)
        except AnswerLost as error:
            return lost(tool, self._said(tool, error))
        except TimeoutError:
            return lost(tool, f"`{excerpt(tool.key)}` gave no answer in {seconds:.3g} seconds")
        except Exception as error:  # noqa: BLE001 - whatever a port raises, the call may have left
            said = self._quoted(f"{type(error).__name__}: {words_of(error)}", 300)
            return lost(tool, f"`{excerpt(tool.key)}` broke off: {said}")
        return self._judged(tool, reply)

    async def _call(self, key: str, arguments: Mapping[str, Json], operation: str, seconds: float) -> Reply:
        server, name = split_key(key)
        if server:
            return await self.upstream.call(server, name, arguments, idempotency_key=operation, timeout_s=seconds)
        if self.native is None:
            raise NotSent(f"nothing here runs the native tool `{excerpt(key)}`")
        return await self.native.call(key, arguments, idempotency_key=operation, timeout_s=seconds)

    def _said(self, tool: FrozenTool, error: KeelError) -> str:
        return f"`{excerpt(tool.key)}`: {self._quoted(error.message)}"

    def _quoted(self, text: str, limit: int = _WORDS) -> str:
        """Return foreign text for a message: scrubbed before it is cut, for half a secret would not be found again."""
        return excerpt(self.redactor.clean(text), limit)

    # -- answers --------------------------------------------------------------------------------

    def _judged(self, tool: FrozenTool, reply: Reply) -> Ended:
        try:
            size = len(canonical_bytes(reply.data))
        except CanonicalError as error:
            return _invalid(tool, f"holds what JSON does not have: {error.message}", None)
        if size > self.limits.result_bytes:
            limit = self.limits.result_bytes
            return _invalid(
                tool,
                f"is {size:,} bytes long, and the limit `result_bytes` is {limit:,}",
                {"limit": "result_bytes", "allowed": limit, "size": size, "digest": digest(reply.data)},
            )
        data = scrubbed(reply.data, self.redactor)
        if reply.failed:
            return self._failed(tool, reply, data)
        misfits = self.validators.result(tool, reply.data)
        if misfits:
            return _invalid(tool, f"does not fit its frozen output schema: {told(misfits)}", listed(misfits))
        return Ended(OperationState.SUCCEEDED, data)

    def _unsent(self, tool: FrozenTool, error: NotSent) -> Ended:
        message = f"`{excerpt(tool.key)}` was not reached, and nothing was done: {self._quoted(error.message)}"
        refused = Refused(ErrorCode.TOOL_FAILED, message, retryable=True, detail={"code": "not_sent"})
        return Ended(OperationState.FAILED_SAFE_TO_RETRY, refused=refused)

    def _failed(self, tool: FrozenTool, reply: Reply, data: Json) -> Ended:
        """Record what the tool itself called a failure: it has answered, so that the operation is over.

        Where repeating is harmless it may be tried again; otherwise the answer stands, for nobody knows what a second
        try of a half-done operation would do.
        """
        words = self._quoted(reply.message) if reply.message else "no reason given"
        retryable = tool.contract.retryable
        detail = {"code": self._quoted(reply.code, 200)} if reply.code else None
        refused = Refused(
            ErrorCode.TOOL_FAILED, f"`{excerpt(tool.key)}` failed: {words}", retryable=retryable, detail=detail
        )
        return Ended(OperationState.FAILED_SAFE_TO_RETRY if retryable else OperationState.REJECTED, data, refused)


def lost(tool: FrozenTool, said: str) -> Ended:
    """Return what an answer that did not come makes of a call that may have left."""
    if tool.contract.retryable:
        refused = Refused(ErrorCode.TIMEOUT, f"{said}; repeating it is harmless by its contract", retryable=True)
        return Ended(OperationState.FAILED_SAFE_TO_RETRY, refused=refused)
    message = f"{said}; whether it took effect is not known, so it must be reconciled before it is repeated"
    return Ended(OperationState.OUTCOME_UNKNOWN, refused=Refused(ErrorCode.OUTCOME_UNKNOWN, message))


def _invalid(tool: FrozenTool, what: str, detail: Json) -> Ended:
    """Record an answer that cannot be handed on; the effect has happened, and is recorded as such."""
    message = f"the result of `{excerpt(tool.key)}` {what}"
    return Ended(OperationState.SUCCEEDED, refused=Refused(ErrorCode.INVALID_RESULT, message, detail=detail))
