"""Secrets written into a definition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from keel.core.finding import Finding
from keel.rules.characters.shared import place
from keel.rules.hazards.shared import hazard_meta
from keel.rules.interface import Precision, Rule, RuleContext, Severity, ToolView
from keel.rules.lazy import lazy

_AWS = " ".join(map("".join, product("aA", "wW", "sS")))
FORMATS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (what, tuple(signs.split()), lazy(pattern))
    for what, signs, pattern in (
        ("an Anthropic key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{24,}"),
        ("an AWS access key id", "AKIA ASIA", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("an AWS secret key", _AWS, r"(?i:aws.{0,20}secret.{0,20})[\s:=\"']{1,4}[A-Za-z0-9/+]{40}\b"),
        ("an Azure storage key", "AccountKey=", r"\bAccountKey=[A-Za-z0-9+/]{60,}={0,2}"),
        ("a DigitalOcean token", "_v1_", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
        (
            "a GitHub token",
            "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
            r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})",
        ),
        ("a GitLab token", "pat- ptt- dt- rt- cbt-", r"\bgl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{20,}"),
        ("a Google API key", "AIza", r"\bAIza[A-Za-z0-9_-]{35}\b"),
        ("a Google OAuth token", "ya29.", r"\bya29\.[A-Za-z0-9_-]{30,}"),
        ("a Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}\b"),
        ("a JSON web token", "eyJ", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
        ("a Mailgun key", "key-", r"\bkey-[a-f0-9]{32}\b"),
        ("an npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
        (
            "an OpenAI key",
            "sk-",
            r"\bsk-(?:proj|svcacct|admin)?-?[A-Za-z0-9_-]{20,}T3BlbkFJ[A-Za-z0-9_-]{20,}|\bsk-(?:proj|svcacct)-[A-Za-z0-9_-]{40,}|\bsk-[A-Za-z0-9]{48}\b",
        ),
        ("a private key", "PRIVATE", r"-----BEGIN (?:[A-Z]{2,10} ){0,3}PRIVATE KEY-----"),
        ("a PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
        ("a SendGrid key", "SG.", r"\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,45}"),
        ("a Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
        (
            "a Slack webhook",
            "hooks.slack",
            r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}",
        ),
        ("a Square token", "sq0", r"\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,}"),
        (
            "a Stripe key",
            "sk_ rk_ whsec_",
            r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{20,}|\bwhsec_[A-Za-z0-9]{24,}",
        ),
        ("a Telegram bot token", ":AA", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b"),
        ("a Twilio key", "SK", r"\bSK[a-f0-9]{32}\b"),
        (
            "a password in a URL",
            "@",
            r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{1,60}:(?P<password>[^\s/@\"'<>]{3,80})@[\w.-]{2,}",
        ),
    )
)
"""(what is found, signs of which one stands in every such text, the format its issuer documents).

The value itself is never shown.
"""
_SIGNS = tuple(dict.fromkeys(sign for _, signs, _ in FORMATS for sign in signs))


def _shows(text: str, signs: tuple[str, ...]) -> bool:
    return any(map(text.__contains__, signs))


_PLACEHOLDER = lazy(
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
        for text in tool.worded if _shows(tool.whole, _SIGNS) else ():
            if len(text.raw) < 12:
                continue
            for what in secrets_in(text.raw):
                yield self.finding(tool, text.pointer, f"{place(text)} holds {what}")


@lru_cache(maxsize=8192)
def secrets_in(text: str) -> tuple[str, ...]:
    """Return the kinds of secrets that a text holds; usable for any text, such as a bundle's members."""
    return tuple(
        what
        for what, signs, pattern in (FORMATS if _shows(text, _SIGNS) else ())
        if _shows(text, signs) and any(_is_real(match) for match in pattern.finditer(text))
    )


def _is_real(match: re.Match[str]) -> bool:
    value = match.groupdict().get("password") or match.group()
    if _PLACEHOLDER.search(value):
        return False
    body = value.rpartition("_")[2] if "password" not in match.groupdict() else value
    return "PRIVATE KEY" in value or "password" in match.groupdict() or len(set(body)) >= _LEAST_DISTINCT
