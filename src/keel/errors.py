"""The one tree of errors keel raises on purpose, each with an id, a message, a hint and an exit class."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The process exit codes of every command; numbers not listed are reserved."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    INCOMPLETE = 3


class KeelError(Exception):
    """Root of every error that keel raises on purpose.

    Args:
        message: what is wrong, in one sentence, with literals in backticks.
        hint: what to do next, preferably a command.
        code: the stable kebab-case id, documented by `keel explain`.
    """

    code = "keel-error"
    exit_code = ExitCode.USAGE

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code


class UsageError(KeelError):
    """A command line or a combination of options that cannot be carried out."""

    code = "usage"


class LimitExceeded(KeelError):
    """Input beyond one of keel's named limits; the message names the limit and both numbers."""

    code = "limit-exceeded"


class NoRuntime(KeelError):
    """A gate, a reference or an agent was called where no keel runtime is active.

    Flows run under `keel run`, `keel.runtime.run` or, in unit tests, `keel.testing.fakes`.
    """

    code = "no-runtime"


class ApprovalDenied(KeelError):
    """A person denied, or did not answer in time, a gate whose `on_reject` is `"raise"`."""

    code = "approval-denied"


class ToolCallError(KeelError):
    """A tool call that failed inside a running flow.

    Attributes:
        code: one of the closed dispatch codes, such as `timeout` or `tool_failed`.
        retryable: whether the same call may be sent again.
    """

    code = "tool-failed"

    def __init__(self, message: str, *, code: str = "tool_failed", retryable: bool = False, hint: str = "") -> None:
        super().__init__(message, hint=hint, code=code)
        self.retryable = retryable
