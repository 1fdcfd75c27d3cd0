"""Files that hold secrets, by what their paths look like."""

from __future__ import annotations

from keel.rules.lazy import lazy

_SECRET = lazy(
    r"\.ssh(?:/|\\|$)|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\.aws(?:/|\\|$)|\.azure(?:/|\\|$)|\.config/gcloud|\.kube(?:/|\\|$)"
    r"|\.docker/config|\.git-credentials|\.netrc|_netrc|\.npmrc|\.pypirc|\.gnupg|\.pgpass|\.htpasswd|\.vault-token"
    r"|(?:^|[/\\])\.env(?:\.(?!example|sample|template|dist)\w+)?$|/etc/(?:passwd|shadow|sudoers)|/proc/self/environ"
    r"|\.cursor/mcp\.json|claude_desktop_config|(?:^|[/\\])\.?mcp\.json$|\.claude\.json|mcp_settings\.json"
    r"|\.(?:bash|zsh|psql|mysql)_history|keychain-db|login[ _]data|cookies\.sqlite|wallet\.dat|key4\.db"
    r"|(?:^|[/\\])(?:credentials|secrets?|service[-_]account|token|application_default_credentials)\.(?:json|ya?ml|toml)$"
    r"|\.(?:pem|pfx|p12|kdbx|ppk)$|\.git/config|\.terraform\.d/credentials|\.config/gh/hosts"
)


def is_secret_path(token: str) -> bool:
    """Tell whether a word names a file that is known to hold secrets."""
    return len(token) > 3 and _SECRET.search(token) is not None
