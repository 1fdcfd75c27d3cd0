"""A raw JSON-RPC server that misbehaves on request: `hostile.py BEHAVIOUR`, over stdio or `--http` on loopback.

Standard library only and no SDK, so that every byte is chosen here. Over HTTP the first line on stdout is the port.
"""

from __future__ import annotations

import argparse
import atexit
import base64
import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
IDENTITY = {"name": "hostile", "version": "1.0"}
OAUTH = ("oauth", "oauth-echo", "oauth-denied")
OAUTH_ID, OAUTH_SECRET, OAUTH_TOKEN = "keel-client", "cl1ent-s3cret", "acc3ss-token-value"
SECRET_VARIABLE = "HOSTILE_SECRET"


def tool(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": SCHEMA, **more}


GOOD = [tool("alpha"), tool("beta")]


def dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def listing(tools: object, **more: object) -> bytes:
    return dump({"tools": tools, **more})


RAW_LISTS = {
    "bad-utf8": b'{"tools":[{"name":"alpha","inputSchema":{}},{"name":"broken","description":"caf\xe9"}]}',
    "repeated-key": b'{"tools":[{"name":"alpha","inputSchema":{}},{"name":"broken","title":"a","title":"b"}]}',
    "huge-number": b'{"tools":[{"name":"alpha","inputSchema":{"maximum":1e400}},'
    b'{"name":"broken","inputSchema":{"maximum":1e4000}}]}',
    "surrogate": b'{"tools":[{"name":"alpha","inputSchema":{}},{"name":"broken","description":"\\ud83d"}]}',
    "digits": b'{"tools":[{"name":"alpha","inputSchema":{}},{"name":"broken","inputSchema":{"maximum":'
    + b"9" * 10_000
    + b"}}]}",
    "deep": b'{"tools":[{"name":"alpha","inputSchema":{}},{"name":"broken","inputSchema":{"enum":'
    + b"[" * 400
    + b"]" * 400
    + b"}}]}",
    "abyss": b'{"tools":[{"name":"alpha","inputSchema":{}},{"name":"broken","inputSchema":{"enum":'
    + b"[" * 10_000
    + b"]" * 10_000
    + b"}}]}",
    "nan": b'{"tools":[{"name":"broken","inputSchema":{"maximum":NaN}}]}',
    "repeated-tools": b'{"tools":[{"name":"alpha","inputSchema":{}}],"tools":[]}',
}
LISTS = {
    "big": lambda: [tool(f"t{index:04}", description="x" * 9000) for index in range(1000)],
    "bad-tool": lambda: [*GOOD, {"name": "broken", "inputSchema": "none", "annotations": 7}, 12, {"title": "nameless"}],
    "same-page-duplicates": lambda: [tool("alpha"), tool("alpha", title="Other")],
    "huge": lambda: [tool("huge", description="x" * 34 * 1024 * 1024)],
    "empty": list,
    "not-a-list": lambda: {"alpha": SCHEMA},
}


class Behaviour:
    """What the server answers to one method, as raw results, errors and extra messages."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lists = 0
        self.waiting: set[str] = set()
        self.list_id: object = None
        self.header = ""

    def answer(self, message: dict[str, object]) -> list[bytes]:
        """Return the messages with which one incoming message is answered."""
        method, request_id = message.get("method"), message.get("id")
        if method is None:
            return self._answered(message)
        if request_id is None:
            return []
        if method == "initialize":
            return [self._initialize(request_id)]
        if method == "server/discover":
            return self._discover(request_id)
        if method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
            return self._list(str(method), request_id, message.get("params") or {})
        return [self.error(request_id, -32601, "Method not found")]

    def _initialize(self, request_id: object) -> bytes:
        if self.name == "modern":
            return self.error(request_id, -32601, "Method not found")
        result: dict[str, object] = {
            "protocolVersion": LEGACY,
            "serverInfo": IDENTITY,
            "capabilities": {"tools": {"listChanged": True}, "x-vendor": {"kept": 1}},
            "instructions": "Be careful.",
        }
        if self.name == "primitives":
            result["capabilities"] = {"tools": {}, "prompts": {}, "resources": {}}
        if self.name == "broken-handshake":
            result["capabilities"] = 7
        if self.name == "old-future":
            result["protocolVersion"] = "1999-01-01"
        if self.name == "echo-instructions":
            result["instructions"] = f"Use {os.environ[SECRET_VARIABLE]}."
        raw = dump(result)
        if self.name == "surrogate-handshake":
            raw = raw.replace(b"careful.", b"careful \\udead")
        return self.result(request_id, raw)

    def _discover(self, request_id: object) -> list[bytes]:
        if self.name == "modern":
            result = {
                "supportedVersions": [MODERN],
                "capabilities": {"tools": {}},
                "instructions": "Be modern.",
                "resultType": "complete",
                "ttlMs": 1000,
                "cacheScope": "public",
                "_meta": {"io.modelcontextprotocol/serverInfo": IDENTITY},
            }
            return [self.result(request_id, dump(result))]
        if self.name == "ignores-unknown":
            return []
        return [self.error(request_id, -32601, "Method not found")]

    def _list(self, method: str, request_id: object, params: dict[str, object]) -> list[bytes]:
        cursor = params.get("cursor")
        self.lists += 1
        if method != "tools/list":
            other = {
                "prompts/list": {"prompts": [{"name": "p", "x": 1}]},
                "resources/list": {"resources": [{"uri": "file:///a", "name": "a"}]},
                "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "file:///{a}", "name": "t"}]},
            }
            return [self.result(request_id, dump(other[method]))]
        if self.name in RAW_LISTS:
            return [self.result(request_id, RAW_LISTS[self.name])]
        if self.name in LISTS:
            return [self.result(request_id, listing(LISTS[self.name]()))]
        special = getattr(self, "_" + self.name.replace("-", "_"), None)
        if special is not None:
            return list(special(request_id, cursor))
        extra = {"ttlMs": 9, "cacheScope": "public", "resultType": "complete"} if self.name == "modern" else {}
        return [self.result(request_id, listing(GOOD, **extra))]

    # paging

    def _two_pages(self, request_id, cursor):
        page = listing([tool("gamma")]) if cursor == "p2" else listing(GOOD, nextCursor="p2")
        yield self.result(request_id, page)

    def _cursor_empty(self, request_id, _cursor):
        yield self.result(request_id, listing(GOOD, nextCursor=""))

    def _cursor_null(self, request_id, _cursor):
        yield self.result(request_id, listing(GOOD, nextCursor=None))

    def _cursor_number(self, request_id, _cursor):
        yield self.result(request_id, listing(GOOD, nextCursor=7))

    def _endless(self, request_id, cursor):
        number = int(cursor or 0)
        yield self.result(request_id, listing([tool(f"t{number}")], nextCursor=str(number + 1)))

    def _repeating(self, request_id, _cursor):
        yield self.result(request_id, listing(GOOD, nextCursor="again"))

    def _growing(self, request_id, cursor):
        yield self.result(request_id, listing([], nextCursor=(cursor or "c") * 2))

    def _flood(self, request_id, cursor):
        number = int(cursor or 0)
        page = [tool(f"t{number + index}") for index in range(5000)]
        yield self.result(request_id, listing(page, nextCursor=str(number + 5000)))

    def _duplicates_equal(self, request_id, cursor):
        page = listing([tool("alpha", title=None)]) if cursor else listing(GOOD, nextCursor="2")
        yield self.result(request_id, page)

    def _duplicates_different(self, request_id, cursor):
        page = listing([tool("alpha", title="Other")]) if cursor else listing(GOOD, nextCursor="2")
        yield self.result(request_id, page)

    # changes

    def _changed_between(self, request_id, cursor):
        if cursor is None:
            yield self.result(request_id, listing(GOOD, nextCursor="2"))
            if self.lists == 1:
                yield self.changed()
        else:
            yield self.result(request_id, listing([tool("gamma" if self.lists > 2 else "stale")]))

    def _changed_always(self, request_id, _cursor):
        yield self.changed()
        yield self.result(request_id, listing([tool(f"t{self.lists}")]))

    def _chatty(self, request_id, _cursor):
        yield self.changed()
        yield self.result(request_id, listing(GOOD))

    def _empty_then_full(self, request_id, _cursor):
        yield self.result(request_id, listing(GOOD if self.lists > 1 else []))
        if self.lists == 1:
            yield self.changed()

    # what differs by machine

    def _time_zone(self, request_id, _cursor):
        text = f"Use '{os.environ.get('TZ', 'Etc/UTC')}' as local time zone."
        yield self.result(request_id, listing([tool("alpha", description=text)]))

    def _home(self, request_id, _cursor):
        text = f"Works in {Path.cwd()}"
        yield self.result(request_id, listing([tool("alpha", description=text)]))

    def _set_order(self, request_id, _cursor):
        text = "One of " + ", ".join({"red", "green", "blue", "cyan", "pink", "grey", "gold", "teal"})
        yield self.result(request_id, listing([tool("alpha", description=text)]))

    # errors and questions

    def _list_error(self, request_id, _cursor):
        yield self.error(request_id, -32603, "database \x1b[31m is down")

    def _slow_list(self, request_id, _cursor):
        time.sleep(1)
        yield self.result(request_id, listing(GOOD))

    def _oauth_echo(self, request_id, _cursor):
        yield self.error(request_id, -32000, f"who is {self.header}?")

    def _list_garbage(self, request_id, _cursor):
        yield self.result(request_id, b'"hello"')

    def _crash_list(self, _request_id, _cursor):
        print("about to fail", os.environ.get(SECRET_VARIABLE, ""), file=sys.stderr, flush=True)
        os._exit(4)

    def _echo_secret(self, request_id, _cursor):
        yield self.result(request_id, listing([tool("alpha", description=os.environ[SECRET_VARIABLE])]))

    def _asks(self, request_id, _cursor):
        self.list_id = request_id
        for number, method in enumerate(("roots/list", "sampling/createMessage", "ping", "x/unknown")):
            self.waiting.add(f"q{number}")
            question = {"jsonrpc": "2.0", "id": f"q{number}", "method": method}
            if method.startswith("sampling"):
                question["params"] = {"messages": [], "maxTokens": 1}
            yield dump(question)

    def _answered(self, message: dict[str, object]) -> list[bytes]:
        self.waiting.discard(str(message.get("id")))
        if self.list_id is None or self.waiting:
            return []
        request_id, self.list_id = self.list_id, None
        return [self.result(request_id, listing(GOOD))]

    @staticmethod
    def result(request_id: object, raw: bytes) -> bytes:
        return b'{"jsonrpc":"2.0","id":' + dump(request_id) + b',"result":' + raw + b"}"

    @staticmethod
    def error(request_id: object, code: int, message: str) -> bytes:
        return dump({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}})

    @staticmethod
    def changed() -> bytes:
        return dump({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})


def say(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def alone() -> None:
    """Hold a lock file for a while, so that two at once cannot run; never removed by a process that is killed."""
    try:
        os.close(os.open(os.environ["HOSTILE_LOCK"], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        sys.exit(6)
    time.sleep(0.3)
    atexit.register(os.unlink, os.environ["HOSTILE_LOCK"])


def sleeper() -> None:
    """Leave a child behind that holds all three pipes."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])


def before_stdio(name: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one branch a behaviour
    if name == "noise":
        say(b"== MyServer 3 ==\n\nReady \x1b[31m\n")
    elif name == "json-noise":
        say(b'{"level":"info","msg":"up"}\n[1,2]\n42\n{"jsonrpc":"2.0"}\n{"jsonrpc":"1.0","id":1,"result":{}}\n')
    elif name == "binary-noise":
        say(b"\xff\xfe\x00\n" + b"\x00" * 100 + b"\n")
    elif name == "slow-start":
        time.sleep(1.0)
    elif name == "crash-start":
        print("ImportError: no module named", os.environ.get(SECRET_VARIABLE, "x"), file=sys.stderr, flush=True)
        sleeper()
        os._exit(3)
    elif name == "only-here" and "TZ" in os.environ:
        sys.exit(5)
    elif name == "one-at-a-time":
        alone()
    elif name == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif name == "stderr-flood":
        sys.stderr.write("log line\n" * 200_000)
        sys.stderr.flush()
    elif name == "long-line":
        for _ in range(40):
            say(b"x" * 1024 * 1024)
    elif name in ("stubborn", "stubborn-family"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if name == "stubborn-family":
            ignore = "import signal,time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
            subprocess.Popen([sys.executable, "-c", ignore])
    elif name in ("grandchild", "grandchild-silence"):
        sleeper()
    elif name == "daemon":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    elif name == "closes-stdout":
        os.close(1)
        time.sleep(600)


def serve_stdio(name: str) -> None:
    behaviour = Behaviour(name)
    before_stdio(name)
    for line in sys.stdin.buffer:
        if name in ("silence", "grandchild-silence"):
            continue
        for reply in behaviour.answer(json.loads(line)):
            say(reply + b"\n")
            if name in ("noise", "json-noise"):
                say(b"chatter between messages\n")
    if name.startswith("stubborn"):
        time.sleep(600)
    if name == "fails-at-close":
        raise SystemExit(9)


class Handler(BaseHTTPRequestHandler):
    """The same behaviours over streamable HTTP, and those that only HTTP can have."""

    protocol_version = "HTTP/1.1"
    behaviour: Behaviour
    sse = False
    elsewhere = ""
    challenges: ClassVar[dict[str, str]] = {}

    def log_message(self, *_arguments: object) -> None: ...

    def do_GET(self) -> None:
        if self.path.startswith("/.well-known/oauth-protected-resource") and self.behaviour.name == "401-oauth":
            self.reply(200, b'{"resource":"x","authorization_servers":["http://127.0.0.1:9"]}')
        elif self.behaviour.name in OAUTH and self.path.startswith("/authorize?"):
            self.authorize()
        elif self.behaviour.name in OAUTH and self.path in self.metadata():
            self.reply(200, dump(self.metadata()[self.path]))
        else:
            self.reply(405 if self.path == "/mcp" else 404, b"", "text/plain")

    def base(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def metadata(self) -> dict[str, object]:
        """The documents of RFC 9728 and RFC 8414 for a resource that is its own authorization server."""
        return {
            "/.well-known/oauth-protected-resource/mcp": {
                "resource": f"{self.base()}/mcp",
                "authorization_servers": [self.base()],
            },
            "/.well-known/oauth-authorization-server": {
                "issuer": self.base(),
                "authorization_endpoint": f"{self.base()}/authorize",
                "token_endpoint": f"{self.base()}/token",
                "response_types_supported": ["code"],
                "registration_endpoint": f"{self.base()}/register",
                "code_challenge_methods_supported": ["S256"],
                "grant_types_supported": ["client_credentials", "authorization_code"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            },
        }

    def token(self, body: bytes) -> None:
        """Answer the client-credentials grant (RFC 6749 section 4.4)."""
        form = urllib.parse.parse_qs(body.decode())
        kind, _, packed = self.headers.get("authorization", "").partition(" ")
        client = base64.b64decode(packed).decode() if kind == "Basic" else ""
        verifier = hashlib.sha256(form.get("code_verifier", [""])[0].encode()).digest()
        proven = base64.urlsafe_b64encode(verifier).decode().rstrip("=") == self.challenges.get(
            form.get("code", [""])[0]
        )
        known = form.get("grant_type") == ["client_credentials"] and client == f"{OAUTH_ID}:{OAUTH_SECRET}"
        if known or (form.get("grant_type") == ["authorization_code"] and proven):
            self.reply(200, dump({"access_token": OAUTH_TOKEN, "token_type": "Bearer", "expires_in": 600}))
        else:
            self.reply(401, b'{"error":"invalid_client"}')

    def authorize(self) -> None:
        """Let everybody in: send the browser back with a code (RFC 6749 section 4.1.2)."""
        query = {
            name: value[0] for name, value in urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).items()
        }
        if "denied" in self.behaviour.name:
            self.reply(
                302,
                b"",
                "text/plain",
                {"location": f"{query['redirect_uri']}?error=access_denied&state={query['state']}"},
            )
            return
        self.challenges["c0de"] = query["code_challenge"]
        back = urllib.parse.urlencode({"code": "c0de", "state": query["state"]})
        self.reply(302, b"", "text/plain", {"location": f"{query['redirect_uri']}?{back}"})

    def register(self, body: bytes) -> None:
        """Register any client (RFC 7591)."""
        self.reply(201, dump({**json.loads(body), "client_id": OAUTH_ID}))

    def do_DELETE(self) -> None:
        if self.behaviour.name == "slow-delete":
            time.sleep(30)
        self.reply(200, b"", "text/plain")

    def do_POST(self) -> None:  # noqa: C901 - one branch a behaviour
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        name = self.behaviour.name
        plain = {"403": 403, "404": 404, "500": 500, "502": 502}
        self.behaviour.header = self.headers.get("authorization", "")
        if name in OAUTH and self.path in ("/token", "/register"):
            (self.token if self.path == "/token" else self.register)(body)
        elif (name in OAUTH and self.headers.get("authorization") != f"Bearer {OAUTH_TOKEN}") or name in (
            "401",
            "401-oauth",
        ):
            self.reply(401, b"no", "text/plain", {"www-authenticate": "Bearer"})
        elif name in plain:
            self.reply(plain[name], b"<html>oops</html>", "text/html")
        elif name == "599":
            self.reply(599, b"", "text/plain")
        elif name == "400-words":
            self.reply(400, Behaviour.error(None, -32600, "no such door"))
        elif name == "404-json":
            self.reply(404, b'{"detail":"Not Found"}')
        elif name == "429":
            self.reply(429, b"slow", "text/plain", {"retry-after": "30"})
        elif name == "html":
            self.reply(200, b"<!doctype html><h1>Welcome</h1>", "text/html")
        elif name == "redirect-same" and self.path == "/mcp":
            self.reply(307, b"", "text/plain", {"location": "/mcp/"})
        elif name == "redirect-cross":
            self.reply(307, b"", "text/plain", {"location": f"{self.elsewhere}/mcp?token=t"})
        elif name == "redirect-loop":
            self.reply(307, b"", "text/plain", {"location": "/mcp"})
        else:
            self.message(json.loads(body))

    def message(self, message: dict[str, object]) -> None:
        name = self.behaviour.name
        replies = self.behaviour.answer(message)
        if "id" not in message or "method" not in message:
            self.reply(202, b"", "text/plain")
        elif name == "sse-endless" and message["method"] == "tools/list":
            self.begin_sse()
            while self.chunk(b": still here\n\n"):
                time.sleep(0.05)
        elif name == "sse-cut" and message["method"] == "tools/list":
            self.begin_sse()
            self.chunk(b"data: {")
            self.close_connection = True
        elif self.sse or name == "sse-crlf":
            self.begin_sse()
            end = b"\r\n" if name == "sse-crlf" else b"\n"
            for reply in replies:
                text = b"event: message" + end + b"id: 1" + end + b"data: " + reply + end + end
                for start in range(0, len(text), 300_000):
                    self.chunk(text[start : start + 300_000])
            self.chunk(b"")
        else:
            if name == "gzip":
                self.reply(200, gzip.compress(replies[-1]), "application/json", {"content-encoding": "gzip"})
                return
            extra = {"mcp-session-id": "s1"} if message["method"] == "initialize" and name == "slow-delete" else {}
            self.reply(200, replies[-1] if replies else b"", "application/json", extra)

    def begin_sse(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def chunk(self, data: bytes) -> bool:
        try:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        except OSError:
            self.close_connection = True
            return False
        return True

    def reply(
        self, status: int, body: bytes, kind: str = "application/json", extra: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for header, value in (extra or {}).items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_arguments: object) -> None: ...


def http_server(name: str, *, sse: bool = False, elsewhere: str = "") -> tuple[Server, list[str]]:
    """Start a server on a free loopback port in a thread; returns it and the list of requests it has seen."""
    seen: list[str] = []

    class Bound(Handler):
        def do_POST(self) -> None:
            seen.append(f"POST {self.path} {self.headers.get('authorization', '-')}")
            super().do_POST()

        def do_GET(self) -> None:
            seen.append(f"GET {self.path}")
            super().do_GET()

    Bound.behaviour, Bound.sse, Bound.elsewhere = Behaviour(name), sse, elsewhere
    server = Server(("127.0.0.1", 0), Bound)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server, seen


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("behaviour")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--sse", action="store_true")
    options = parser.parse_args()
    if not options.http:
        serve_stdio(options.behaviour)
        return
    server, _ = http_server(options.behaviour, sse=options.sse)
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
