"""Why a server could not be looked at: foreign exceptions become one code, one sentence and one next step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from keel.core.finding import Finding, NotChecked
from keel.core.launch import Failure
from keel.core.redact import Redactor
from keel.core.text import escape


@dataclass(eq=False)
class CaptureGap(Exception):
    """A capture that cannot be completed.

    Args:
        code: a could-not-check code.
        why: one sentence; may hold escaped server text, and secrets until `failure` masks them.
        next: what to do.
        passing: whether trying again may help.
        findings: errors in an input file.
    """

    code: str
    why: str
    next: str = ""
    passing: bool = False
    """Whether the same attempt may well succeed a moment later."""
    findings: tuple[Finding, ...] = ()
    """Errors in an input file, each with its place."""

    def __str__(self) -> str:
        return self.why


def failure(name: str, gap: CaptureGap, redactor: Redactor) -> Failure:
    """Return the gap as the outcome of one server, every secret masked."""
    why, next_ = redactor.clean(gap.why), redactor.clean(gap.next)
    return Failure(name, NotChecked(what=name, code=gap.code, why=why, next=next_), gap.findings)


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions inside nested exception groups."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def translate(name: str, error: BaseException) -> CaptureGap:
    """Turn whatever the SDK, the HTTP client or the system raised into a gap."""
    found = list(leaves(error))
    for item in found:
        if isinstance(item, CaptureGap):
            return item
    gaps = [gap for gap in (_known(name, item) for item in found) if gap is not None]
    if gaps:
        return gaps[0]
    first = found[0]
    text = escape(str(first))[:300]
    return CaptureGap("server-failed", f"`{escape(name)}` could not be read: {type(first).__name__} {text}".rstrip())


def _known(name: str, error: BaseException) -> CaptureGap | None:
    import httpx2  # noqa: PLC0415 - heavy
    from mcp.client.auth import OAuthFlowError  # noqa: PLC0415 - heavy
    from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - heavy
    from pydantic import ValidationError  # noqa: PLC0415 - heavy

    who = f"`{escape(name)}`"
    if isinstance(error, MCPError):
        text = escape(str(error.error.message))[:300]
        return CaptureGap("server-failed", f"{who} answered with error {error.error.code}: {text}", _ASK_AUTHOR)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        what = f"{who} answered with something that is not the protocol: {escape(first['msg'])} at `{escape(place)}`"
        return CaptureGap("server-failed", what, _ASK_AUTHOR)
    if isinstance(error, OAuthFlowError):
        why = f"{who} gave no access token: {escape(str(error))[:300]}"
        return CaptureGap("needs-authentication", why, "correct `auth.client_credentials`")
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        return CaptureGap("timed-out", f"{who} did not answer in time ({type(error).__name__})", passing=True)
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return CaptureGap("unreachable", f"the URL of {who} cannot be used: {escape(str(error))[:300]}")
    if isinstance(error, httpx2.TransportError):
        return _transport(who, error)
    if isinstance(error, OSError):
        return CaptureGap("unreachable", f"{who} cannot be reached: {escape(error.strerror or str(error))}")
    return None


_ASK_AUTHOR = "report it to the server's author"


def _transport(who: str, error: Exception) -> CaptureGap:
    import httpx2  # noqa: PLC0415 - heavy

    text = escape(str(error))[:300] or type(error).__name__
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return CaptureGap("unreachable", f"{who} cannot be reached: {text}", passing=True)
    return CaptureGap("server-failed", f"the connection to {who} broke: {text}", passing=True)
