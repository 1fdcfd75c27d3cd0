"""What an HTTP answer says when it is not the protocol's: 401, 403, 429, 5xx, redirects and web pages told apart."""

from __future__ import annotations

import ssl
from functools import cache
from http import HTTPStatus

import httpx2

from keel.capture.gaps import CaptureGap
from keel.capture.http_body import EVENTS, JSON, media_type
from keel.core.text import escape, excerpt

_DISCOVERY_S = 2.0
"""How long a server may take to say whether it offers OAuth, in seconds."""


@cache
def trust() -> ssl.SSLContext:
    """Return the certificate authorities, read once for all servers: reading takes longer than most answers."""
    return httpx2.create_ssl_context()


async def judge(server: str, response: httpx2.Response) -> CaptureGap | None:
    """Return what an HTTP answer means when it cannot hold an answer of the protocol.

    Args:
        server: name of the server.
        response: its answer; the body is not read.
    """
    who, status = f"`{escape(server)}`", response.status_code
    answered = f"{who} answered {_phrase(status)}"
    if status == HTTPStatus.UNAUTHORIZED:
        return await _unauthorized(who, response)
    if status == HTTPStatus.FORBIDDEN:
        why = f"{answered}: what was sent does not give access"
        return CaptureGap("needs-authentication", why, "correct the credentials in `headers` or `auth`")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        after = response.headers.get("retry-after")
        wait = f"wait {excerpt(after, 40)} s, then try again" if after else "try again later"
        return CaptureGap("server-failed", f"{answered}: it asks for fewer requests", wait, passing=True)
    if response.has_redirect_location:
        return _redirected(answered, response)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        operator = "try again later, or report it to the server's operator"
        return CaptureGap("server-failed", answered, operator, passing=True)
    if status >= HTTPStatus.BAD_REQUEST:
        return _refused(answered, response)
    kind = media_type(response)
    if status == HTTPStatus.OK and kind not in (JSON, EVENTS):
        why = f"{who} answered with `{excerpt(kind or 'no content type', 60)}` instead of the protocol"
        return CaptureGap("server-failed", why, "correct `url`: it is not that of an MCP endpoint")
    return None


def _refused(answered: str, response: httpx2.Response) -> CaptureGap:
    old = response.request.url.path.rstrip("/").endswith("/sse")
    if old and response.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
        why = f"{answered}: its URL looks like the HTTP+SSE transport, which MCP has given up"
        return CaptureGap("transport-unsupported", why, "use the server's streamable HTTP endpoint, often `/mcp`")
    return CaptureGap("server-failed", answered, "correct `url`: it is not that of an MCP endpoint")


async def _unauthorized(who: str, response: httpx2.Response) -> CaptureGap:
    challenge = response.headers.get("www-authenticate", "")
    oauth = "resource_metadata" in challenge or await _offers_oauth(response.request.url)
    note = " and offers OAuth" if oauth else ""
    given = "authorization" in response.request.headers
    sent = "the credentials sent were not accepted" if given else "none were sent"
    why = f"{who} answered 401 Unauthorized: it asks for credentials{note}; {sent}"
    if oauth:
        how = "give `auth: {client_credentials: …}`, or a token in `headers`"
        return CaptureGap("needs-authentication", why, how)
    return CaptureGap("needs-authentication", why, "give a token in `headers`, as a `secret://` reference")


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _redirected(answered: str, response: httpx2.Response) -> CaptureGap:
    """Describe a redirect; one that the SDK follows, within the origin, is forgotten at the next answer."""
    target = response.request.url.join(response.headers["location"]).copy_with(userinfo=b"", query=None, fragment=None)
    why = f"{answered}, to `{excerpt(str(target), 200)}`: it was not followed, so that no credentials leave the origin"
    return CaptureGap("server-failed", why, "if that is the server, make it the `url`")


async def _offers_oauth(url: httpx2.URL) -> bool:
    """Ask for the metadata of a protected resource (RFC 9728 section 3.1), without credentials."""
    place = url.copy_with(userinfo=b"", raw_path=b"/.well-known/oauth-protected-resource", fragment=None)
    try:
        async with httpx2.AsyncClient(timeout=_DISCOVERY_S, verify=trust()) as client:
            answer = await client.get(place)
    except httpx2.HTTPError:
        return False
    return answer.status_code == HTTPStatus.OK and media_type(answer) == JSON
