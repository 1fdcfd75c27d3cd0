"""What keel reads of an MCP client configuration: keys, their types, and the keys it knows and passes over."""

from __future__ import annotations

from pydantic_core import core_schema as core

from keel.manifest.fields import flag, listed, string, table

SECTIONS = ("mcpServers", "servers", "mcp_servers")
"""Where clients keep their servers: most of them, Visual Studio Code, and Codex (TOML)."""

_FIELDS = {
    "command": string(),
    "args": listed(string()),
    "env": table(string(), string()),
    "cwd": string(),
    "url": string(),
    "httpUrl": string(),
    "headers": table(string(), string()),
    "type": string(),
    "transport": string(),
    "disabled": flag(),
    "enabled": flag(),
    # Codex
    "bearer_token_env_var": string(),
    "env_http_headers": table(string(), string()),
    "env_vars": listed(string()),
    "http_headers": table(string(), string()),
}

SERVER = core.typed_dict_schema(
    {name: core.typed_dict_field(schema, required=False) for name, schema in _FIELDS.items()},
    strict=True,
    extra_behavior="ignore",
)
"""One server; unknown keys are remarks, not errors, because other programs own the file."""

PASSED_OVER = frozenset(
    {
        "alwaysAllow",
        "autoApprove",
        "autoStart",
        "debug",
        "description",
        "dev",
        "disabledTools",
        "disabled_tools",
        "displayName",
        "enabledTools",
        "enabled_tools",
        "excludeTools",
        "gallery",
        "icon",
        "includeTools",
        "initTimeout",
        "name",
        "required",
        "sandbox",
        "sandboxEnabled",
        "startup_timeout_ms",
        "startup_timeout_sec",
        "timeout",
        "tool_timeout_sec",
        "trust",
        "version",
    }
)
"""Keys of clients that change neither what is started nor how; none of them ever relaxes a gate."""

MEANT = {
    "arguments": "args",
    "cmd": "command",
    "endpoint": "url",
    "environment": "env",
    "environmentVariables": "env",
    "serverUrl": "url",
    "workingDirectory": "cwd",
}
"""What was probably meant by a key whose spelling is far away."""

KNOWN = tuple(_FIELDS)

STREAMABLE = frozenset({"http", "streamable-http", "streamablehttp", "streamable_http"})
STDIO = frozenset({"stdio", "local"})
SSE = frozenset({"sse"})
