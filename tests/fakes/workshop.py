"""A raw MCP server with tools that work, wait, die, flood and change: `workshop.py [--modern] [JOURNAL]`, over stdio;
`http_workshop` serves the same over HTTP in a thread.

Standard library only and no SDK, so that every byte is chosen here. Every call is written to the journal before it is
answered, one JSON object a line, so that tests can count effects and see what reached the server.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TEXT = {"type": "object", "properties": {"text": {"type": "string"}, "delay": {"type": "number"}}, "required": ["text"]}
NONE = {"type": "object", "properties": {}, "additionalProperties": False}
SIZE = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
ECHOED = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def tool(name: str, schema: dict[str, object], **more: object) -> dict[str, object]:
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema, **more}


TOOLS = [
    tool("echo", TEXT, outputSchema=ECHOED, title="Echo", annotations={"readOnlyHint": True}),
    tool("say", TEXT),
    tool("die", NONE),
    tool("flood", SIZE),
    tool("deep", SIZE),
    tool("change", NONE),
    tool("rename", NONE),
    tool("fail", TEXT),
    tool("refuse", NONE),
    tool("leak", NONE),
    tool("stray", NONE),
    tool("garbage", NONE),
    tool("deaf", NONE),
]


class Workshop:
    def __init__(self, modern: bool, journal: str) -> None:
        self.modern = modern
        self.journal = journal
        self.lock = threading.Lock()
        self.renamed = False

    def send(self, message: object) -> None:
        self.raw(json.dumps(message).encode())

    def raw(self, line: bytes) -> None:
        with self.lock:
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()

    def note(self, **event: object) -> None:
        if self.journal:
            with self.lock, Path(self.journal).open("a", encoding="utf-8") as file:
                file.write(json.dumps(event) + "\n")

    def result(self, request_id: object, result: dict[str, object]) -> None:
        if self.modern:
            result = {"resultType": "complete", **result}
        self.send({"jsonrpc": "2.0", "id": request_id, "result": result})

    def error(self, request_id: object, code: int, message: str) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}})

    def tools(self) -> list[dict[str, object]]:
        if not self.renamed:
            return TOOLS
        return [{**item, "name": "echo2"} if item["name"] == "echo" else item for item in TOOLS]

    def heard(self, message: dict[str, object]) -> None:
        method, request_id = message.get("method"), message.get("id")
        if method == "notifications/cancelled":
            self.note(cancelled=message["params"]["requestId"])
        if request_id is None or method is None:
            return
        name = f"_{str(method).replace('/', '_')}"
        handler = getattr(self, name, None)
        if handler is None:
            self.error(request_id, -32601, "Method not found")
        else:
            handler(request_id, message.get("params") or {})

    def _initialize(self, request_id, _params):
        if self.modern:
            self.error(request_id, -32601, "Method not found")
            return
        hello = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "workshop", "version": "1.0"}}
        self.result(request_id, {**hello, "capabilities": {"tools": {"listChanged": True}}})

    def _server_discover(self, request_id, _params):
        if not self.modern:
            self.error(request_id, -32601, "Method not found")
            return
        meta = {"io.modelcontextprotocol/serverInfo": {"name": "workshop", "version": "1.0"}}
        more = {"ttlMs": 0, "cacheScope": "private", "_meta": meta}
        self.result(
            request_id, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}, **more}
        )

    def _tools_list(self, request_id, _params):
        more = {"ttlMs": 0, "cacheScope": "private"} if self.modern else {}
        self.result(request_id, {"tools": self.tools(), **more})

    def _subscriptions_listen(self, request_id, _params):
        meta = {"io.modelcontextprotocol/subscriptionId": request_id}
        params = {"_meta": meta, "notifications": {"toolsListChanged": True}}
        self.listening = request_id
        self.send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})

    def _tools_call(self, request_id, params):
        self.note(called=params["name"], arguments=params.get("arguments"), meta=params.get("_meta"), pid=os.getpid())
        work = getattr(self, f"do_{params['name']}", None)
        if work is None:
            self.error(request_id, -32602, f"Unknown tool: {params['name']}")
            return
        threading.Thread(target=work, args=(request_id, params.get("arguments") or {}), daemon=True).start()

    def text(self, request_id, text, **more):
        self.result(request_id, {"content": [{"type": "text", "text": text}], **more})

    def changed(self):
        meta = (
            {"_meta": {"io.modelcontextprotocol/subscriptionId": getattr(self, "listening", None)}}
            if self.modern
            else {}
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": meta})

    def do_echo(self, request_id, arguments):
        time.sleep(arguments.get("delay", 0))
        text = arguments["text"]
        self.text(request_id, text, structuredContent={"text": text}, _meta={"cursor": "upstream-cursor"})

    def do_say(self, request_id, arguments):
        time.sleep(arguments.get("delay", 0))
        self.text(request_id, arguments["text"])

    def do_die(self, request_id, _arguments):
        os.kill(os.getpid(), signal.SIGKILL)

    def do_flood(self, request_id, arguments):
        self.text(request_id, "x" * arguments["size"])

    def do_deep(self, request_id, arguments):
        depth = arguments["size"]
        body = b"[" * depth + b"]" * depth
        self.raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":{"a":%s}}}' % (request_id, body))

    def do_change(self, request_id, _arguments):
        self.changed()
        self.text(request_id, "changed")

    def do_rename(self, request_id, _arguments):
        self.renamed = True
        self.changed()
        self.text(request_id, "renamed")

    def do_fail(self, request_id, arguments):
        self.text(request_id, arguments["text"], isError=True, structuredContent={"code": "not_found"})

    def do_refuse(self, request_id, _arguments):
        self.error(request_id, -32602, "no such thing")

    def do_leak(self, request_id, _arguments):
        self.text(request_id, f"the key is {os.environ.get('WORKSHOP_KEY', '')}", isError=True)

    def do_stray(self, request_id, _arguments):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self.text(request_id, str(child.pid))

    def do_garbage(self, request_id, _arguments):
        self.raw(b'{"jsonrpc":"2.0","id":%d,"result":{{{' % request_id)

    def do_deaf(self, request_id, _arguments):
        pass


class OverHttp(Workshop):
    """Answers one request, in the thread that received it."""

    def __init__(self, modern: bool, door: Door) -> None:
        super().__init__(modern, "")
        self.door = door

    def raw(self, line: bytes) -> None:
        (self.door.hold if b"subscriptions/acknowledged" in line else self.door.answer)(line)

    def _tools_call(self, request_id, params):
        self.door.server.calls.append(params)
        name, arguments = params["name"], params.get("arguments") or {}
        if name == "say" and str(arguments["text"]).startswith("status "):
            self.door.plain(int(arguments["text"].split()[1]))
        elif name == "say" and arguments["text"] == "cut":
            self.door.cut()
        else:
            getattr(self, f"do_{name}")(request_id, arguments)


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments: object) -> None: ...

    def do_POST(self) -> None:
        self.server.seen.append(dict(self.headers))
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.server.elsewhere:
            self.plain(307, location=self.server.elsewhere)
        elif "id" not in message:
            self.plain(202)
        else:
            OverHttp(self.server.modern, self).heard(message)

    def do_GET(self) -> None:
        self.plain(405)

    def do_DELETE(self) -> None:
        self.plain(405)

    def hold(self, line: bytes) -> None:
        """Answer with a stream of events that stays open."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"data: " + line + b"\n\n")
        self.wfile.flush()
        self.server.closing.wait()
        self.close_connection = True

    def plain(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-length": "0", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def answer(self, line: bytes) -> None:
        body = b"event: message\ndata: " + line + b"\n\n" if self.server.sse else line
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if self.server.sse else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def cut(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if self.server.sse else "application/json")
        self.send_header("content-length", "1000")
        self.end_headers()
        self.wfile.write(b'{"jsonrpc"')
        self.close_connection = True


class Hall(ThreadingHTTPServer):
    block_on_close = False
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, *_arguments: object) -> None: ...

    def server_close(self) -> None:
        self.closing.set()
        super().server_close()


def http_workshop(*, modern: bool = False, sse: bool = False, elsewhere: str = "") -> Hall:
    """Serve on a free loopback port; `seen` holds headers, `calls` the parameters of calls."""
    hall = Hall(("127.0.0.1", 0), Door)
    hall.modern, hall.sse, hall.elsewhere, hall.seen, hall.calls = modern, sse, elsewhere, [], []
    hall.closing = threading.Event()
    threading.Thread(target=hall.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return hall


def main() -> None:
    words = sys.argv[1:]
    modern = "--modern" in words
    journal = next((word for word in words if not word.startswith("--")), "")
    workshop = Workshop(modern, journal)
    if "--stubborn" in words:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    workshop.note(started=os.getpid())
    for line in sys.stdin.buffer:
        workshop.heard(json.loads(line))
    if "--stubborn" in words:
        time.sleep(600)


if __name__ == "__main__":
    main()
