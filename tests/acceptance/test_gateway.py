"""The gateway as clients meet it: both eras, both transports, published servers, and everything that goes wrong."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp_types import ElicitResult

from keel.manifest.clients import parse_client
from tests.acceptance.gateways import GRANTS, Bundled, code_of, greet, hear, http_client, run, speak
from tests.acceptance.harness import Keel, put

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
SECRET = "s3cret-of-the-gateway"
CURIOUS = Path(__file__).parents[1] / "fakes" / "curious.py"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    return Bundled(Keel(tmp_path_factory.mktemp("gateway")), secret=SECRET)


@ERAS
def test_a_client_sees_frozen_tools_and_every_outcome(shared: Bundled, mode: str) -> None:
    async def main() -> None:
        async with shared.client(mode) as client:
            version = {"legacy": "2025-11-25", "auto": "2026-07-28"}[mode]
            assert client.protocol_version == version
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == sorted(names)
            assert "w__echo" in names
            assert "w__garbage" not in names  # frozen, and not granted
            done = await client.call_tool("w__echo", {"text": "hi"})
            assert (done.structured_content, done.is_error) == ({"text": "hi"}, False)
            assert done.meta["keel/trust"] == "untrusted"
            assert "upstream-cursor" not in done.model_dump_json()
            assert (await client.call_tool("w__say", {"text": "hi"})).content[0].text == "hi"
            assert code_of(await client.call_tool("w__leak", {"tenant": "other"})) == "invalid_arguments"
            assert code_of(await client.call_tool("w__nope", {})) == "unknown_tool"
            assert code_of(await client.call_tool("w/echo", {"text": "x"})) == "unknown_tool"
            leaked = await client.call_tool("w__leak", {})
            assert (code_of(leaked), SECRET in leaked.model_dump_json()) == ("tool_failed", False)
            cut = await client.call_tool("w__flood", {"size": 300_000})
            assert (cut.meta["keel/truncated"], len(cut.content[0].text) <= 65536) == (True, True)
            assert code_of(await client.call_tool("w__flood", {"size": 50 << 20})) == "timeout"
            asked = await client.call_tool("w__fail", {"text": "x"})
            assert code_of(asked) == "approval_required"
            assert "keel approve" in asked.content[0].text

    run(main)
    assert shared.gone()


@ERAS
def test_500_concurrent_calls_to_a_slow_server_lose_and_mix_nothing(shared: Bundled, mode: str) -> None:
    async def main() -> list[Any]:
        async with shared.client(mode) as client:
            calls = (client.call_tool("w__echo", {"text": str(index), "delay": 0.5}) for index in range(500))
            return await asyncio.gather(*calls)

    before = len(shared.events("called"))
    assert [item.structured_content for item in run(main)] == [{"text": str(index)} for index in range(500)]
    assert len(shared.events("called")) - before == 500


@ERAS
def test_http_serves_both_eras_and_many_clients(shared: Bundled, mode: str) -> None:
    with shared.http() as (url, token):

        async def main() -> None:
            async with http_client(url, token, mode) as one, http_client(url, token, mode) as other:
                assert (await one.list_tools()).tools == (await other.list_tools()).tools
                calls = [client.call_tool("w__echo", {"text": str(n), "delay": 0.1}) for n in range(50) for client in (one, other)]  # fmt: skip
                texts = [item.structured_content["text"] for item in await asyncio.gather(*calls)]
                assert texts == [str(n) for n in range(50) for _ in (1, 2)]

        run(main)
    assert shared.gone()


def test_a_session_that_a_client_makes_up_does_not_count_anew(keel: Keel) -> None:
    bundled = Bundled(keel, grants=GRANTS.replace("returns: untrusted}", "returns: untrusted, max_calls: 2}"))
    with bundled.http() as (url, token):

        async def main() -> list[str | None]:
            codes = []
            for number in range(4):
                async with http_client(url, token, "auto", session=f"made-up-{number}") as client:
                    codes.append(code_of(await client.call_tool("w__echo", {"text": str(number)})))
            return codes

        assert run(main) == [None, None, "budget_exceeded", "budget_exceeded"]


def test_over_http_who_does_not_know_host_origin_and_token_gets_nothing(shared: Bundled) -> None:
    with shared.http("--max-request-bytes", "2048") as (url, token):
        good = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}

        def status(body: str = "{}", **headers: str) -> int:
            sent = {"content-type": "application/json", **good, **headers}
            return httpx2.post(url, content=body, headers=sent, timeout=10).status_code

        assert status() == 400
        assert status(host="evil.example") == 421
        assert status(origin="http://evil.example") == 403
        assert status(origin="null") == 403
        assert status(authorization="Bearer nope") == 401
        assert status(authorization="") == 401
        assert status(json.dumps({"a": "x" * 4096})) == 413
        assert httpx2.get(url.replace("/mcp", "/"), headers=good, timeout=10).status_code == 404


def test_a_token_is_taken_from_where_it_is_kept_and_not_printed(shared: Bundled, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a-token-kept-in-a-file\n")
    with shared.process("--http", "0", "--token-file", str(tmp_path / "token")) as process:
        said = process.stderr.readline().decode()
        url = said.split(" at ")[1].split()[0]
        assert "token" not in said
        answer = httpx2.post(url, json={}, headers={"authorization": "Bearer a-token-kept-in-a-file"}, timeout=10)
        assert answer.status_code != 401
    (tmp_path / "token").write_text("short")
    done = shared.keel("serve", "b.keel", "--allow-unsigned", "--http", "0", "--token-file", str(tmp_path / "token"))
    assert (done.code, done.out) == (2, "")


@ERAS
def test_drift_blocks_and_never_reaches_the_client(keel: Keel, mode: str) -> None:
    bundled = Bundled(keel)

    async def main() -> None:
        async with bundled.client(mode) as client:
            before = (await client.list_tools()).tools
            slow = [asyncio.create_task(client.call_tool("w__echo", {"text": str(n), "delay": 1.0})) for n in range(20)]
            await asyncio.sleep(0.5)
            await client.call_tool("w__change", {})  # an empty announcement changes nothing
            assert (await client.call_tool("w__echo", {"text": "on"})).structured_content == {"text": "on"}
            await client.call_tool("w__rename", {})
            blocked = await client.call_tool("w__echo", {"text": "x"})
            assert code_of(blocked) == "surface_drift"
            assert code_of(await client.call_tool("w__echo2", {"text": "x"})) == "unknown_tool"
            assert (await client.list_tools()).tools == before
            # What was under way when the list changed is answered.
            assert [item.structured_content["text"] for item in await asyncio.gather(*slow)] == [str(n) for n in range(20)]  # fmt: skip

    run(main)


@ERAS
@pytest.mark.parametrize("server", ["legacy", "--modern"])
def test_a_server_learns_nothing_of_the_client_and_tells_it_nothing_but_data(
    keel: Keel, mode: str, server: str
) -> None:
    bundled = Bundled(keel, *[word for word in [server] if word != "legacy"], script=CURIOUS)

    async def never(_context: Any, _params: Any = None) -> Any:
        raise AssertionError

    async def main() -> Any:
        asked = {"elicitation_callback": never, "sampling_callback": never, "list_roots_callback": never}
        async with bundled.client(mode, "--elicit", **asked) as client:
            return await client.call_tool("w__echo", {"text": "hi"})

    done = run(main)
    assert (code_of(done), done.structured_content) == (None, {"text": "hi"})
    assert [item.text for item in done.content] == ['{"text":"hi"}']
    assert done.meta["keel/trust"] == "untrusted"
    assert done.meta["keel/call"] != "forged"
    answers = bundled.events("answered")
    assert {item["result"] is None and item["error"] is not None for item in answers} <= {True}
    assert answers or server == "--modern"


@ERAS
def test_a_server_that_dies_costs_its_calls_and_serves_the_next(shared: Bundled, mode: str) -> None:
    async def main() -> None:
        async with shared.client(mode) as client:
            await client.call_tool("w__echo", {"text": "warm"})
            read = asyncio.create_task(client.call_tool("w__echo", {"text": "x", "delay": 20}))
            await asyncio.sleep(0.3)
            died = await client.call_tool("w__die", {})
            assert (code_of(died), died.structured_content["retryable"]) == ("outcome_unknown", False)
            lost = await read
            assert (code_of(lost), lost.structured_content["retryable"]) == ("timeout", True)
            assert (await client.call_tool("w__echo", {"text": "back"})).structured_content == {"text": "back"}
            late = await client.call_tool("w__say", {"text": "late", "delay": 3})
            assert code_of(late) == "outcome_unknown"
            await asyncio.sleep(1.5)
            assert (await client.call_tool("w__say", {"text": "next"})).content[0].text == "next"

    run(main)


@ERAS
@pytest.mark.parametrize("answer", ["accept", "refuse", "decline", "cancel"])
def test_approvals_by_elicitation(shared: Bundled, mode: str, answer: str) -> None:
    asked: list[str] = []

    async def ask(_context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        if answer in ("accept", "refuse"):
            return ElicitResult(action="accept", content={"approve": answer == "accept"})
        return ElicitResult(action=answer)

    async def main() -> None:
        async with shared.client(mode, "--elicit", elicitation_callback=ask) as client:
            done = await client.call_tool("w__fail", {"text": f"elicit {mode} {answer}"})
            assert len(asked) == 1
            assert f"elicit {mode} {answer}" in asked[0]
            assert code_of(done) == ("tool_failed" if answer == "accept" else "approval_required")

    run(main)


@ERAS
def test_what_is_too_long_to_be_shown_whole_is_not_decided_in_the_client(shared: Bundled, mode: str) -> None:
    asked: list[str] = []

    async def ask(_context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"approve": True})

    async def main() -> None:
        async with shared.client(mode, "--elicit", elicitation_callback=ask) as client:
            done = await client.call_tool("w__fail", {"text": f"{mode} {'x' * 5000} and what nobody would see"})
            assert (asked, code_of(done)) == ([], "approval_required")
            assert "keel approve" in done.content[0].text

    run(main)


@ERAS
def test_without_the_option_or_the_ability_nobody_is_asked(shared: Bundled, mode: str) -> None:
    async def never(_context: Any, _params: Any) -> ElicitResult:
        raise AssertionError

    async def main() -> None:
        async with shared.client(mode, elicitation_callback=never) as client:
            assert code_of(await client.call_tool("w__fail", {"text": "a"})) == "approval_required"
        async with shared.client(mode, "--elicit") as client:
            assert code_of(await client.call_tool("w__fail", {"text": "b"})) == "approval_required"

    run(main)


def test_an_approval_from_the_store_admits_the_call_after_a_restart_too(shared: Bundled) -> None:
    async def call() -> Any:
        async with shared.client("auto") as client:
            return await client.call_tool("w__fail", {"text": "by the store"})

    approval = run(call).structured_content["detail"]["approval"]
    assert shared.keel("approve", approval).code == 0
    assert code_of(run(call)) == "tool_failed"
    assert code_of(run(call)) == "approval_required"


def test_too_many_calls_a_second_are_refused(shared: Bundled) -> None:
    async def main() -> list[str | None]:
        async with shared.client("auto", "--rate", "0.5") as client:
            calls = [await client.call_tool("w__echo", {"text": "x"}) for _ in range(8)]
            return [code_of(item) for item in calls]

    codes = run(main)
    assert codes[:5] == [None] * 5
    assert "budget_exceeded" in codes[5:]


def test_nothing_but_the_protocol_is_on_standard_output(shared: Bundled) -> None:
    with shared.process("--max-request-bytes", "1024") as process:
        assert greet(process)["result"]["serverInfo"]["title"].endswith("(keel)")
        process.stdin.write(
            b"not json\n\n" + b'{"jsonrpc":"2.0","id":9,"method":"x","params":{"a":"' + b"x" * 5000 + b'"}}\n'
        )
        speak(process, {"id": 2, "method": "tools/call", "params": {"name": "w__stray", "arguments": {}}})
        speak(process, {"id": 3, "method": "resources/list"}, {"id": 4, "method": "prompts/list"})
        answers = [hear(process) for _ in range(5)]
        assert {item["id"]: item["error"]["code"] for item in answers if "error" in item and item["id"]} == {3: -32601, 4: -32601}  # fmt: skip
        assert sorted(item["error"]["code"] for item in answers if item["id"] is None) == [-32700, -32600]
        process.stdin.close()
        assert process.wait(15) == 0
        assert process.stdout.read() == b""
    assert shared.gone()


@pytest.mark.parametrize("ending", ["SIGTERM", "SIGINT", "closed input", "killed client", "http SIGTERM"])
def test_no_process_is_left_however_it_ends(keel: Keel, ending: str) -> None:
    bundled = Bundled(keel, "--stubborn")
    if ending == "killed client":
        code = f"import subprocess, sys, time; subprocess.Popen({bundled.argv()!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE); time.sleep(600)"  # fmt: skip
        client = subprocess.Popen([sys.executable, "-c", code], cwd=keel.root, env=bundled.environment)
        _wait_for(bundled)
        client.kill()
        client.wait()
        assert bundled.gone(12)
        return
    words = ["--http", "0"] if ending.startswith("http") else []
    with bundled.process(*words) as process:
        if not words:
            greet(process)
            speak(process, {"id": 2, "method": "tools/call", "params": {"name": "w__stray", "arguments": {}}})
            child = int(hear(process)["result"]["content"][0]["text"])
        else:
            child = 0
            _wait_for(bundled)
        if ending == "closed input":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGINT if ending == "SIGINT" else signal.SIGTERM)
        code = process.wait(15)
        assert code == {"SIGINT": 130, "closed input": 0}.get(ending, -signal.SIGTERM)
    assert bundled.gone(1)
    assert not child or not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text()


def _wait_for(bundled: Bundled) -> None:
    until = time.monotonic() + 60
    while not bundled.events("started"):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_gateway_that_is_killed_takes_ordinary_servers_with_it(shared: Bundled) -> None:
    with shared.process() as process:
        greet(process)
        speak(process, {"id": 2, "method": "tools/call", "params": {"name": "w__echo", "arguments": {"text": "x"}}})
        hear(process)
        process.kill()
    assert shared.gone()


def test_no_file_that_a_gateway_leaves_holds_a_secret(keel: Keel) -> None:
    bundled = Bundled(keel, secret=SECRET)

    async def main() -> None:
        async with bundled.client("auto") as client:
            for name, arguments in (
                ("w__leak", {}),
                ("w__say", {"text": SECRET}),
                (SECRET, {}),
                ("w__fail", {"text": SECRET}),
            ):
                assert SECRET not in (await client.call_tool(name, arguments)).model_dump_json()

    run(main)
    forms = {SECRET.encode(), base64.b64encode(SECRET.encode())}
    held = {path.name for path in keel.root.rglob("*") if path.is_file() for form in forms if form in path.read_bytes()}
    assert held <= {"journal"}  # of the server, which was sent it as an argument


@pytest.mark.parametrize("client", ["claude-code", "claude-desktop", "codex", "cursor", "gemini", "vscode"])
def test_the_printed_entry_starts_this_gateway(shared: Bundled, client: str) -> None:
    done = shared.keel("serve", "b.keel", "--allow-unsigned", "--print-config", client)
    assert done.code == 0, done.err
    (server,) = parse_client(done.out.replace("ROOT", str(shared.keel.root)), "x.toml" if client == "codex" else "x.json").servers  # fmt: skip
    assert server.command[1:] == ("serve", str(shared.bundle), "--project", str(shared.keel.root), "--allow-unsigned")


# -- published servers and clients ------------------------------------------------------------


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    """Return a bundle of the git and the time server."""
    for name in ("mcp-server-git", "mcp-server-time", "git"):
        if not Path(sys.executable).with_name(name).exists() and shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
    keel = Keel(tmp_path_factory.mktemp("published"))
    bundled = Bundled.__new__(Bundled)
    bundled.keel, bundled.mark, bundled.secret, bundled.bundle = keel, "-", "", keel.root / "b.keel"
    manifest = """\
