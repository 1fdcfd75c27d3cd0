"""Streamable HTTP: a server of the SDK, and a hostile one whose every answer is chosen, on loopback."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager

import pytest

from keel.capture.interface import Captured, Failure, Launch
from keel.capture.run import capture_all
from keel.core.digest import surface_digest, surface_value
from keel.core.model import ClientCredentials, Transport
from tests.fakes import hostile


@contextmanager
def serving(behaviour, **options):
    server, seen = hostile.http_server(behaviour, **options)
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.shutdown()
        server.server_close()


def capture(behaviour, *, sse=False, elsewhere="", within=8.0, path="/mcp", **more):
    with serving(behaviour, sse=sse, elsewhere=elsewhere) as (base, seen):
        settings = {"timeout_s": 15.0, "protocol": "2025-11-25", **more}
        start = time.monotonic()
        (outcome,) = capture_all([Launch("srv", Transport.HTTP, url=f"{base}{path}", **settings)]).values()
        assert time.monotonic() - start < within
    return outcome, seen


def captured(behaviour, **more):
    outcome, _ = capture(behaviour, **more)
    assert isinstance(outcome, Captured), outcome
    return outcome


def failed(behaviour, code, **more):
    outcome, _ = capture(behaviour, **more)
    assert isinstance(outcome, Failure), outcome
    assert outcome.gap.code == code, outcome.gap
    return outcome.gap


def names(outcome):
    return [tool["name"] for tool in outcome.surface.tools]


def codes(outcome):
    return [(finding.code, finding.location.key, finding.location.pointer) for finding in outcome.findings]


@pytest.fixture(scope="module")
def quiet():
    return captured("quiet")


@pytest.mark.parametrize("sse", [False, True])
@pytest.mark.parametrize("protocol", [None, "2025-11-25"])
def test_json_and_event_streams_give_the_same_surface(quiet, sse, protocol):
    outcome = captured("quiet", sse=sse, protocol=protocol)
    assert names(outcome) == ["alpha", "beta"]
    assert outcome.surface == quiet.surface
    assert outcome.findings == ()


def test_compression_that_was_declined_is_undone(quiet):
    assert captured("gzip").surface == quiet.surface


def test_other_line_ends_and_a_redirect_within_the_origin(quiet):
    assert captured("sse-crlf").surface == quiet.surface
    assert captured("redirect-same").surface == quiet.surface


@pytest.mark.parametrize("sse", [False, True])
def test_nine_megabytes_in_one_message(sse):
    assert len(captured("big", sse=sse).surface.tools) == 1000


@pytest.mark.parametrize("sse", [False, True])
@pytest.mark.parametrize(
    ("behaviour", "code", "pointer"),
    [
        ("bad-utf8", "control-text", "/description"),
        ("repeated-key", "control-text", "/title"),
        ("huge-number", "control-text", "/inputSchema/maximum"),
        ("surrogate", "control-text", "/description"),
        ("deep", "schema-too-complex", "/inputSchema/enum/0/0/0"),
        ("abyss", "schema-too-complex", "/inputSchema/enum/0/0/0"),
    ],
)
def test_a_fault_costs_only_its_tool(sse, behaviour, code, pointer):
    outcome = captured(behaviour, sse=sse)
    assert names(outcome) == ["alpha"]
    ((found, key, where),) = codes(outcome)
    assert (found, key) == (code, "srv/broken")
    assert where.startswith(pointer)


@pytest.mark.parametrize("sse", [False, True])
def test_invalid_tools_pages_and_eras(sse):
    assert names(captured("bad-tool", sse=sse)) == ["alpha", "beta", "broken"]
    assert names(captured("two-pages", sse=sse)) == ["alpha", "beta", "gamma"]
    modern = captured("modern", sse=sse, protocol="2026-07-28")
    assert modern.surface.initialize["protocolVersion"] == "2026-07-28"
    assert captured("modern", sse=sse).surface == modern.surface


@pytest.mark.parametrize(
    ("behaviour", "code", "words"),
    [
        ("403", "needs-authentication", "403 Forbidden"),
        ("404", "server-failed", "404 Not Found"),
        ("400-words", "server-failed", "-32600: no such door"),
        ("404-json", "server-failed", "404 Not Found"),
        ("429", "server-failed", "429 Too Many Requests"),
        ("500", "server-failed", "500 Internal Server Error"),
        ("599", "server-failed", "answered 599"),
        ("502", "server-failed", "502 Bad Gateway"),
        ("html", "server-failed", "`text/html` instead of the protocol"),
        ("redirect-loop", "server-failed", "307 Temporary Redirect"),
        ("list-error", "server-failed", "is down"),
        ("list-garbage", "server-failed", "not the protocol"),
        ("nan", "server-failed", "NaN is not JSON"),
        ("repeating", "pagination-loop", "came twice"),
        ("empty", "empty-listing", "no tools"),
        ("sse-cut", "server-failed", ""),
    ],
)
@pytest.mark.parametrize("protocol", [None, "2025-11-25"])
def test_what_went_wrong_is_told_apart(behaviour, code, words, protocol):
    assert words in failed(behaviour, code, protocol=protocol).why


@pytest.mark.parametrize("behaviour", ["list-garbage", "nan"])
def test_broken_answers_in_an_event_stream(behaviour):
    failed(behaviour, "server-failed", sse=True)


@pytest.mark.parametrize("sse", [False, True])
def test_a_message_beyond_the_limit_ends_the_wire(sse):
    assert "32 MiB" in failed("huge", "server-failed", sse=sse).why


def test_c015_authentication_is_asked_for_within_seconds_without_a_storm():
    outcome, seen = capture("401-oauth", protocol=None, within=6)
    assert outcome.gap.code == "needs-authentication"
    assert "offers OAuth" in outcome.gap.why
    assert len(seen) <= 3
    plain = failed("401", "needs-authentication", within=6, headers={"authorization": "Bearer t0ken-value"})
    assert "OAuth" not in plain.why
    assert "not accepted" in plain.why
    assert "t0ken" not in repr(plain)


def test_too_many_requests_says_how_long_to_wait():
    assert "30" in failed("429", "server-failed").next


def test_credentials_never_leave_the_origin():
    with serving("quiet") as (elsewhere, seen):
        headers = {"authorization": "Bearer t0ken-value", "x-key": "k3y-value"}
        gap = failed("redirect-cross", "server-failed", elsewhere=elsewhere, headers=headers)
    assert seen == []
    assert elsewhere in gap.why
    assert "token=t" not in gap.why
    assert "`url`" in gap.next


def test_streams_that_never_end_and_closings_that_hang():
    gap = failed("sse-endless", "timed-out", timeout_s=1.0, within=6)
    assert "`list`" in gap.why
    assert isinstance(capture("slow-delete", within=12)[0], Captured)


def test_the_old_transport_is_named():
    assert "HTTP+SSE" in failed("404", "transport-unsupported", path="/sse").why


def test_a_surface_file_stands_for_a_server(quiet, tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(surface_value(quiet.surface)))
    bad.write_text('{"tools": 1, "prompts": 2}')
    outcomes = capture_all(
        [
            Launch("good", Transport.SURFACE, surface=good),
            Launch("bad", Transport.SURFACE, surface=bad),
            Launch("gone", Transport.SURFACE, surface=tmp_path / "gone.json"),
        ]
    )
    assert outcomes["good"].surface == quiet.surface
    assert [finding.code for finding in outcomes["bad"].findings] == ["input-error"] * 2
    assert outcomes["gone"].gap.code == "unreachable"


def test_nobody_there():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    outcomes = capture_all(
        [
            Launch("refused", Transport.HTTP, url=f"http://127.0.0.1:{port}/mcp"),
            Launch("name", Transport.HTTP, url="http://no-such-host.invalid/mcp"),
            Launch("scheme", Transport.HTTP, url="ftp://127.0.0.1/mcp"),
            Launch("nonsense", Transport.HTTP, url="http://[::1/mcp"),
        ]
    )
    assert {name: outcome.gap.code for name, outcome in outcomes.items()} == dict.fromkeys(outcomes, "unreachable")


def test_secrets_in_headers_are_masked_and_found(capfd):
    secret = "tok-5ecret-Value/9"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTILE_SECRET", secret)
        outcome = captured("echo-secret", secrets=(secret,), sse=True)
    assert codes(outcome) == [("secret-echoed", "srv/alpha", "")]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("protocol", [None, "2025-11-25"])
def test_client_credentials_open_the_door(quiet, protocol):
    given = ClientCredentials(hostile.OAUTH_ID, hostile.OAUTH_SECRET)
    outcome = captured("oauth", client_credentials=given, protocol=protocol, secrets=(hostile.OAUTH_SECRET,))
    assert outcome.surface == quiet.surface
    assert outcome.findings == ()


def test_client_credentials_that_are_refused(capfd):
    given = ClientCredentials(hostile.OAUTH_ID, "wr0ng-s3cret")
    gap = failed("oauth", "needs-authentication", client_credentials=given, secrets=("wr0ng-s3cret",))
    assert "wr0ng" not in repr(gap)
    assert failed("oauth", "needs-authentication").code == "needs-authentication"
    assert capfd.readouterr() == ("", "")


def test_a_token_that_was_handed_out_is_masked_too():
    given = ClientCredentials(hostile.OAUTH_ID, hostile.OAUTH_SECRET)
    gap = failed("oauth-echo", "server-failed", client_credentials=given)
    assert "who is Bearer " in gap.why
    assert hostile.OAUTH_TOKEN not in gap.why


def test_a_person_logs_in_with_a_browser(quiet):
    pages = []

    def browser(page):
        pages.append(page)
        with urllib.request.urlopen(page) as answer:
            assert b"close this window" in answer.read()

    outcome = captured("oauth", login=browser)
    assert outcome.surface == quiet.surface
    assert len(pages) == 1


def test_a_person_may_refuse():
    def browser(page):
        port = urllib.parse.parse_qs(urllib.parse.urlsplit(page).query)["redirect_uri"][0]
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(port.replace("/callback", "/favicon.ico"))
        urllib.request.urlopen(page).close()

    assert "No authorization code" in failed("oauth-denied", "needs-authentication", login=browser).why


def test_what_may_pass_is_tried_again():
    with serving("500") as (base, seen):
        (outcome,) = capture_all(
            [Launch("s", Transport.HTTP, url=f"{base}/mcp", protocol="2025-11-25")], retries=2
        ).values()
        assert isinstance(outcome, Failure)
        assert len(seen) == 3
    with serving("404") as (base, seen):
        capture_all([Launch("s", Transport.HTTP, url=f"{base}/mcp", protocol="2025-11-25")], retries=2)
    assert len(seen) <= 3


def test_servers_are_captured_side_by_side():
    with serving("slow-list") as (base, _):
        launches = [Launch(f"s{index}", Transport.HTTP, url=f"{base}/mcp", protocol="2025-11-25") for index in range(8)]
        start = time.monotonic()
        outcomes = capture_all(launches, jobs=8)
    assert time.monotonic() - start < 6
    assert all(isinstance(outcome, Captured) for outcome in outcomes.values())


@contextmanager
def sdk_server(build):
    """Run an ASGI application of the SDK on a free loopback port."""
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(build(base), log_level="critical", lifespan="on", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield base
    finally:
        server.should_exit = True
        thread.join(5)
        listener.close()


def mcp_app(_base):
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("weather", instructions="Ask politely.", version="3.2.1")

    @server.tool()
    def forecast(city: str, days: int = 3) -> str:
        """Tell the weather of a city."""
        return f"{city} {days}"

    @server.prompt()
    def greet(name: str) -> str:
        """Greet someone."""
        return name

    return server.streamable_http_app()


def test_a_real_server_of_the_sdk_in_both_eras():
    with sdk_server(mcp_app) as base:
        found = {
            protocol: capture_all(
                [Launch("w", Transport.HTTP, url=f"{base}/mcp", protocol=protocol, primitives=("tools", "prompts"))]
            )["w"]
            for protocol in (None, "2025-11-25", "2026-07-28")
        }
    for outcome in found.values():
        assert isinstance(outcome, Captured), outcome
        assert outcome.findings == ()
        assert outcome.surface.instructions == "Ask politely."
        assert outcome.surface.server_version == "3.2.1"
        assert names(outcome) == ["forecast"]
        assert [prompt["name"] for prompt in outcome.surface.prompts] == ["greet"]
        assert outcome.surface.tools[0]["inputSchema"]["required"] == ["city"]
    assert found[None].surface.initialize["protocolVersion"] == "2026-07-28"
    assert found["2025-11-25"].surface.initialize["protocolVersion"] == "2025-11-25"
    assert surface_digest(found[None].surface) == surface_digest(found["2026-07-28"].surface)
