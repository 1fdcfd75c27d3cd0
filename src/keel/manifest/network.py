"""Which endpoints the manifest's `network` admits: hosts, exact or below one leading wildcard, and their ports."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

_PORTS = {"https": 443, "http": 80}


def reaches(url: str, allowed: Iterable[str]) -> bool:
    """Tell whether any entry of `network` admits the endpoint of a URL; one that cannot be read is not admitted.

    Args:
        url: an absolute URL.
        allowed: entries such as `tools.internal.example` and `*.api.example:443`.
    """
    host, port = host_of(url)
    return bool(host) and port >= 0 and any(host_allowed(entry, host, port) for entry in allowed)


def host_of(url: str) -> tuple[str, int]:
    """Return host and port of a URL: the port of its scheme where none is given, -1 for one that cannot be read."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").casefold()
    except ValueError:
        return "", -1
    try:
        port = parts.port
    except ValueError:
        return host, -1
    return host, _PORTS.get(parts.scheme, 0) if port is None else port


def host_allowed(entry: str, host: str, port: int) -> bool:
    """Tell whether an entry of `network` admits a host: exact, or with a leading wildcard; and its port if given."""
    name, _, wanted = entry.partition(":")
    if wanted and wanted != str(port):
        return False
    folded = name.casefold()
    if folded.startswith("*."):
        return host.endswith(folded[1:]) and len(host) > len(folded) - 1
    return host == folded