version: 1
servers:
  git: {command: [mcp-server-git]}
  clock: {command: [mcp-server-time, --local-timezone, UTC]}
tools:
  - {tool: git/git_status, effect: read, idempotency: native}
  - {tool: git/git_add, effect: write, idempotency: native}
  - {tool: clock/get_current_time, effect: read, idempotency: native}
"""
    put(keel.root, {"keel.yaml": manifest, "repo/a.txt": "a"})
    subprocess.run(["git", "init", "-q", "repo"], cwd=keel.root, check=True)
    for words in (("freeze",), ("bundle", "-o", "b.keel")):
        done = keel(*words)
        assert done.code == 0, done.out + done.err
    return bundled


@pytest.mark.real
@ERAS
def test_published_servers_are_served_as_they_were_frozen(published: Bundled, mode: str) -> None:
    root = published.keel.root
    frozen = {
        f"{name}__{tool['name']}": tool
        for name in ("git", "clock")
        for tool in json.loads((root / "keel.lock.d" / f"{name}.json").read_text())["tools"]
    }

    async def main() -> None:
        async with published.client(mode) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert sorted(tools) == ["clock__get_current_time", "git__git_add", "git__git_status"]
            for name, tool in tools.items():
                assert tool.description == frozen[name]["description"]
                assert tool.input_schema == frozen[name]["inputSchema"]
                assert tool.output_schema == frozen[name].get("outputSchema")
            status = await client.call_tool("git__git_status", {"repo_path": str(root / "repo")})
            assert "a.txt" in status.content[0].text
            added = await client.call_tool("git__git_add", {"repo_path": str(root / "repo"), "files": ["a.txt"]})
            assert not added.is_error, added
            now = await client.call_tool("clock__get_current_time", {"timezone": "Europe/Berlin"})
            assert "Europe/Berlin" in now.content[0].text
            assert (
                code_of(await client.call_tool("git__git_commit", {"repo_path": ".", "message": "x"})) == "unknown_tool"
            )

    run(main)


@pytest.mark.real
def test_the_inspector_lists_and_calls(published: Bundled) -> None:
    inspector = os.environ.get("KEEL_TEST_INSPECTOR") or shutil.which("mcp-inspector")
    if inspector is None:
        pytest.skip("mcp-inspector is not on the PATH (npm install -g @modelcontextprotocol/inspector)")

    def ask(*words: str) -> dict[str, Any]:
        done = subprocess.run(
            [inspector, "--cli", *published.argv(), *words],
            cwd=published.keel.root, env=published.environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        value: dict[str, Any] = json.loads(done.stdout)
        return value

    listed = ask("--method", "tools/list")
    assert {tool["name"] for tool in listed["tools"]} == {"clock__get_current_time", "git__git_add", "git__git_status"}
    called = ask("--method", "tools/call", "--tool-name", "clock__get_current_time", "--tool-arg", "timezone=UTC")
    assert "UTC" in called["content"][0]["text"]


def test_a_client_that_never_reads_fills_no_memory(shared: Bundled) -> None:
    """A client that only sends has to wait, and one that reads later finds every answer."""
    with shared.process("--rate", "0", stderr=subprocess.DEVNULL) as process:
        greet(process)
        before = _resident(process.pid)
        line = b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n'
        writer = threading.Thread(target=_pour, args=(process.stdin, [line % number for number in range(2, 5_002)]))
        writer.start()
        time.sleep(5)
        grown = _resident(process.pid) - before
        assert grown < 30_000
        heard = sorted(hear(process)["id"] for _ in range(5_000))
        writer.join(10)
        assert heard == list(range(2, 5_002))


def _pour(stream: Any, lines: list[bytes]) -> None:
    with suppress(OSError):
        for line in lines:
            stream.write(line)
        stream.flush()


def _resident(pid: int) -> int:
    """Return the memory of a process in KiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
