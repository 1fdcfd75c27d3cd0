"""Secrets written into a definition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from keel.core.finding import Finding
from keel.rules.characters.shared import place
from keel.rules.hazards.shared import hazard_meta
from keel.rules.interface import Precision, Rule, RuleContext, Severity, ToolView

FORMATS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (what, re.compile(pattern))
    for what, pattern in (
        ("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{24,}"),
        ("an AWS access key id", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("an AWS secret key", r"(?i:aws.{0,20}secret.{0,20})[\s:=\"']{1,4}[A-Za-z0-9/+]{40}\b"),
        ("an Azure storage key", r"\bAccountKey=[A-Za-z0-9+/]{60,}={0,2}"),
        ("a DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
        ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})"),
        ("a GitLab token", r"\bgl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{20,}"),
        ("a Google API key", r"\bAIza[A-Za-z0-9_-]{35}\b"),
        ("a Google OAuth token", r"\bya29\.[A-Za-z0-9_-]{30,}"),
        ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}\b"),
        ("a JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
        ("a Mailgun key", r"\bkey-[a-f0-9]{32}\b"),
        ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
        (
            "an OpenAI key",
            r"\bsk-(?:proj|svcacct|admin)?-?[A-Za-z0-9_-]{20,}T3BlbkFJ[A-Za-z0-9_-]{20,}|\bsk-(?:proj|svcacct)-[A-Za-z0-9_-]{40,}|\bsk-[A-Za-z0-9]{48}\b",
        ),
        ("a private key", r"-----BEGIN (?:[A-Z]{2,10} ){0,3}PRIVATE KEY-----"),
        ("a PyPI token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
        ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,45}"),
        ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("a Slack webhook", r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}"),
        ("a Square token", r"\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,}"),
        ("a Stripe key", r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{20,}|\bwhsec_[A-Za-z0-9]{24,}"),
        ("a Telegram bot token", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b"),
        ("a Twilio key", r"\bSK[a-f0-9]{32}\b"),
        (
            "a password in a URL",
            r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{1,60}:(?P<password>[^\s/@\"'<>]{3,80})@[\w.-]{2,}",
        ),
    )
)
"""What is found, by the formats their issuers document; the value itself is never shown."""

_PLACEHOLDER = re.compile(
    r"example|placeholder|dummy|sample|changeme|redacted|your|my[_-]|xxx|\*\*\*|\.\.\.|123456|abcdef|<|\{|\$|%s|insert|todo"
    r"|^(?:user|username)?:?(?:pass(?:word|wd)?|pwd|pw|secret|token|key|test|admin|root|guest|hunter2|foo|bar)[0-9]{0,2}$",
    re.IGNORECASE,
)
_LEAST_DISTINCT = 6


class SecretLiteral(Rule):
    """Finds provider token formats, private keys and URL passwords; placeholders and documented examples are none."""

    meta = hazard_meta(
        "secret-literal",
        "a definition holds a secret",
        "A definition is sent to every client and every model provider, frozen into locks and copied into bundles.",
        "revoke the secret, then remove it from the definition",
        '{"description": "Pushes metrics with the token ghp_…"}',
        "OWASP MCP01:2025 Token Mismanagement & Secret Exposure",
        "CWE-798",
        severity=Severity.ERROR,
        precision=Precision.EXACT,
    )

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each text and kind of secret."""
        for text in tool.worded:
            if len(text.raw) < 12:
                continue
            for what in secrets_in(text.raw):
                yield self.finding(tool, text.pointer, f"{place(text)} holds {what}")


@lru_cache(maxsize=8192)
def secrets_in(text: str) -> tuple[str, ...]:
    """Return the kinds of secrets that a text holds; usable for any text, such as a bundle's members."""
    if not _WORTH(text):
        return ()
    return tuple(what for what, pattern in FORMATS if any(_is_real(match) for match in pattern.finditer(text)))


_WORTH = re.compile(
    r"sk-|A[KS]IA|(?i:aws)"
    r"|AccountKey|do[opr]_v1|gh[pousr]_|github_pat|gl(?:pat|ptt|dt|rt|cbt)-|AIza|ya29|hf_|eyJ|key-|npm_|PRIVATE KEY"
    r"|pypi-|SG\.|xox|hooks\.slack|sq0|[sr]k_|whsec_|:AA|SK[a-f0-9]|://[^\s/:@]{1,60}:[^\s/@]{3,80}@"
).search


def _is_real(match: re.Match[str]) -> bool:
    value = match.groupdict().get("password") or match.group()
    if _PLACEHOLDER.search(value):
        return False
    body = value.rpartition("_")[2] if "password" not in match.groupdict() else value
    return "PRIVATE KEY" in value or "password" in match.groupdict() or len(set(body)) >= _LEAST_DISTINCT
