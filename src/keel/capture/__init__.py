"""Live capture of MCP servers: what a server says of itself, byte for byte."""
