"""Addresses that are reached without encryption."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keel.core.finding import Finding
from keel.core.text import excerpt
from keel.rules.characters.shared import place
from keel.rules.hazards.shared import hazard_meta
from keel.rules.interface import Rule, RuleContext, ToolView
from keel.rules.lazy import lazy
from keel.rules.text.exfiltration_url import is_public
from keel.rules.view import Role, Sign

_PLAIN = lazy(r"\b(?:http|ftp|ldap|ws|telnet)://[^\s\"'<>`)\]},]{1,300}", re.IGNORECASE)
_IDENTIFIERS = lazy(
    r"//(?:www\.)?(?:json-schema\.org|w3\.org|schema\.org|purl\.org|xmlns\.com|schemas\.[\w.-]+|ns\.[\w.-]+|spdx\.org|iana\.org)\b"
    r"|//[^/]*\.?example\.(?:com|org|net)\b|//[^/]*\.example\b|//example\b",
    re.IGNORECASE,
)
"""Namespaces are names, and example hosts are nobody's."""


class InsecureEndpoint(Rule):
    """Finds plain http, ftp, ldap and ws addresses of public hosts, namespaces and examples excepted."""

    meta = hazard_meta(
        "insecure-endpoint",
        "an address is reached without encryption",
        "Anyone on the way reads and changes what passes.",
        "use the encrypted form of the protocol",
        '{"description": "Reads a sensor through http://198.51.100.23:8088/api."}',
        "CWE-319",
    )

    needs = Sign.ADDRESS.value

    def check(self, tool: ToolView, context: RuleContext) -> Iterator[Finding]:
        """Yield one finding for each text."""
        for text in tool.worded if "://" in tool.whole else ():
            if (
                "://" not in text.raw
                or text.role in (Role.KEY, Role.TOKEN, Role.NAME)
                or text.pointer.endswith("/pattern")
            ):
                continue
            for match in _PLAIN.finditer(text.raw):
                url = match.group().rstrip(".;:!?")
                if is_public(url) and not _IDENTIFIERS.search(url):
                    yield self.finding(
                        tool, text.pointer, f"{place(text)} names the unencrypted address `{excerpt(url, 100)}`"
                    )
                    break
