"""The MCP server that shows only what was frozen and sends every call through the dispatcher."""
