"""Access tokens of one capture: kept in memory, never written."""

from __future__ import annotations

from dataclasses import dataclass

from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from keel.core.redact import Redactor


@dataclass
class TokenMemory:
    """The SDK's token storage, as long as one connection."""

    redactor: Redactor
    """Learns each token, so that no message ever holds one."""
    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """Return the token, if there is one."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep a token."""
        self.redactor.learn(tokens.access_token, tokens.refresh_token or "")
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the registration of this client, if there is one."""
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep the registration of this client."""
        self.client = client_info
