"""Finding and masking resolved secrets in text, also in the forms in which they travel: base64 and URL-encoded."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from keel.core.text import escape

MASK = "\u2039secret\u203a"
"""What stands in a message instead of a secret."""
SHORTEST = 4
"""Shorter values occur in innocent text, so that masking them would hide everything and protect nothing."""
_HEX = re.compile("%[0-9A-F]{2}")


class Redactor:
    """Knows the secrets of one run and keeps them out of every message.

    Args:
        secrets: resolved values; those shorter than `SHORTEST` characters are not looked for.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        """Keep further secrets out of messages, such as a token that was handed out meanwhile."""
        self._forms.update(form for secret in secrets if len(secret) >= SHORTEST for form in _forms(secret))
        # Longest first, so that a secret that contains another one is masked whole.
        ordered = sorted(self._forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def clean(self, text: str) -> str:
        """Return the text with every secret replaced by `MASK`."""
        return self._pattern.sub(MASK, text) if self._pattern else text

    def holds_secret(self, text: str) -> bool:
        """Tell whether the text holds a secret in any of its forms."""
        return self._pattern is not None and self._pattern.search(text) is not None

    def __bool__(self) -> bool:
        return self._pattern is not None


def _forms(secret: str) -> set[str]:
    data = secret.encode("utf-8", "surrogatepass")
    forms = {secret, repr(secret)[1:-1]}  # the second as an exception's text has it
    quoted = {json.dumps(secret, ensure_ascii=ascii_)[1:-1] for ascii_ in (True, False)}
    forms |= quoted | {
        text.replace("/", "\\/") for text in quoted
    }  # some writers of JSON escape the slash (RFC 8259 section 7)
    urls = {quote(secret, safe=safe, errors="surrogatepass") for safe in ("", "/")}
    urls.add(quote_plus(secret, errors="surrogatepass"))
    forms |= urls | {_HEX.sub(lambda found: found[0].lower(), url) for url in urls}  # RFC 3986 section 2.1: either case
    forms |= {escape(form) for form in forms}  # as messages write it, which is often before they are scrubbed
    return forms | _base64_forms(data)


def _base64_forms(data: bytes) -> set[str]:
    """Return the base64 texts that hold the data wherever it starts in a longer text (RFC 4648).

    Base64 packs three bytes into four characters, so the same bytes have three spellings; the characters at either
    end that also depend on the neighbours are left out.
    """
    forms = set()
    for before in range(3):
        length = before + len(data)
        first = (before * 8 + 5) // 6
        last = length * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(b"\0" * before + data).decode("ascii")[first:last]
            if len(text) >= SHORTEST:
                forms.add(text)
    return forms
