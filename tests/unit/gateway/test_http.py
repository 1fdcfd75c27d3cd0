"""Who may reach the gateway over HTTP: by Host, by Origin and by token; and where it may listen at all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from keel.errors import UsageError
from keel.gateway.http import Guard, listen

TOKEN = "t0ken-of-more-than-16"
GOOD = [(b"host", b"127.0.0.1:8765"), (b"authorization", f"Bearer {TOKEN}".encode())]


def status(headers: list[tuple[bytes, bytes]], kind: str = "http") -> int:
    reached: list[Any] = []
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(Guard(app, 8765, TOKEN)({"type": kind, "headers": headers}, None, send))
    assert bool(reached) is not bool(sent) or kind == "websocket"
    return 200 if reached else sent[0]["status"] if sent else 0


@pytest.mark.parametrize("host", [b"127.0.0.1:8765", b"localhost:8765", b"LOCALHOST:8765", b"[::1]:8765"])
def test_this_machines_own_names_pass(host: bytes) -> None:
    assert status([(b"host", host), GOOD[1]]) == 200


@pytest.mark.parametrize(
    "host",
    [b"evil.example", b"evil.example:8765", b"127.0.0.1", b"127.0.0.1:80", b"localhost.evil.example:8765", b"",
     b"127.0.0.1:8765.evil.example", b"127.0.0.1:8765@evil.example", b"0.0.0.0:8765", b"[::]:8765"],
)  # fmt: skip
def test_other_hosts_are_refused_with_the_right_token_too(host: bytes) -> None:
    assert status([(b"host", host), GOOD[1]]) == 421


def test_no_host_and_two_hosts_are_refused() -> None:
    assert status([GOOD[1]]) == 421
    assert status([GOOD[0], GOOD[0], GOOD[1]]) == 421


@pytest.mark.parametrize("origin", [b"http://127.0.0.1:8765", b"http://localhost:8765"])
def test_its_own_origins_pass(origin: bytes) -> None:
    assert status([*GOOD, (b"origin", origin)]) == 200


@pytest.mark.parametrize(
    "origin", [b"http://evil.example", b"null", b"https://127.0.0.1:8765", b"http://127.0.0.1", b""]
)
def test_other_origins_are_refused(origin: bytes) -> None:
    assert status([*GOOD, (b"origin", origin)]) == 403
    assert status([*GOOD, (b"origin", b"http://localhost:8765"), (b"origin", origin)]) == 403


@pytest.mark.parametrize(
    "token", [b"", b"Bearer", b"Bearer ", b"Bearer nope", TOKEN.encode(), f"bearer {TOKEN}".encode(),
              f"Bearer {TOKEN}x".encode(), f"Basic {TOKEN}".encode(), b"\xff\xfe"],
)  # fmt: skip
def test_without_the_token_nothing_is_reached(token: bytes) -> None:
    assert status([GOOD[0], (b"authorization", token)]) == 401
    assert status([GOOD[0]]) == 401
    assert status([*GOOD, (b"authorization", token)]) == 401


def test_the_lifespan_passes_and_websockets_do_not() -> None:
    assert status([], "lifespan") == 200
    assert status(GOOD, "websocket") == 0


@pytest.mark.parametrize("place", ["0.0.0.0:0", "192.168.1.1:80", "[::]:80", "example.com:80", "8.8.8.8:53"])
def test_it_listens_on_loopback_only(place: str) -> None:
    with pytest.raises(UsageError, match="loopback"):
        listen(place)


@pytest.mark.parametrize("place", ["x", "", "65536", "-1", "127.0.0.1:", "1.5", "٣"])
def test_a_port_must_be_one(place: str) -> None:
    with pytest.raises(UsageError, match="not a port"):
        listen(place)


def test_a_taken_port_is_said() -> None:
    with listen("0") as found:
        found.listen()
        port = found.getsockname()[1]
        with pytest.raises(UsageError, match="cannot be listened on"):
            listen(str(port))
