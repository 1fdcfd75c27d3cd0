"""Secrets that the model would have to hold and pass."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.hazards.shared import hazard_meta
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.view import Parameter
from keel.rules.words import listed, word_sets

_SECRETS = word_sets(
    "password passwd pwd passphrase secret credential credentials apikey api_key private_key access_key",
    "secret_key signing_key ssh_key authorization token bearer jwt cookie cookies otp totp passcode",
    "mnemonic seed_phrase pin cvv cvc mfa_code verification_code auth_code pat recovery_code access_token",
    "auth_header x_auth",
)
_INNOCENT = listed(
    "page next continuation cursor sync max min num count limit budget usage idempotency confirm confirmation",
    "confirmed stop delta resume id ids name names type types public policy length pagination paging position",
    "offset preview approval start end batch skip upload list version schema format masked has is use with",
    "without enabled required expiry ttl symbol address mint contract design index csrf sort partition",
    "snippet generate strength hash field path paths file consent review change undo watermark etag revision",
    "per total scope preflight",
)
_INNOCENT_TEXT = ("pagination", "next page", "page token", "continuation", "cursor", "number of tokens", "max tokens")


class CredentialAsArgument(Rule):
    """Finds arguments that carry a secret; paging, counting, idempotency and confirmation tokens are none."""

    meta = hazard_meta(
        "credential-as-argument",
        "an argument carries a secret",
        "What the model passes, the model has seen: it stands in the context, the logs and the provider's store.",
        "give the secret to the server through its environment or its authorisation, never through an argument",
        '{"inputSchema": {"properties": {"password": {"type": "string"}}}}',
        "OWASP MCP01:2025 Token Mismanagement & Secret Exposure",
        "CWE-522",
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each argument."""
        for parameter in tool.parameters:
            if _is_secret(parameter):
                yield self.finding(tool, parameter.pointer, f"`{excerpt(parameter.name)}` has the model pass a secret")


@lru_cache(maxsize=8192)
def _names_a_secret(words: tuple[str, ...]) -> bool:
    said = frozenset(words)
    return said.isdisjoint(_INNOCENT) and any(name <= said for name in _SECRETS)


def _is_secret(parameter: Parameter) -> bool:
    if not _names_a_secret(parameter.words):
        return False
    if parameter.types and not parameter.types & {"string", "object", "array"}:
        return False
    if parameter.get("enum") is not None or parameter.get("const") is not None:
        return False
    return not any(phrase in parameter.about for phrase in _INNOCENT_TEXT)
