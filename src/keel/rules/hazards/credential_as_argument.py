"""Secrets that the model would have to hold and pass."""

from __future__ import annotations

from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.hazards.shared import hazard_meta
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.view import Parameter

_SECRETS = (
    frozenset({"password"}), frozenset({"passwd"}), frozenset({"pwd"}), frozenset({"passphrase"}), frozenset({"secret"}),
    frozenset({"credential"}), frozenset({"credentials"}), frozenset({"apikey"}), frozenset({"api", "key"}),
    frozenset({"private", "key"}), frozenset({"access", "key"}), frozenset({"secret", "key"}), frozenset({"signing", "key"}),
    frozenset({"ssh", "key"}), frozenset({"authorization"}), frozenset({"token"}), frozenset({"bearer"}), frozenset({"jwt"}),
    frozenset({"cookie"}), frozenset({"cookies"}), frozenset({"otp"}), frozenset({"totp"}), frozenset({"passcode"}),
    frozenset({"mnemonic"}), frozenset({"seed", "phrase"}), frozenset({"pin"}), frozenset({"cvv"}), frozenset({"cvc"}),
    frozenset({"mfa", "code"}), frozenset({"verification", "code"}), frozenset({"auth", "code"}), frozenset({"pat"}),
    frozenset({"recovery", "code"}), frozenset({"access", "token"}), frozenset({"auth", "header"}), frozenset({"x", "auth"}),
)  # fmt: skip
_INNOCENT = frozenset(
    "page next continuation cursor sync max min num count limit budget usage idempotency confirm confirmation confirmed stop"
    " delta resume id ids name names type types public policy length pagination paging position offset preview approval"
    " start end batch skip upload list version schema format masked has is use with without enabled required expiry ttl"
    " symbol address mint contract design index csrf sort partition snippet generate strength hash field path paths file"
    " consent review change undo watermark etag revision per total scope preflight".split()
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

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:  # noqa: ARG002
        """Yield one finding for each argument."""
        for parameter in tool.parameters:
            if _is_secret(parameter):
                yield self.finding(tool, parameter.pointer, f"`{excerpt(parameter.name)}` has the model pass a secret")


def _is_secret(parameter: Parameter) -> bool:
    words = frozenset(parameter.words)
    if not any(name <= words for name in _SECRETS) or words & _INNOCENT:
        return False
    if parameter.types and not parameter.types & {"string", "object", "array"}:
        return False
    if parameter.get("enum") is not None or parameter.get("const") is not None:
        return False
    return not any(phrase in parameter.about for phrase in _INNOCENT_TEXT)
