"""How a call ends without a result: one exception inside the pipeline, one error outside, one record in the ledger."""

from __future__ import annotations

from collections.abc import Mapping

from keel.core.model import Json
from keel.core.redact import Redactor
from keel.runtime.model import ErrorCode, ToolError


class Refused(Exception):
    """Ends a call with one of the closed codes.

    Args:
        code: why.
        message: one sentence, foreign text escaped.
        retryable: whether the same request may be sent again.
        detail: data for programs.
    """

    def __init__(self, code: ErrorCode, message: str, *, retryable: bool = False, detail: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.detail = detail

    def error(self, redactor: Redactor) -> ToolError:
        """Return the error as the caller sees it, secrets scrubbed."""
        return ToolError(
            code=self.code,
            message=redactor.clean(self.message),
            retryable=self.retryable,
            detail=scrubbed(self.detail, redactor),
        )


def scrubbed(value: Json, redactor: Redactor) -> Json:
    """Return a JSON value without any secret in its strings and keys; the very value where there is none to know."""
    if not redactor:
        return value
    return _scrub(value, redactor)


def _scrub(value: Json, redactor: Redactor) -> Json:
    if isinstance(value, str):
        return redactor.clean(value)
    if isinstance(value, Mapping):
        return {redactor.clean(str(name)): _scrub(item, redactor) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_scrub(item, redactor) for item in value]
    return value


def recorded_error(error: ToolError) -> Json:
    """Return an error as the ledger keeps it."""
    return {
        "error": {
            "code": error.code.value,
            "message": error.message,
            "retryable": error.retryable,
            "detail": error.detail,
        }
    }


def recorded_data(data: Json) -> Json:
    """Return a result as the ledger keeps it."""
    return {"data": data}


def read_record(record: Json) -> tuple[Json, ToolError | None]:
    """Return (data, error) of what the ledger kept; what reconciliation left without a result has no data."""
    if not isinstance(record, Mapping):
        return record, None
    held = record.get("error")
    if isinstance(held, Mapping):
        error = ToolError(
            code=ErrorCode(held["code"]),
            message=str(held["message"]),
            retryable=bool(held.get("retryable")),
            detail=held.get("detail"),
        )
        return None, error
    return record.get("data") if set(record) == {"data"} else record, None
