"""A login against the authorization server of the MCP SDK, from its registration to the token on the wire."""

from __future__ import annotations

import json
import secrets
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.harness import Keel, put
from tests.acceptance.servers import bytes_of


class Provider:
    """Lets everybody in, keeps everything in memory, and remembers the tokens it gave."""

    def __init__(self) -> None:
        self.clients: dict[str, Any] = {}
        self.codes: dict[str, Any] = {}
        self.tokens: dict[str, Any] = {}
        self.challenges: list[str] = []

    async def get_client(self, client_id: str) -> Any:
        return self.clients.get(client_id)

    async def register_client(self, client_info: Any) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: Any, params: Any) -> str:
        from mcp.server.auth.provider import AuthorizationCode, construct_redirect_uri

        code = secrets.token_urlsafe(24)
        self.challenges.append(params.code_challenge)
        self.codes[code] = AuthorizationCode(
            code=code, scopes=params.scopes or [], expires_at=time.time() + 60, client_id=client.client_id,
            code_challenge=params.code_challenge, redirect_uri=params.redirect_uri, resource=params.resource,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
        )  # fmt: skip
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client: Any, authorization_code: str) -> Any:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: Any, authorization_code: Any) -> Any:
        from mcp.server.auth.provider import AccessToken
        from mcp.shared.auth import OAuthToken

        token = secrets.token_urlsafe(24)
        del self.codes[authorization_code.code]
        self.tokens[token] = AccessToken(
            token=token,
            client_id=client.client_id,
            scopes=authorization_code.scopes,
            resource=authorization_code.resource,
        )
        return OAuthToken(access_token=token, expires_in=600)

    async def load_access_token(self, token: str) -> Any:
        return self.tokens.get(token)


@pytest.fixture
def guarded() -> Iterator[tuple[str, Provider]]:
    """Serve an MCP server of the SDK behind its own authorization server on loopback."""
    import uvicorn
    from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
    from mcp.server.mcpserver import MCPServer

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    base, provider = f"http://127.0.0.1:{listener.getsockname()[1]}", Provider()
    settings = AuthSettings(
        issuer_url=base,
        resource_server_url=f"{base}/mcp",
        validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(enabled=True),
    )
    mcp = MCPServer("guarded", version="1.0", auth_server_provider=provider, auth=settings)

    @mcp.tool()
    def look(what: str) -> str:
        """Look at something and say what it is."""
        return what

    config = uvicorn.Config(
        mcp.streamable_http_app(), log_level="critical", lifespan="on", ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"{base}/mcp", provider
    server.should_exit = True
    thread.join(5)
    listener.close()


def test_a_login_with_the_authorization_server_of_the_sdk(keel: Keel, guarded: tuple[str, Provider]) -> None:
    url, provider = guarded
    put(keel.root, {
        "browser.py": "import sys, urllib.request; urllib.request.urlopen(sys.argv[1]).read()",
        "keel.yaml": json.dumps({"version": 1, "servers": {"s": {"url": url, "auth": {"attended": True}}}}),
    })  # fmt: skip
    browser = f"{sys.executable} {keel.root / 'browser.py'} %s"
    done = keel("freeze", "--login", BROWSER=browser)
    assert done.code == 0, done.out + done.err
    held = bytes_of(keel.root)
    assert b'"s/look"' in held["keel.lock"]
    compared = keel("drift", "--login", BROWSER=browser)
    assert compared.code == 0, compared.out
    assert len(provider.tokens) == len(provider.challenges) == 2
    assert all(provider.challenges)
    written = [path.read_bytes() for path in keel.root.rglob("*") if path.is_file()]
    for token in provider.tokens:
        said = [done.out, done.err, compared.out, compared.err]
        assert not any(token.encode() in data for data in (*written, *(text.encode() for text in said)))
