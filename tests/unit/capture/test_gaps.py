"""Every foreign exception becomes one of the could-not-check codes, without secrets and without control characters."""

from __future__ import annotations

import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from keel.capture.gaps import CaptureGap, failure, leaves, translate
from keel.core.codes import CODES, Gate
from keel.core.redact import Redactor


class Model(BaseModel):
    count: int


def invalid():
    try:
        Model.model_validate({"count": "s3cret-value"})
    except ValidationError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (MCPError(code=-32603, message="bad \x1b[2J thing"), "server-failed", "-32603: bad \\u{1b}[2J thing"),
        (invalid(), "server-failed", "at `count`"),
        (httpx2.ReadTimeout("slow"), "timed-out", "in time"),
        (TimeoutError(), "timed-out", "in time"),
        (httpx2.ConnectError("refused"), "unreachable", "refused"),
        (httpx2.RemoteProtocolError("cut"), "server-failed", "broke: cut"),
        (httpx2.UnsupportedProtocol("no scheme"), "unreachable", "URL"),
        (FileNotFoundError(2, "No such file"), "unreachable", "No such file"),
        (RuntimeError("odd\nthing"), "server-failed", "RuntimeError odd\\nthing"),
        (RuntimeError(), "server-failed", "RuntimeError"),
    ],
)
def test_translations(error, code, words):
    gap = translate("srv", error)
    assert (gap.code, words in gap.why, gap.why.isprintable()) == (code, True, True), gap.why
    assert CODES[gap.code].gate is Gate.NOT_CHECKED
    assert "`srv`" in gap.why


def test_groups_are_unwrapped_and_the_telling_one_wins():
    inner = ExceptionGroup("a", [RuntimeError("noise"), ExceptionGroup("b", [httpx2.ConnectError("refused")])])
    assert [type(item).__name__ for item in leaves(inner)] == ["RuntimeError", "ConnectError"]
    assert translate("srv", inner).code == "unreachable"
    own = CaptureGap("unstable", "why")
    assert translate("srv", ExceptionGroup("c", [httpx2.ConnectError("x"), own])) is own


def test_secrets_are_masked_in_the_outcome():
    gap = CaptureGap("server-failed", "said s3cret-value", "drop s3cret-value")
    outcome = failure("srv", gap, Redactor(["s3cret-value"]))
    assert "s3cret" not in repr(outcome)
    assert (outcome.name, outcome.gap.what, outcome.gap.code) == ("srv", "srv", "server-failed")
    assert "s3cret-value" not in translate("srv", invalid()).why
