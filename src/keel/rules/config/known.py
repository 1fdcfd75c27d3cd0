"""Names that imitators imitate: packages and scopes of widely used MCP servers, and the programs that fetch them."""

from __future__ import annotations

from keel.rules.config.packages import Ecosystem
from keel.rules.words import listed

LAUNCHERS = listed(
    "npx npm pnpm pnpx yarn bunx bun deno node uvx uv pipx pip python python3 docker podman nerdctl go dnx dotnet"
)

SCOPES = listed(
    "@modelcontextprotocol @anthropic-ai @azure @azure-devops @brave @browserbasehq @cloudflare @elastic @figma"
    " @github @hubspot @microsoft @mongodb-js @notionhq @playwright @postman @sentry @shopify @stripe @supabase"
    " @upstash"
)
"""Whoever owns a scope of npm owns every name in it, so that only the scope itself can be imitated."""

PACKAGES: dict[Ecosystem, frozenset[str]] = {
    Ecosystem.NPM: listed(
        "@modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem"
        " @modelcontextprotocol/server-memory @modelcontextprotocol/server-sequential-thinking"
        " @modelcontextprotocol/server-github @modelcontextprotocol/server-postgres @modelcontextprotocol/server-slack"
        " @azure/mcp @brave/brave-search-mcp-server @notionhq/notion-mcp-server @playwright/mcp @sentry/mcp-server"
        " @stripe/mcp @supabase/mcp-server-supabase @upstash/context7-mcp chrome-devtools-mcp exa-mcp-server"
        " figma-developer-mcp firecrawl-mcp mcp-remote mongodb-mcp-server supergateway tavily-mcp"
    ),
    Ecosystem.PYPI: listed(
        "arxiv-mcp-server basic-memory fastmcp markitdown-mcp mcp-clickhouse mcp-proxy mcp-server-fetch mcp-server-git"
        " mcp-server-qdrant mcp-server-sqlite mcp-server-time workspace-mcp"
    ),
    Ecosystem.IMAGE: listed(
        "ghcr.io/github/github-mcp-server mcp/fetch mcp/filesystem mcp/grafana mcp/playwright"
        " mcr.microsoft.com/playwright/mcp"
    ),
}
"""What is compared with, not what is accused: a name that is none of these and looks like none is never a finding."""
