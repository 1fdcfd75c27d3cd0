"""The servers and endpoints behind the dispatcher: live MCP sessions and HTTP tools."""
