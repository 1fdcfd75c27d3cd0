"""What looks like a secret written out: names that announce one, and the formats that providers give their tokens."""

from __future__ import annotations

import re

_NAME = re.compile(
    r"(?:^|[^a-z])(?:api_?key|access_?key|auth|authorization|bearer|cookie|cred(?:ential)?s?|key|pass(?:wd|word|phrase)?"
    r"|private_?key|pwd|secret|session|sig(?:nature)?|token)s?(?:$|[^a-z])"
)
"""A name whose words, in snake case, announce a secret."""

_FORMATS = (
    re.compile(r"\b(?:sk|pk|rk)[-_](?:live|test|ant|proj|or)?[-_]?[A-Za-z0-9_-]{16,}"),
    re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})"),
    re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\bAIza[A-Za-z0-9_-]{30,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    re.compile(r"\b(?:npm_|hf_|dop_v1_|shpat_|pypi-)[A-Za-z0-9_-]{16,}"),
    re.compile(r"\b(?:Bearer|Basic|Token)\s+[A-Za-z0-9+/=._~-]{8,}", re.IGNORECASE),
    re.compile(r"[a-z][a-z0-9+.-]*://[^\s/:@]*:[^\s/@]+@", re.IGNORECASE),
)
_HARMLESS = re.compile(
    r"(?:true|false|yes|no|on|off|none|null|\d{1,5}|[./~][^\s]*|https?://[^\s@]*|<[^>]*>|\[[^\]]*\]|x{3,}|\*{3,}"
    r"|your[-_ ].*|changeme|example.*|placeholder|dummy|redacted|test)?",
    re.IGNORECASE,
)
"""Settings, paths, endpoints and placeholders that stand where a secret could."""


def is_secret_name(name: str) -> bool:
    """Tell whether the name of a variable, header, option or query parameter announces a secret."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return _NAME.search(re.sub(r"[^A-Za-z0-9]+", "_", snake).lower()) is not None


def is_secret_value(text: str) -> bool:
    """Tell whether text holds a token in a format that a provider uses."""
    return any(pattern.search(text) for pattern in _FORMATS)


def looks_secret(name: str, value: str) -> bool:
    """Tell whether a literal value under a name is, by either, a secret."""
    return is_secret_value(value) or (is_secret_name(name) and _HARMLESS.fullmatch(value.strip()) is None)
