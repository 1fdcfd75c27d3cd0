"""Native tools behind URLs: what is sent, what is bounded, and what each status says about the call."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from keel.core.redact import Redactor
from keel.runtime.ports import AnswerLost, NotSent, Reply
from keel.upstream.http_tools import HttpTools


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments: object) -> None: ...

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append((dict(self.headers), body))
        status, answer = self.path.strip("/").split("/")[0], self.server.answer
        if status == "slow":
            time.sleep(1)
            status = "200"
        if status == "cut":
            self.send_response(200)
            self.send_header("content-length", "100")
            self.end_headers()
            self.wfile.write(b"{")
            self.close_connection = True
            return
        self.send_response(int(status))
        self.send_header("content-length", str(len(answer)))
        self.send_header("location", self.server.elsewhere)
        self.end_headers()
        self.wfile.write(answer)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_arguments: object) -> None: ...


def serve() -> Any:
    server = Server(("127.0.0.1", 0), Endpoint)
    server.seen, server.answer, server.elsewhere = [], b"{}", ""
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server


@pytest.fixture
def endpoint() -> Iterator[Any]:
    server = serve()
    yield server
    server.shutdown()
    server.server_close()


def call(endpoint: Any, path: str, timeout_s: float = 5, **options: Any) -> Reply:
    url = f"http://127.0.0.1:{endpoint.server_address[1]}/{path}"

    async def main() -> Reply:
        async with HttpTools({"lookup": url}, **options) as tools:
            assert tools.endpoint("lookup") == url
            return await tools.call("lookup", {"ticket": "T-1"}, idempotency_key="key-1", timeout_s=timeout_s)

    return asyncio.run(main())


def test_the_input_is_posted_with_its_key_and_the_body_is_the_result(endpoint: Any) -> None:
    endpoint.answer = b'{"found": [1, 2]}'
    assert call(endpoint, "200") == Reply(data={"found": [1, 2]})
    ((headers, body),) = endpoint.seen
    assert body == {"input": {"ticket": "T-1"}}
    assert headers["Idempotency-Key"] == "key-1"


@pytest.mark.parametrize("answer", [b"", b"null"])
def test_no_body_is_no_data(endpoint: Any, answer: bytes) -> None:
    endpoint.answer = answer
    assert call(endpoint, "200") == Reply(data=None)


def test_a_complaint_keeps_the_tools_own_code(endpoint: Any) -> None:
    endpoint.answer = b'{"error": {"code": "not_found", "message": "no ticket for s3cret-value"}}'
    reply = call(endpoint, "404", redactor=Redactor(["s3cret-value"]))
    assert (reply.failed, reply.code, reply.message) == (True, "not_found", "no ticket for ‹secret›")
    endpoint.answer = b"<html>"
    assert call(endpoint, "403").code == "403"


@pytest.mark.parametrize(
    ("path", "kind"),
    [("500", AnswerLost), ("503", AnswerLost), ("cut", AnswerLost), ("slow", AnswerLost), ("429", NotSent)],
)
def test_what_became_of_the_call(endpoint: Any, path: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        call(endpoint, path, timeout_s=0.5)


@pytest.mark.parametrize("answer", [b"{", b'{"a":1,"a":2}', b"[" * 500 + b"]" * 500, b"NaN"])
def test_an_answer_that_is_no_plain_json_is_lost(endpoint: Any, answer: bytes) -> None:
    endpoint.answer = answer
    with pytest.raises(AnswerLost):
        call(endpoint, "200")


def test_an_answer_beyond_the_limit_is_lost(endpoint: Any) -> None:
    endpoint.answer = b'"' + b"x" * 100_000 + b'"'
    with pytest.raises(AnswerLost, match="more than 64 KiB"):
        call(endpoint, "200", limit=64 << 10)


@pytest.mark.parametrize(
    ("status", "error"),
    [("301", NotSent), ("307", NotSent), ("308", NotSent), ("302", AnswerLost), ("303", AnswerLost)],
)
def test_no_redirect_is_followed_and_one_after_the_work_is_no_licence_to_repeat_it(
    endpoint: Any, status: str, error: type[Exception]
) -> None:
    other = serve()
    endpoint.elsewhere = f"http://127.0.0.1:{other.server_address[1]}/200"
    with pytest.raises(error, match="redirect"):
        call(endpoint, status)
    assert other.seen == []
    other.shutdown()
    other.server_close()


def test_where_nobody_listens_nothing_was_sent() -> None:
    server = serve()
    server.shutdown()
    server.server_close()
    with pytest.raises(NotSent):
        call(server, "200")


def test_other_tools_run_where_they_ran_before() -> None:
    class Others:
        def endpoint(self, key: str) -> str:
            return f"here:{key}"

        async def call(self, key: str, arguments: Any, *, idempotency_key: str, timeout_s: float) -> Reply:
            return Reply(data=[key, arguments, idempotency_key])

    async def main() -> None:
        async with HttpTools({}, others=Others()) as tools:
            assert tools.endpoint("t") == "here:t"
            assert (await tools.call("t", {"a": 1}, idempotency_key="k", timeout_s=1)).data == ["t", {"a": 1}, "k"]
        async with HttpTools({}) as tools:
            assert tools.endpoint("t") == ""
            with pytest.raises(NotSent):
                await tools.call("t", {}, idempotency_key="k", timeout_s=1)

    asyncio.run(main())
