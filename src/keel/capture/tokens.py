"""Access tokens of one capture: kept in memory, never written."""

from __future__ import annotations

from dataclasses import dataclass

from mcp.shared.auth import OAuthClientInformationFull, OAuthToken


@dataclass
class TokenMemory:
    """The SDK's token storage, as long as one connection."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """Return the token, if there is one."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep a token."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the registration of this client, if there is one."""
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep the registration of this client."""
        self.client = client_info
