"""Native tools behind URLs: `POST {"input": …}` with an idempotency key; the answer is the JSON body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import anyio
import httpx2

from keel.capture.http_status import trust
from keel.core.jsontext import Fault, JsonSyntaxError, parse
from keel.core.model import Json
from keel.core.redact import Redactor
from keel.core.text import escape, size
from keel.runtime.ports import AnswerLost, NativeTools, NotSent, Reply
from keel.upstream.http import LIMITS, Abandoned, watch
from keel.upstream.reply import missing
from keel.upstream.ticket import Ticket

BODY_LIMIT = 16 * 1024 * 1024
"""Longest body that is read, in bytes."""
_ELSEWHERE = frozenset({HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT})
"""The redirects that say that the tool is elsewhere, so that nothing was done here (RFC 9110 section 15.4)."""
IDEMPOTENCY_HEADER = "Idempotency-Key"
"""The same operation sent again carries the same value (IETF draft-ietf-httpapi-idempotency-key-header)."""


class HttpTools(NativeTools):
    """Calls native tools at endpoints that the operator names; an async context manager.

    Args:
        urls: endpoint by tool key.
        redactor: cleans every message.
        limit: longest body, in bytes.
        others: calls the native tools that have no endpoint.
    """

    def __init__(
        self,
        urls: Mapping[str, str],
        *,
        redactor: Redactor | None = None,
        limit: int = BODY_LIMIT,
        others: NativeTools | None = None,
    ) -> None:
        self._urls = dict(urls)
        self._redactor = redactor if redactor is not None else Redactor()
        self._limit = limit
        self._others = others
        self._client: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        plain = {"user-agent": "keel", "accept": "application/json", "accept-encoding": "identity"}
        # The deadline is the call's; redirects are not followed, so nothing that is sent changes its origin.
        client = httpx2.AsyncClient(headers=plain, verify=trust(), timeout=None, limits=LIMITS, follow_redirects=False)
        self._client = await client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._client is not None
        await self._client.__aexit__(kind, error, trace)
        self._client = None

    def endpoint(self, key: str) -> str:
        """Return the URL that a call goes to; empty in this process."""
        return self._urls.get(key) or (self._others.endpoint(key) if self._others is not None else "")

    async def call(self, key: str, arguments: Mapping[str, Json], *, idempotency_key: str, timeout_s: float) -> Reply:
        """Call a tool and wait for its answer; raises as `Upstream.call` does."""
        url = self._urls.get(key)
        if url is None and self._others is not None:
            return await self._others.call(key, arguments, idempotency_key=idempotency_key, timeout_s=timeout_s)
        if url is None or self._client is None:
            raise NotSent(f"native tool `{escape(key)}` has no endpoint", hint=f"give `--tool-url {escape(key)}=URL`")
        request = self._client.build_request(
            "POST", url, json={"input": dict(arguments)}, headers={IDEMPOTENCY_HEADER: idempotency_key}
        )
        ticket = Ticket(0)
        request.extensions = {**request.extensions, "trace": watch(ticket)}
        why = f"nothing came within {timeout_s:.3g} s"
        with anyio.move_on_after(timeout_s):
            try:
                return await self._ask(self._client, request)
            except (httpx2.TransportError, Abandoned) as error:
                why = self._redactor.clean(escape(str(error))) or type(error).__name__
        raise missing(ticket, why)

    async def _ask(self, client: httpx2.AsyncClient, request: httpx2.Request) -> Reply:
        response = await client.send(request, stream=True)
        try:
            return self._judged(response.status_code, await self._body(response))
        finally:
            await response.aclose()

    async def _body(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self._limit:
                raise AnswerLost(f"it answered with more than {size(self._limit)}")
        return bytes(body)

    def _judged(self, status: int, body: bytes) -> Reply:
        who = f"it answered {status}"
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise AnswerLost(f"{who}: what became of the call is not known")
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            raise NotSent(f"{who}: it asks for fewer requests")
        if status in _ELSEWHERE:
            raise NotSent(f"{who}: a redirect is not followed", hint="give the URL that it leads to")
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            # Many applications answer 303, or 302, once a POST has done its work (RFC 9110 section 15.4.4).
            raise AnswerLost(f"{who}: a redirect is not followed, and what became of the call is not known")
        value, readable = _value(body)
        if status >= HTTPStatus.BAD_REQUEST:
            code, message = _complaint(value)
            words = self._redactor.clean(message)
            return Reply(data=value, failed=True, code=self._redactor.clean(code) or str(status), message=words or who)
        if not readable:
            raise AnswerLost(f"{who} with something that is not JSON")
        return Reply(data=value)


def _value(body: bytes) -> tuple[Json, bool]:
    if not body.strip():
        return None, True
    try:
        value, faults = parse(body)
    except JsonSyntaxError:
        return None, False
    if any(item.fault is not Fault.LONE_SURROGATE for item in faults):
        return None, False
    return (json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) if faults else value), True


def _complaint(value: Any) -> tuple[str, str]:
    """Return a failed tool's own code and words, where it sent them in one of the usual places."""
    inner = value.get("error") if isinstance(value, dict) else None
    for place in (inner, value):
        if isinstance(place, dict) and isinstance(place.get("code"), str | int):
            return str(place["code"]), str(place.get("message", ""))
    return "", str(inner) if isinstance(inner, str) else ""
